//! Arrays so large that they may not fit into the heap.
//!
//! Hooks come before the instruction, so such an array is counted, and later what the JVM accounts to its thread shows whether it
//! came to be: it would have been the first thing that the thread allocated, but for what it takes to load its class. Looked at when
//! the thread makes the next one, when it ends, at snapshots and after each collection: before a thread allocates as much as did not
//! fit, there is one. (Arrays longer than the VM allows take none; of those a thread may make up for 2 GB and more before anybody looks.)

use std::sync::Arc;

use jvmti::Jni;

use super::counters::CounterIndex;
use super::threads::ThreadCounts;
use super::{Counts, lock};

/// An array that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Large {
    counter: CounterIndex,
    bytes: u64,
    /// What the JVM accounted to the thread before.
    before: u64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Made,
    Failed,
    /// The thread has not allocated anything since.
    Unknown,
}

impl Large {
    /// What became of it, if the JVM accounts so much to the thread now.
    fn outcome(self, now: u64) -> Outcome {
        match now.saturating_sub(self.before) {
            0 => Outcome::Unknown,
            since if since < self.bytes => Outcome::Failed,
            _ => Outcome::Made,
        }
    }
}

impl Counts {
    /// The current thread has counted a large array, which it is going to make.
    pub(super) fn begin_large(&self, jni: Jni, own: &ThreadCounts, counter: CounterIndex, bytes: u64) {
        let now = self.core.jvm.accounting.current_thread_bytes(jni);
        self.settle(own, now, true);
        *lock(&own.large) = now.map(|before| Large { counter, bytes, before });
    }

    /// Takes the last large array of a thread back if it did not come to be, where the JVM accounts so much to the thread now.
    /// Whether it `is_over` is clear on the thread itself, which is not making it any more.
    pub(super) fn settle(&self, own: &ThreadCounts, now: Option<u64>, is_over: bool) {
        let mut large = lock(&own.large);
        let (Some(pending), Some(now)) = (*large, now) else { return };
        let outcome = pending.outcome(now);
        if outcome == Outcome::Failed || outcome == Outcome::Unknown && is_over {
            self.take_back(own, pending);
        }
        if outcome != Outcome::Unknown || is_over {
            *large = None;
        }
    }

    /// The same for all threads, while they run.
    pub(super) fn settle_all(&self, jni: Jni) {
        let pending = |own: &&Arc<ThreadCounts>| lock(&own.large).is_some();
        let pending: Vec<_> = lock(&self.living).iter().filter(pending).cloned().collect();
        for own in pending {
            if let Some(numbered) = own.own.get() {
                self.settle(&own, self.core.jvm.accounting.thread_bytes(jni, numbered.number), false);
            }
        }
    }

    fn take_back(&self, own: &ThreadCounts, Large { counter, bytes, .. }: Large) {
        // The thread's own counters are the thread's to write. Counters wrap around.
        if let Some(sums) = &self.space.sums {
            sums.add(counter, 1u64.wrapping_neg());
            sums.add(counter.next(), bytes.wrapping_neg());
        }
        let mut taken = lock(&own.taken);
        let (all_instances, all_bytes) = taken.entry(counter).or_default();
        (*all_instances, *all_bytes) = (*all_instances + 1, *all_bytes + bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accounted_since_shows_what_became_of_it() {
        let large = Large { counter: CounterIndex(7), bytes: 1000, before: 500 };
        assert_eq!(
            [500, 516, 1499, 1500, 9000].map(|now| large.outcome(now)),
            [Outcome::Unknown, Outcome::Failed, Outcome::Failed, Outcome::Made, Outcome::Made]
        );
    }
}
