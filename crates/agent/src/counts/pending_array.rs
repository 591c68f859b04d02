//! An array that was counted before it was made, and that may not fit into the heap.

use super::ids::CounterIndex;

/// The array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingArray {
    pub(super) counter: CounterIndex,
    pub(super) bytes: u64,
    /// Bytes that the JVM accounted to the thread before.
    pub(super) accounted_before: u64,
}

/// What has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Made,
    Failed,
    /// The thread has not allocated anything since.
    Unknown,
}

impl PendingArray {
    /// What has become of it, if the JVM accounts so many bytes to the thread now.
    pub(super) fn outcome(self, accounted: u64) -> Outcome {
        match accounted.saturating_sub(self.accounted_before) {
            0 => Outcome::Unknown,
            since if since < self.bytes => Outcome::Failed,
            _ => Outcome::Made,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_accounted_since_show_whether_it_was_made() {
        let array = PendingArray { counter: CounterIndex(7), bytes: 1000, accounted_before: 500 };
        assert_eq!(
            [500, 516, 1499, 1500, 9000].map(|accounted| array.outcome(accounted)),
            [Outcome::Unknown, Outcome::Failed, Outcome::Failed, Outcome::Made, Outcome::Made]
        );
    }
}
