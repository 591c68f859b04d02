//! What is wrong with the calls of a trace.

use trace::time::Nanos;

/// What was wrong with the calls of a trace, each counted; and what was made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Entries and exits that are earlier than the event before them on their thread. They count as events at the same time.
    pub backwards: u64,
    /// The furthest of these steps back.
    pub furthest_back: Nanos,
    /// Steps back by more than a second: the clock was set, and goes on from there.
    pub set_back: u64,
    /// Entries and exits without a time.
    pub without_time: u64,
    /// Calls whose exit is earlier than their entry.
    pub negative: u64,
    /// Exits of calls whose entry is not in the trace. They are left out.
    pub without_entry: u64,
    /// Exits, without a ticket, of methods that are not on the stack. They are left out.
    pub of_others: u64,
    /// Calls without an exit that ended when their caller, or one above it, did.
    pub unwound: u64,
    /// Calls without an exit that ended with their thread or the document.
    pub open: u64,
    /// Exits that name another method than the entry with the same ticket. The entry is right.
    pub misnamed: u64,
    /// Aggregated calls that do not say how many there were, or how long they took.
    pub without_numbers: u64,
    /// Calls on paths that the tree has no room for. They belong to their caller there.
    pub merged: u64,
}
