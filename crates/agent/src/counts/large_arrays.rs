//! Arrays so large that they may not fit into the heap.
//!
//! A hook counts such an array before the instruction that makes it. Later the bytes that the JVM accounts to the thread show
//! whether it was made: it would have been the first thing that the thread allocated, apart from what loading its class takes.
//! The agent checks that when the thread makes the next one, when it ends, at snapshots and after each collection: before a thread
//! allocates as much as did not fit, there is one. (An array longer than the VM allows causes no collection. After one of those a
//! thread may allocate 2 GB and more before the check, which then takes the array as made.)

use std::sync::Arc;

use jvmti::Jni;

use super::Counts;
use super::ids::CounterIndex;
use super::pending_array::{Outcome, PendingArray};
use super::threads::ThreadCounts;

impl Counts {
    /// The current thread has counted a large array, which it is going to make.
    pub(super) fn begin_large(&self, jni: Jni, own: &ThreadCounts, counter: CounterIndex, bytes: u64) {
        let accounted = self.core.jvm.accounting.current_thread_bytes(jni);
        self.settle(own, accounted, true);
        *own.pending_array.lock() = accounted.map(|accounted_before| PendingArray { counter, bytes, accounted_before });
    }

    /// Subtracts the last large array of a thread if it was not made; the JVM accounts so many bytes to the thread now. `is_over`
    /// if the thread is not making it any more, which only the thread itself knows.
    pub(super) fn settle(&self, own: &ThreadCounts, accounted: Option<u64>, is_over: bool) {
        let mut pending = own.pending_array.lock();
        let (Some(array), Some(accounted)) = (*pending, accounted) else { return };
        let outcome = array.outcome(accounted);
        if outcome == Outcome::Failed || outcome == Outcome::Unknown && is_over {
            self.subtract(own, array);
        }
        if outcome != Outcome::Unknown || is_over {
            *pending = None;
        }
    }

    /// The same for all threads, while they run.
    pub(super) fn settle_all(&self, jni: Jni) {
        let has_pending = |own: &&Arc<ThreadCounts>| own.pending_array.lock().is_some();
        let threads: Vec<_> = self.living.lock().iter().filter(has_pending).cloned().collect();
        for own in threads {
            if let Some(numbered) = own.own.get() {
                self.settle(&own, self.core.jvm.accounting.thread_bytes(jni, numbered.number), false);
            }
        }
    }

    fn subtract(&self, own: &ThreadCounts, PendingArray { counter, bytes, .. }: PendingArray) {
        // Only the thread itself writes its counters. Counters wrap around.
        if let Some(sums) = &self.space.sums {
            sums.add(counter, 1u64.wrapping_neg());
            sums.add(counter.next(), bytes.wrapping_neg());
        }
        let mut failed = own.failed_arrays.lock();
        let (all_instances, all_bytes) = failed.entry(counter).or_default();
        (*all_instances, *all_bytes) = (*all_instances + 1, *all_bytes + bytes);
    }
}
