//! The numbers and ids by which objects and classes of a dump are known.

use std::fmt;

/// The number of an object in its dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIndex(pub u32);

/// The number of a class in its dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassIndex(pub u32);

impl ObjectIndex {
    /// Stands for "no object".
    pub(crate) const NONE: Self = ObjectIndex(u32::MAX);

    /// The largest number of objects; beyond are numbers that mean something else.
    pub(crate) const MOST: usize = u32::MAX as usize - 2;

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

impl ClassIndex {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The id of an object in its dump: an address in HPROF files of the JVM, a number in traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DumpId(pub u64);

/// As heap tools write it.
impl fmt::Display for DumpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}", self.0)
    }
}
