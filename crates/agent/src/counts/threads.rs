//! What each thread counts.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jvmti::Jni;
use jvmti::jni_sys::jobject;
use rustc_hash::FxHashMap;

use super::Counts;
use super::blocks::Block;
use super::ids::CounterIndex;
use super::pending_array::PendingArray;
use agent_base::ids::ThreadIndex;
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Reporter, Slot, ThreadState};
use agent_core::instrument::allocating_method::AllocatingMethods;
use agent_core::stacks::cache::StackCache;

/// What a thread has allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) instances: u64,
    pub(crate) bytes: u64,
}

impl Totals {
    /// Nothing in place of less than nothing: while the program runs, what is subtracted may be read before what it is subtracted from.
    pub(super) fn not_negative(self) -> Totals {
        let not_negative = |sum: u64| if sum > u64::MAX / 2 { 0 } else { sum };
        Totals { instances: not_negative(self.instances), bytes: not_negative(self.bytes) }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        // What was counted twice is subtracted by adding its complement.
        self.instances = self.instances.wrapping_add(other.instances);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }
}

/// The counters of one thread.
pub(crate) struct ThreadCounts {
    pub(crate) thread: ThreadIndex,
    /// Not set while the thread is under construction and has no number.
    pub(super) own: OnceLock<Own>,
    /// What it added to shared counters.
    pub(super) shared_instances: AtomicU64,
    pub(super) shared_bytes: AtomicU64,
    /// An array that was counted but may not fit into the heap.
    pub(super) pending_array: Mutex<Option<PendingArray>>,
    /// By counter, instances and bytes of arrays that were counted but did not fit.
    pub(super) failed_arrays: Mutex<FxHashMap<CounterIndex, (u64, u64)>>,
}

pub(super) struct Own {
    /// The thread's number in Java.
    pub(super) number: i64,
    /// Its counters; `None` if it has to share them.
    pub(super) block: Option<Arc<Block>>,
}

impl ThreadCounts {
    pub(super) fn block(&self) -> Option<&Block> {
        self.own.get()?.block.as_deref()
    }

    pub(super) fn add_shared(&self, totals: Totals) {
        self.shared_instances.fetch_add(totals.instances, Ordering::Relaxed);
        self.shared_bytes.fetch_add(totals.bytes, Ordering::Relaxed);
    }
}

/// What the feature keeps for a thread.
pub(crate) struct CountsThread {
    /// From its first allocation on.
    pub(super) own: Option<Arc<ThreadCounts>>,
    /// Which methods made the VM make objects.
    pub(super) allocating_methods: AllocatingMethods,
    /// Which native methods are counted where they are called.
    pub(super) natives: StackCache<bool>,
    /// Bytes that the JVM accounted to the thread before it called a method that makes objects which Java code cannot see.
    pub(super) account: Option<u64>,
}

impl ThreadState for CountsThread {
    fn end(&mut self, _: Jni) {
        if let (Some(own), Some(counts)) = (&self.own, Counts::current()) {
            counts.end(own);
        }
    }
}

impl FeatureState for CountsThread {
    const SLOT: Slot = Slot::Counts;

    fn new(_: &'static Core) -> CountsThread {
        CountsThread {
            own: None,
            allocating_methods: AllocatingMethods::default(),
            natives: StackCache::default(),
            account: None,
        }
    }
}

impl Counts {
    /// The counters of the current thread.
    pub(super) fn own<'s>(&self, carrier: ThreadIndex, state: &'s mut CountsThread) -> &'s Arc<ThreadCounts> {
        state.own.get_or_insert_with(|| self.expected(carrier).unwrap_or_else(|| self.begin(carrier)))
    }

    fn expected(&self, thread: ThreadIndex) -> Option<Arc<ThreadCounts>> {
        let mut expected = self.expected.lock();
        let found = expected.iter().position(|counts| counts.thread == thread)?;
        Some(expected.swap_remove(found))
    }

    /// A thread was there before there were events, which come now.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn expect(&self, jni: Jni, index: ThreadIndex, thread: jobject) {
        if self.core.is_late {
            // The thread counts from then on that it has counters. Until reporting begins nothing else is done for it.
            self.begun.call_once(|| self.let_count(jni));
        }
        let counts = self.begin(index);
        // SAFETY: by the caller's promise.
        unsafe { self.give_counters(jni, &counts, thread) };
        self.expected.lock().push(counts);
    }

    /// The current thread starts: hooks find its counters from the beginning, so that C2 sees no other way through them.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn starts(&self, jni: Jni, carrier: ThreadIndex, state: &mut CountsThread, thread: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { self.give_counters(jni, self.own(carrier, state), thread) };
    }

    /// # Safety
    /// `thread` is a live reference to a thread.
    unsafe fn give_counters(&self, jni: Jni, counts: &ThreadCounts, thread: jobject) {
        if let Some(proxy) = self.proxy.get() {
            // SAFETY: by the caller's promise.
            self.block(counts, unsafe { proxy.number(jni, thread) });
        }
    }

    fn begin(&self, thread: ThreadIndex) -> Arc<ThreadCounts> {
        let counts = Arc::new(ThreadCounts {
            thread,
            own: OnceLock::new(),
            shared_instances: AtomicU64::new(0),
            shared_bytes: AtomicU64::new(0),
            pending_array: Mutex::default(),
            failed_arrays: Mutex::default(),
        });
        self.living.lock().push(counts.clone());
        counts
    }

    /// The counters of a thread, made now if it has a number in Java and there is room.
    pub(super) fn block<'c>(&self, counts: &'c ThreadCounts, number: i64) -> Option<&'c Block> {
        if number <= 0 {
            return counts.block();
        }
        let own = counts.own.get_or_init(|| {
            let block = self.own_block();
            if let Some(table) = &self.space.table {
                table.add(number, block.as_ref().map_or(0, |block| block.address()));
            }
            Own { number, block }
        });
        own.block.as_deref()
    }

    fn own_block(&self) -> Option<Arc<Block>> {
        let owners = self.living.lock().iter().filter(|t| t.block().is_some()).count();
        if (owners + 1) * self.space.counters.len() as usize * size_of::<u64>() > self.limit {
            return None;
        }
        self.space.spare.lock().pop().or_else(|| Block::new().map(Arc::new))
    }

    /// The current thread ends: its counters are added to the sums.
    fn end(&self, counts: &Arc<ThreadCounts>) {
        let own = counts.own.get();
        // Under the lock, so that these counters are always either among those of living threads or in the sums.
        let mut living = self.living.lock();
        let Some(found) = living.iter().position(|other| Arc::ptr_eq(other, counts)) else {
            // Its counters are among the sums already (`end_all`), and the thread may count for another recording by now.
            return;
        };
        living.swap_remove(found);
        if let (Some(own), Some(table)) = (own, &self.space.table) {
            table.remove(own.number);
        }
        let Some(block) = own.and_then(|own| own.block.as_ref()) else { return };
        block.drain(self.space.counters.len(), |counter, value| self.add_to_sums(counter, value));
        drop(living);
        self.space.spare.lock().push(block.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_subtracted_too_early_leaves_nothing() {
        let mut totals = Totals { instances: 1, bytes: 72 };
        totals += Totals { instances: 2u64.wrapping_neg(), bytes: 144u64.wrapping_neg() };
        assert_eq!(totals.not_negative(), Totals::default());
        totals += Totals { instances: 3, bytes: 216 };
        assert_eq!(totals.not_negative(), Totals { instances: 2, bytes: 144 });
    }
}
