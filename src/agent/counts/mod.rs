//! `heap=counts`: how often each allocation site ran, on which thread, and how many bytes that made.
//!
//! Rewritten code (`instrument`) adds to the counters of the thread (`blocks`) by way of MartiniCounts (`proxy`), without a
//! native call. What a counter counts is in `slots`: known in part from the rewriting (`rewritings`), in full when it is
//! looked at (`sites`). When a thread ends its counters are added up, and at the end of the trace the sums are told (`report`).

mod blocks;
mod by_the_vm;
mod constants;
mod estimate;
mod instrument;
mod large;
mod linking;
mod marks;
mod natives;
mod proxy;
mod report;
mod rewritings;
mod sites;
mod slots;
mod snapshot;
mod table;
mod upcalls;

use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use classfile::{ClassFile, Rewritten};
use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jobject};
use rustc_hash::FxHashMap;
use trace::names::array_code;

use super::classes::Classes;
use super::layout::{ArrayLayout, ArrayLayouts};
use super::threads::{ThreadContext, ThreadIndex};
use super::{Agent, message};
use blocks::Block;
use by_the_vm::ClassObjects;
use constants::Constants;
use instrument::CountHooks;
use large::Large;
use linking::Unlinked;
use proxy::{CountsProxy, Defined};
use rewritings::Rewritings;
use slots::{CounterIndex, Role, Slots};
use table::Table;

pub(crate) use by_the_vm::{Makers, class_begins, class_loaded, vm_object_alloc};
pub(crate) use estimate::{Estimate, sampled};
pub(crate) use instrument::{ALLOCATING_OPCODES, HOOKED_NAMES, Moment, Subject, runs_once};
pub(crate) use linking::{class_linked, class_read};
pub(crate) use proxy::INTERNAL_NAME;
pub(crate) use report::SiteCount;
pub(crate) use rewritings::Origin;
pub(crate) use sites::Look;
pub(crate) use slots::Resolved;
pub(crate) use snapshot::{Snapshot, Watch};

/// Binds MartiniCounts' natives, called from its method `bind`.
///
/// # Safety
/// Called by the VM, with MartiniCounts as `class`.
pub(crate) unsafe fn register_natives(jni: *mut JNIEnv, class: jclass) {
    // SAFETY: by the caller's promise.
    unsafe { proxy::register_natives(Jni::from_raw(jni), class) }
}

/// What a thread has allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) instances: u64,
    pub(crate) bytes: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        // What was counted twice is taken back by its complement.
        self.instances = self.instances.wrapping_add(other.instances);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }
}

/// Why nothing can be counted.
pub(crate) const NO_ROOM: &str = "the system has no address space for counters; heap=vm needs none";

/// One thread's share.
pub(crate) struct ThreadCounts {
    pub(crate) thread: ThreadIndex,
    /// Not set while the thread is under construction and has no number.
    own: OnceLock<Own>,
    /// What it added to shared counters.
    shared_instances: AtomicU64,
    shared_bytes: AtomicU64,
    /// An array that was counted but may not fit into the heap.
    large: Mutex<Option<Large>>,
    /// Instances and bytes of arrays that did not, by counter.
    taken: Mutex<FxHashMap<CounterIndex, (u64, u64)>>,
}

struct Own {
    /// The thread's number in Java.
    number: i64,
    /// Its counters; `None` if it has to share them.
    block: Option<Arc<Block>>,
}

impl ThreadCounts {
    fn block(&self) -> Option<&Block> {
        self.own.get()?.block.as_deref()
    }

    fn add_shared(&self, totals: Totals) {
        self.shared_instances.fetch_add(totals.instances, Ordering::Relaxed);
        self.shared_bytes.fetch_add(totals.bytes, Ordering::Relaxed);
    }
}

/// All counters.
pub(crate) struct Counts {
    pub(crate) slots: Slots,
    defined: OnceLock<Defined>,
    proxy: OnceLock<CountsProxy>,
    /// Threads that count at present.
    living: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Those of them that the agent has not met yet, but which were there at VMInit.
    expected: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Cleared blocks of ended threads.
    spare: Mutex<Vec<Arc<Block>>>,
    /// Sums over ended threads, and what threads without counters of their own add; `None` if the system has no room.
    sums: Option<Block>,
    /// `None` if the system has no room; then nothing is counted.
    table: Option<Table>,
    rewritings: Rewritings,
    /// When to look again what counters count.
    next_look: Mutex<Option<Instant>>,
    /// There was no memory for a look, and each attempt takes a collection: not before the next one.
    heap_is_full: AtomicBool,
    /// Bytes that counters of threads may take.
    limit: usize,
    /// Known from VMInit on.
    class_objects: OnceLock<ClassObjects>,
    /// `None` if the system has no room.
    constants: Option<Constants>,
    unlinked: Unlinked,
    /// For the writer.
    snapshot: Mutex<Option<Snapshot>>,
    /// What a sampler found beside the counters, if one was asked for.
    pub(crate) estimate: Option<Estimate>,
}

impl Counts {
    /// No counts yet. Blocks of threads take at most `limit` bytes, unless sites are added later. A sampler runs beside them
    /// if the bytes between two samples are given.
    pub(crate) fn new(limit: usize, interval_bytes: Option<u32>) -> Counts {
        Counts {
            slots: Slots::new(),
            defined: OnceLock::new(),
            proxy: OnceLock::new(),
            living: Mutex::default(),
            expected: Mutex::default(),
            spare: Mutex::default(),
            sums: Block::new(),
            table: Table::new(),
            rewritings: Rewritings::new(),
            next_look: Mutex::default(),
            heap_is_full: AtomicBool::new(false),
            limit,
            class_objects: OnceLock::new(),
            constants: Constants::new(),
            unlinked: Unlinked::default(),
            snapshot: Mutex::default(),
            estimate: interval_bytes.map(Estimate::new),
        }
    }

    /// Whether there is room for what hooks need.
    pub(crate) fn can_count(&self) -> bool {
        self.table.is_some()
    }

    /// Defines MartiniCounts in the VM, whose arrays are laid out like that.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn define(&self, jni: Jni, java: u32, layouts: &ArrayLayouts) -> Result<(), String> {
        let table = self.table.as_ref().ok_or(NO_ROOM)?;
        let packed = |descriptor: u8| {
            let name =
                if descriptor == b'L' { "[Ljava/lang/Object;".into() } else { format!("[{}", descriptor as char) };
            layouts.get(array_code(&name)).and_then(ArrayLayout::packed).unwrap_or(0)
        };
        let class_file =
            proxy::class_file(java, packed, self.constants.as_ref().map_or(0, Constants::address), table.address());
        let _ = self.defined.set(CountsProxy::define(jni, &class_file).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Gets MartiniCounts ready to count.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn bind(&self, jni: Jni) -> Result<(), String> {
        if let Some(defined) = self.defined.get() {
            let _ = self.proxy.set(CountsProxy::bind(jni, defined).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Inserts counters into one class, for objects of the classes whose descriptors pass the filter, if there is one. Also
    /// returns how many sites were left alone because there are no more counters.
    ///
    /// # Safety
    /// The origin of the subject holds a live reference or null.
    pub(crate) unsafe fn rewrite<'a>(
        &self,
        class: &ClassFile<'a>,
        subject: Subject<'_>,
        filter: Option<impl Fn(&[u8]) -> bool>,
    ) -> (Rewritten<'a>, u64) {
        // SAFETY: by the caller's promise.
        let mut hooks = unsafe { CountHooks::new(self, subject, filter) };
        let rewritten = classfile::rewrite_class(class, &mut hooks);
        hooks.end();
        (rewritten, hooks.uncounted)
    }

    /// From now on hooks count.
    pub(crate) fn begin_counting(&self, jni: Jni) {
        if let Some(Err(error)) = self.proxy.get().map(|proxy| proxy.begin(jni)) {
            message(&format!("MartiniCounts cannot begin, so nothing is counted: {error}"));
        }
    }

    /// Lets the hooks count no more on threads that have no counters.
    pub(crate) fn end_counting(&self, jni: Jni) {
        if let Some(proxy) = self.proxy.get() {
            proxy.end(jni);
        }
    }

    /// Events that MartiniCounts could not count; a lower bound.
    pub(crate) fn lost(&self, jni: Jni) -> u64 {
        self.proxy.get().map_or(0, |proxy| proxy.lost(jni))
    }

    /// The share of the current thread.
    pub(crate) fn share<'c>(&self, context: &'c mut ThreadContext) -> &'c Arc<ThreadCounts> {
        let carrier = context.carrier;
        context.counts.get_or_insert_with(|| self.expected(carrier).unwrap_or_else(|| self.begin(carrier)))
    }

    fn expected(&self, thread: ThreadIndex) -> Option<Arc<ThreadCounts>> {
        let mut expected = lock(&self.expected);
        let found = expected.iter().position(|counts| counts.thread == thread)?;
        Some(expected.swap_remove(found))
    }

    /// A thread was there before there were events, which come now.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(crate) unsafe fn expect(&self, jni: Jni, index: ThreadIndex, thread: jobject) {
        let counts = self.begin(index);
        // SAFETY: by the caller's promise.
        unsafe { self.give_counters(jni, &counts, thread) };
        lock(&self.expected).push(counts);
    }

    /// The current thread starts: hooks find its counters from the beginning, so that C2 sees no other way through them.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(crate) unsafe fn thread_starts(&self, jni: Jni, context: &mut ThreadContext, thread: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { self.give_counters(jni, self.share(context), thread) };
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
            large: Mutex::default(),
            taken: Mutex::default(),
        });
        lock(&self.living).push(counts.clone());
        counts
    }

    /// The counters of a thread, made now if it has a number in Java and there is room.
    fn block<'c>(&self, counts: &'c ThreadCounts, number: i64) -> Option<&'c Block> {
        if number <= 0 {
            return counts.block();
        }
        let own = counts.own.get_or_init(|| {
            let block = self.own_block();
            if let Some(table) = &self.table {
                table.add(number, block.as_ref().map_or(0, |block| block.address()));
            }
            Own { number, block }
        });
        own.block.as_deref()
    }

    fn own_block(&self) -> Option<Arc<Block>> {
        let owners = lock(&self.living).iter().filter(|t| t.block().is_some()).count();
        if (owners + 1) * self.slots.len() as usize * size_of::<u64>() > self.limit {
            return None;
        }
        lock(&self.spare).pop().or_else(|| Block::new().map(Arc::new))
    }

    /// The current thread ends: its counters are added to the sums.
    pub(crate) fn end(&self, counts: &Arc<ThreadCounts>) {
        let own = counts.own.get();
        if let (Some(own), Some(table)) = (own, &self.table) {
            table.remove(own.number);
        }
        // Whoever adds up all counters finds these among the living's or in the sums.
        let mut living = lock(&self.living);
        let Some(found) = living.iter().position(|other| Arc::ptr_eq(other, counts)) else {
            // Its counters are among the sums already (`end_all`).
            return;
        };
        living.swap_remove(found);
        let Some(block) = own.and_then(|own| own.block.as_ref()) else { return };
        block.drain(self.slots.len(), |counter, value| self.add_to_sums(counter, value));
        drop(living);
        lock(&self.spare).push(block.clone());
    }

    /// Adds the counters of all living threads to the sums, at the very end.
    pub(crate) fn end_all(&self) {
        for counts in std::mem::take(&mut *lock(&self.living)) {
            if let Some(block) = counts.block() {
                block.for_each(self.slots.len(), |counter, value| self.add_to_sums(counter, value));
            }
        }
    }

    fn add_to_sums(&self, counter: CounterIndex, value: u64) {
        if let Some(sums) = &self.sums {
            sums.add(counter, value);
        }
    }

    /// All counters, of the living and of those that have ended; a counter may come more than once.
    fn for_each(&self, mut visit: impl FnMut(CounterIndex, u64)) {
        // Nobody ends meanwhile.
        let living = lock(&self.living);
        for block in self.sums.iter().chain(living.iter().filter_map(|counts| counts.block())) {
            block.for_each(self.slots.len(), &mut visit);
        }
    }

    /// The threads that count at present.
    pub(crate) fn living(&self) -> Vec<Arc<ThreadCounts>> {
        lock(&self.living).clone()
    }

    /// What a thread allocated so far.
    pub(crate) fn totals(&self, counts: &ThreadCounts, classes: &Classes) -> Totals {
        let mut totals = Totals {
            instances: counts.shared_instances.load(Ordering::Relaxed),
            bytes: counts.shared_bytes.load(Ordering::Relaxed),
        };
        if let Some(block) = counts.block() {
            block.for_each(self.slots.len(), |counter, value| {
                totals += self.meaning(counter, value, classes).0;
            });
        }
        for (&counter, &(instances, bytes)) in lock(&counts.taken).iter() {
            totals += self.meaning(counter, instances.wrapping_neg(), classes).0;
            totals += self.meaning(counter.next(), bytes.wrapping_neg(), classes).0;
        }
        totals
    }

    /// Instances and bytes that a counter of that value stands for, and where they were made, if that is known.
    fn meaning(&self, counter: CounterIndex, value: u64, classes: &Classes) -> (Totals, Option<Resolved>) {
        let Some(slot) = self.slots.get(counter) else { return Default::default() };
        let named = match slot.role {
            // Arrays have their bytes in a counter of their own, behind the one that is resolved.
            Role::Bytes | Role::TakenBytes => self.slots.get(CounterIndex(counter.0 - 1)),
            _ => Some(slot),
        };
        let resolved = named.and_then(|slot| slot.resolved.get());
        if matches!(resolved, Some(None)) {
            return Default::default();
        }
        let Some((resolved, class)) = resolved.and_then(|r| Some(((*r)?, classes.get((*r)?.class)?))) else {
            return (Totals { instances: if slot.role == Role::Bytes { 0 } else { value }, bytes: 0 }, None);
        };
        let totals = match slot.role {
            // One level of an array of arrays.
            _ if !class.is_included() => Totals::default(),
            Role::Bytes => Totals { instances: 0, bytes: value },
            Role::Taken => Totals { instances: value.wrapping_neg(), bytes: 0 },
            Role::TakenBytes => Totals { instances: 0, bytes: value.wrapping_neg() },
            Role::ByTheVm(_) | Role::SeenByTheVm => Totals { instances: value, bytes: 0 },
            _ if class.array.is_array() => Totals { instances: value, bytes: 0 },
            _ => Totals { instances: value, bytes: value * class.instance_bytes() },
        };
        (totals, Some(resolved))
    }

    /// Counts one object on the current thread, which has the number `java_id` in Java.
    fn count(
        &self,
        agent: &'static Agent,
        jni: Jni,
        counts: &ThreadCounts,
        java_id: i64,
        counter: CounterIndex,
        bytes: u64,
    ) {
        let own = self.block(counts, java_id);
        if own.is_none() {
            if self.may_resolve(counter) {
                agent.exclude(jni, counts.thread, || self.resolve_one(agent, jni, counter));
            }
            let mut totals = self.meaning(counter, 1, &agent.classes).0;
            totals += self.meaning(counter.next(), bytes, &agent.classes).0;
            counts.add_shared(totals);
        }
        let Some(block) = own.or(self.sums.as_ref()) else { return };
        block.add(counter, 1);
        if bytes > 0 {
            block.add(counter.next(), bytes);
        }
    }

    /// Bytes of memory that counters take.
    pub(crate) fn memory(&self) -> u64 {
        let living: u64 = lock(&self.living).iter().filter_map(|t| t.block()).map(Block::bytes).sum();
        let spare: u64 = lock(&self.spare).iter().map(|b| b.bytes()).sum();
        living + spare + self.sums.as_ref().map_or(0, Block::bytes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
