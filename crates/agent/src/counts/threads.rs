//! What each thread counts. A thread that ends adds its counters to the sums.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jvmti::Jni;
use rustc_hash::FxHashMap;

use super::block_pool::BlockPool;
use super::blocks::Block;
use super::counters::Counters;
use super::ids::CounterIndex;
use super::large_arrays::{LargeArrays, PendingArray};
use super::sums::{self, Totals};
use agent_base::ids::{AllocationSite, ThreadIndex};
use agent_base::mutex::Mutex;
use agent_core::core::{Core, accounting};

/// The counters of one thread.
pub(crate) struct ThreadCounts {
    thread: ThreadIndex,
    /// Not set while the thread is under construction and has no number.
    own: OnceLock<Own>,
    /// What it added to shared counters.
    shared_instances: AtomicU64,
    shared_bytes: AtomicU64,
    large_arrays: LargeArrays,
}

struct Own {
    /// The thread's number in Java.
    number: i64,
    /// Its counters; `None` if it has to share them.
    block: Option<Arc<Block>>,
}

impl ThreadCounts {
    /// Whose they are.
    pub(super) fn thread(&self) -> ThreadIndex {
        self.thread
    }

    fn block(&self) -> Option<&Block> {
        self.own.get()?.block.as_deref()
    }
}

/// The threads that count for a recording.
pub(super) struct Threads {
    core: &'static Core,
    counters: &'static Counters,
    pool: &'static BlockPool,
    /// Those that count at present.
    living: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Those of them that lived at VMInit already and have reported nothing yet.
    expected: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Those whose last accounts are being read, and whether they have been.
    last: Mutex<FxHashMap<u32, (Arc<ThreadCounts>, bool)>>,
}

impl Threads {
    /// None yet; all counters are 0.
    pub(super) fn new(core: &'static Core, counters: &'static Counters, pool: &'static BlockPool) -> Threads {
        pool.begin_again(counters.len());
        let (living, expected, last) = Default::default();
        Threads { core, counters, pool, living, expected, last }
    }

    /// Their recording.
    pub(super) fn core(&self) -> &'static Core {
        self.core
    }

    /// What their counters count.
    pub(super) fn counters(&self) -> &'static Counters {
        self.counters
    }

    /// The counters of the current thread, from its first allocation on.
    pub(super) fn own<'s>(
        &self,
        carrier: ThreadIndex,
        known: &'s mut Option<Arc<ThreadCounts>>,
    ) -> &'s Arc<ThreadCounts> {
        known.get_or_insert_with(|| self.expected(carrier).unwrap_or_else(|| self.begin(carrier)))
    }

    fn expected(&self, thread: ThreadIndex) -> Option<Arc<ThreadCounts>> {
        let mut expected = self.expected.lock();
        let found = expected.iter().position(|counts| counts.thread == thread)?;
        Some(expected.swap_remove(found))
    }

    /// A thread was there before there were events, which come now; it has that number in Java.
    pub(super) fn expect(&self, thread: ThreadIndex, number: i64) {
        let counts = self.begin(thread);
        self.give_block(&counts, number);
        self.expected.lock().push(counts);
    }

    fn begin(&self, thread: ThreadIndex) -> Arc<ThreadCounts> {
        let counts = Arc::new(ThreadCounts {
            thread,
            own: OnceLock::new(),
            shared_instances: AtomicU64::new(0),
            shared_bytes: AtomicU64::new(0),
            large_arrays: LargeArrays::default(),
        });
        self.living.lock().push(counts.clone());
        counts
    }

    /// Makes the counters of a thread, unless it has some, or no number in Java yet.
    pub(super) fn give_block(&self, counts: &ThreadCounts, number: i64) {
        if number > 0 {
            counts.own.get_or_init(|| Own { number, block: self.pool.give(number, self.has_room()) });
        }
    }

    /// Whether all hooks call the agent on the current thread, or add to its counters themselves.
    pub(super) fn hooks_call(&self, counts: &ThreadCounts, always: bool) {
        if let Some(Own { number, block: Some(block) }) = counts.own.get() {
            self.pool.set_found(*number, block, !always);
        }
    }

    /// Whether one more thread may have counters: they take at most as many bytes as the buffers, unless sites are added later.
    fn has_room(&self) -> bool {
        let owners = self.living.lock().iter().filter(|t| t.block().is_some()).count();
        (owners + 1) * self.counters.len() as usize * size_of::<u64>() <= self.core.options.buffer_bytes
    }

    /// Counts one object; `totals` is what that counts, if the thread has to share its counters.
    pub(super) fn add(
        &self,
        counts: &ThreadCounts,
        counter: CounterIndex,
        bytes: u64,
        totals: impl FnOnce() -> Totals,
    ) {
        let own = counts.block();
        if own.is_none() {
            let totals = totals();
            counts.shared_instances.fetch_add(totals.instances, Ordering::Relaxed);
            counts.shared_bytes.fetch_add(totals.bytes, Ordering::Relaxed);
        }
        let Some(block) = own.or(self.pool.sums()) else { return };
        block.add(counter, 1);
        if bytes > 0 {
            block.add(counter.next(), bytes);
        }
    }

    /// The current thread ends: its counters are added to the sums.
    pub(super) fn end(&self, counts: &Arc<ThreadCounts>) {
        // Under the lock, so that these counters are always either among those of living threads or in the sums.
        let mut living = self.living.lock();
        let Some(found) = living.iter().position(|other| Arc::ptr_eq(other, counts)) else {
            // Its counters are among the sums already (`end_all`), and the thread may count for another recording by now.
            return;
        };
        living.swap_remove(found);
        let Some(Own { number, block }) = counts.own.get() else { return };
        self.pool.forget(*number);
        let Some(block) = block else { return };
        self.pool.drain(block, self.counters.len());
        drop(living);
        self.pool.take_back(block.clone());
    }

    /// Adds the counters of all living threads to the sums, at the very end. If the VM continues, they stop counting.
    pub(super) fn end_all(&self, is_survived: bool) {
        for counts in std::mem::take(&mut *self.living.lock()) {
            let Some(own) = counts.own.get() else { continue };
            if is_survived {
                self.pool.forget(own.number);
            }
            if let Some(block) = &own.block {
                self.pool.retire(block.clone(), self.counters.len());
            }
        }
    }

    /// Frees what nobody needs after the end of the recording.
    pub(super) fn release(&self) {
        *self.living.lock() = Vec::new();
        *self.expected.lock() = Vec::new();
        *self.last.lock() = FxHashMap::default();
        self.pool.release();
    }

    fn living(&self) -> Vec<Arc<ThreadCounts>> {
        self.living.lock().clone()
    }

    /// Visits all counters, of living threads and of ended ones; a counter may be visited more than once.
    pub(super) fn for_each(&self, mut visit: impl FnMut(CounterIndex, u64)) {
        // No thread ends while the lock is held.
        let living = self.living.lock();
        for block in self.pool.sums().into_iter().chain(living.iter().filter_map(|counts| counts.block())) {
            block.for_each(self.counters.len(), &mut visit);
        }
    }

    /// The same, or only those of one thread, while threads that begin or end do not wait. One that ends meanwhile may be left out.
    pub(super) fn for_each_counted(&self, own: Option<&ThreadCounts>, mut visit: impl FnMut(CounterIndex)) {
        let living = if own.is_none() { self.living() } else { Vec::new() };
        let sums = self.pool.sums().filter(|_| own.is_none());
        let blocks = own.into_iter().chain(living.iter().map(|counts| &**counts)).filter_map(ThreadCounts::block);
        blocks.chain(sums).for_each(|block| block.for_each(self.counters.len(), |counter, _| visit(counter)));
    }

    /// Visits what a thread has counted by itself.
    pub(super) fn for_each_of(&self, counts: &ThreadCounts, mut visit: impl FnMut(CounterIndex, u64)) {
        if let Some(block) = counts.block() {
            block.for_each(self.counters.len(), &mut visit);
        }
        counts.large_arrays.for_each_failed(&mut visit);
    }

    /// What a thread allocated so far.
    pub(super) fn totals(&self, counts: &ThreadCounts) -> Totals {
        let mut totals = Totals {
            instances: counts.shared_instances.load(Ordering::Relaxed),
            bytes: counts.shared_bytes.load(Ordering::Relaxed),
        };
        self.for_each_of(counts, |counter, value| totals += self.meaning(counter, value).0);
        totals
    }

    /// The instances and bytes that a counter of that value stands for, and where they were made, if that is known.
    pub(super) fn meaning(&self, counter: CounterIndex, value: u64) -> (Totals, Option<AllocationSite>) {
        sums::meaning(self.core, self.counters, counter, value)
    }

    /// The current thread has counted a large array, which it is going to make.
    pub(super) fn begin_large(&self, jni: Jni, counts: &ThreadCounts, counter: CounterIndex, bytes: u64) {
        let accounted = self.core.jvm.accounting.current_thread_bytes(jni);
        self.settle(counts, accounted, true);
        let array = accounted.map(|accounted_before| PendingArray { counter, bytes, accounted_before });
        counts.large_arrays.begin(array);
    }

    /// Subtracts the last large array of a thread if it was not made, as [`LargeArrays::settle`] says.
    pub(super) fn settle(&self, counts: &ThreadCounts, accounted: Option<u64>, is_over: bool) {
        // Only the thread itself writes its counters.
        counts.large_arrays.settle(accounted, is_over, |counter, value| self.pool.add_to_sums(counter, value));
    }

    /// The same for all threads, while they run.
    pub(super) fn settle_all(&self, jni: Jni) {
        let has_pending = |counts: &&Arc<ThreadCounts>| counts.large_arrays.is_pending();
        let threads: Vec<_> = self.living.lock().iter().filter(has_pending).cloned().collect();
        for counts in threads {
            if let Some(own) = counts.own.get() {
                self.settle(&counts, self.core.jvm.accounting.thread_bytes(jni, own.number), false);
            }
        }
    }

    /// What each living thread has counted so far, and what the JVM accounts to it.
    pub(super) fn accounts(&self, jni: Jni) -> Vec<(ThreadIndex, Totals, Option<u64>)> {
        let own = self.living();
        let own: FxHashMap<u32, &ThreadCounts> = own.iter().map(|own| (own.thread.0, &**own)).collect();
        let mut found = Vec::new();
        accounting::each_account(self.core, jni, |index, bytes| {
            if let (Some(own), Some(record)) = (own.get(&index.0), self.core.jvm.threads.get(index)) {
                self.settle(own, bytes, false);
                found.push((index, self.totals(own), record.accounted(bytes)));
            }
        });
        found
    }

    /// Bytes that a living thread has counted so far.
    pub(super) fn counted(&self, thread: ThreadIndex) -> Option<u64> {
        let own = self.living.lock().iter().find(|own| own.thread == thread).cloned()?;
        Some(self.totals(&own).bytes)
    }

    /// The last accounts of all living threads are about to be read.
    pub(super) fn begin_last_accounts(&self) {
        *self.last.lock() = self.living().into_iter().map(|own| (own.thread.0, (own, false))).collect();
    }

    /// The counters of a thread whose last account is read.
    pub(super) fn last_read(&self, thread: ThreadIndex) -> Option<Arc<ThreadCounts>> {
        let mut last = self.last.lock();
        let (own, is_read) = last.get_mut(&thread.0)?;
        *is_read = true;
        Some(own.clone())
    }

    /// Those of the threads whose last accounts could not be read.
    pub(super) fn end_last_accounts(&self) -> impl Iterator<Item = Arc<ThreadCounts>> + use<> {
        std::mem::take(&mut *self.last.lock()).into_values().filter(|(_, is_read)| !is_read).map(|(own, _)| own)
    }

    /// Bytes of memory that counters take.
    pub(super) fn memory(&self) -> u64 {
        let living: u64 = self.living.lock().iter().filter_map(|t| t.block()).map(Block::bytes).sum();
        living + self.pool.bytes()
    }
}
