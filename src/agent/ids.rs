//! Numbers by which the parts of the agent name threads, classes, methods and stacks, and the source of the trace's ids.
//!
//! They stand apart from the tables that they index, so that a part can carry a number without knowing the table.

use std::sync::atomic::{AtomicU64, Ordering};

use trace::ids::ObjectId;

/// Number of a thread in the table of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadIndex(pub(crate) u32);

/// Number of a class in the table of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassIndex(pub(crate) u32);

/// Number of a method in the table of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MethodIndex(pub(crate) u32);

/// Number of a stack in the table of stacks, counted from 1; 0 is "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct StackIndex(pub(crate) u32);

/// Number of a collection, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GcNumber(pub(crate) u64);

/// Number of a recording of this JVM, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordingNumber(pub(crate) u32);

/// A method and a line in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeLocation {
    pub(crate) method: MethodIndex,
    /// 0 if unknown.
    pub(crate) line: u32,
}

/// Where objects are allocated, and their class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AllocationSite {
    pub(crate) class: ClassIndex,
    /// `None` if they are made at no site.
    pub(crate) location: Option<CodeLocation>,
}

/// Where all ids of the trace come from: objects, threads, classes, methods and stacks share one sequence, as TPTP's readers
/// expect. The sequence continues from one recording to the next.
pub(crate) struct IdSource(AtomicU64);

impl IdSource {
    /// A sequence that begins with 1.
    pub(crate) const fn new() -> IdSource {
        IdSource(AtomicU64::new(1))
    }

    /// The next id.
    pub(crate) fn next(&self) -> u64 {
        self.take(1)
    }

    /// So many ids; the first of them.
    #[inline]
    pub(crate) fn take(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::Relaxed)
    }

    /// The id that comes next, which is not taken.
    pub(crate) fn peek(&self) -> ObjectId {
        ObjectId(self.0.load(Ordering::Relaxed))
    }
}
