//! Arrays so large that they may not fit into the heap.
//!
//! A hook counts such an array before the instruction that makes it. Later the bytes that the JVM accounts to the thread show
//! whether it was made: it would have been the first thing that the thread allocated, apart from what loading its class takes.
//! The agent checks that when the thread makes the next one, when it ends, at snapshots and after each collection: before a thread
//! allocates as much as did not fit, there is one. (An array longer than the VM allows causes no collection. After one of those a
//! thread may allocate 2 GB and more before the check, which then takes the array as made.)

use rustc_hash::FxHashMap;

use super::ids::CounterIndex;
use agent_base::mutex::Mutex;

/// Those of one thread.
#[derive(Default)]
pub(super) struct LargeArrays {
    /// The last one, if it was counted but may not fit.
    pending: Mutex<Option<PendingArray>>,
    /// By counter, instances and bytes of those that were counted but did not fit.
    failed: Mutex<FxHashMap<CounterIndex, (u64, u64)>>,
}

/// An array that was counted before it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingArray {
    pub(super) counter: CounterIndex,
    pub(super) bytes: u64,
    /// Bytes that the JVM accounted to the thread before.
    pub(super) accounted_before: u64,
}

/// What has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Made,
    Failed,
    /// The thread has not allocated anything since.
    Unknown,
}

impl PendingArray {
    /// What has become of it, if the JVM accounts so many bytes to the thread now.
    fn outcome(self, accounted: u64) -> Outcome {
        match accounted.saturating_sub(self.accounted_before) {
            0 => Outcome::Unknown,
            since if since < self.bytes => Outcome::Failed,
            _ => Outcome::Made,
        }
    }
}

impl LargeArrays {
    /// The thread has counted one, which it is going to make.
    pub(super) fn begin(&self, array: Option<PendingArray>) {
        *self.pending.lock() = array;
    }

    /// Whether the fate of the last one is not known.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.lock().is_some()
    }

    /// Notes that the last one was not made, if that is so; the JVM accounts so many bytes to the thread now. `is_over` if the thread is
    /// not making it any more, which only the thread itself knows. `subtract` takes it off the counters, by what is added to them.
    pub(super) fn settle(&self, accounted: Option<u64>, is_over: bool, mut subtract: impl FnMut(CounterIndex, u64)) {
        let mut pending = self.pending.lock();
        let (Some(array), Some(accounted)) = (*pending, accounted) else { return };
        let outcome = array.outcome(accounted);
        if outcome == Outcome::Failed || outcome == Outcome::Unknown && is_over {
            let PendingArray { counter, bytes, .. } = array;
            complements(counter, 1, bytes, &mut subtract);
            let mut failed = self.failed.lock();
            let (all_instances, all_bytes) = failed.entry(counter).or_default();
            (*all_instances, *all_bytes) = (*all_instances + 1, *all_bytes + bytes);
        }
        if outcome != Outcome::Unknown || is_over {
            *pending = None;
        }
    }

    /// What those that did not fit add to the thread's counters.
    pub(super) fn for_each_failed(&self, visit: &mut impl FnMut(CounterIndex, u64)) {
        for (&counter, &(instances, bytes)) in self.failed.lock().iter() {
            complements(counter, instances, bytes, visit);
        }
    }
}

/// Counters wrap around.
fn complements(counter: CounterIndex, instances: u64, bytes: u64, visit: &mut impl FnMut(CounterIndex, u64)) {
    visit(counter, instances.wrapping_neg());
    visit(counter.next(), bytes.wrapping_neg());
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
