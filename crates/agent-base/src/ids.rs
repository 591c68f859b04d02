//! Numbers by which the parts of the agent name threads, classes, methods and stacks, and the source of the trace's ids.
//!
//! They stand apart from the tables that they index, so that a part can carry a number without knowing the table.

use std::sync::atomic::{AtomicU64, Ordering};

use trace::ids::ObjectId;

/// Number of a thread in the table of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadIndex(pub u32);

/// Number of a class in the table of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassIndex(pub u32);

/// Number of a method in the table of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodIndex(pub u32);

/// Number of a stack in the table of stacks, counted from 1; 0 is "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StackIndex(pub u32);

/// Number of a collection, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GcNumber(pub u64);

/// Number of a recording of this JVM, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingNumber(pub u32);

/// A method and a line in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeLocation {
    /// The method.
    pub method: MethodIndex,
    /// 0 if unknown.
    pub line: u32,
}

/// Where objects are allocated, and their class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AllocationSite {
    /// The class of what is allocated.
    pub class: ClassIndex,
    /// `None` if they are made at no site.
    pub location: Option<CodeLocation>,
}

/// Where all ids of the trace come from: objects, threads, classes, methods and stacks share one sequence, as TPTP's readers
/// expect. The sequence continues from one recording to the next.
pub struct IdSource(AtomicU64);

impl IdSource {
    /// A sequence that begins with 1.
    pub const fn from_one() -> IdSource {
        IdSource(AtomicU64::new(1))
    }

    /// The next id.
    pub fn next(&self) -> u64 {
        self.take(1)
    }

    /// So many ids; the first of them.
    #[inline]
    pub fn take(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::Relaxed)
    }

    /// The id that comes next, which is not taken.
    pub fn peek(&self) -> ObjectId {
        ObjectId(self.0.load(Ordering::Relaxed))
    }
}
