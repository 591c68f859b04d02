//! What the engine sampled and what it did not, for the end of the trace.

/// Nanoseconds of CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Between two samples; `None` if CPU time was not sampled.
    pub(crate) interval: Option<u64>,
    /// Of the whole process, while the engine ran.
    pub(crate) process: u64,
    /// Of the agent's own threads.
    pub(crate) agent: u64,
    /// Of threads that were never sampled, before they were, or after.
    pub(crate) not_seen: u64,
    /// Of samples that hit a thread which was not known.
    pub(crate) unknown: u64,
    /// Of threads that ended while the writer had no room for what they left.
    pub(crate) left_out: u64,
    /// Whether one timer was used for all threads.
    pub(crate) is_by_process: bool,
}
