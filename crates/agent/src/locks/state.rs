//! What a thread keeps from its last waits, so that it need not ask the VM again.

use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};
use trace::ids::ObjectId;

use agent_base::clock::Ticks;
use agent_base::ids::{StackIndex, ThreadIndex};
use agent_base::tables::classes::BlockerKind;
use agent_base::tables::threads::{JavaNumber, NameStage};
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Slot, ThreadState};
use agent_core::stacks::walker::FramesToSkip;
use agent_core::stacks::walker::StackWalker;
use hotspot::monitors::MonitorAddress;

/// An object that the thread has cached.
#[derive(Clone, Copy)]
struct CachedMonitor {
    monitor: MonitorAddress,
    id: ObjectId,
    /// Proves that it is the object; null until it is cached again.
    weak: jweak,
}

impl CachedMonitor {
    /// # Safety
    /// The weak reference is not used again.
    unsafe fn forget(self, jni: Jni) {
        if !self.weak.is_null() {
            // SAFETY: by the caller's promise.
            unsafe { jni.delete_weak_global_ref(self.weak) };
        }
    }
}

/// Number of objects that a thread caches.
const MAX_CACHED: usize = 8;

/// Objects on which the thread waited, with their ids: `IsSameObject` takes a fifth of a search among all tags.
pub(super) struct MonitorIdCache([CachedMonitor; MAX_CACHED]);

impl Default for MonitorIdCache {
    fn default() -> MonitorIdCache {
        MonitorIdCache([CachedMonitor { monitor: MonitorAddress(0), id: ObjectId(0), weak: null_mut() }; MAX_CACHED])
    }
}

impl MonitorIdCache {
    /// Monitors are some hundred bytes apart.
    fn place(monitor: MonitorAddress) -> usize {
        (monitor.0 >> 6 ^ monitor.0 >> 9) % MAX_CACHED
    }

    /// The id of an object that is cached.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn find(&self, jni: Jni, monitor: MonitorAddress, object: jobject) -> Option<ObjectId> {
        let cached = self.0[MonitorIdCache::place(monitor)];
        // A monitor can be reused for another object; the weak reference cannot.
        let maybe = cached.monitor == monitor && !cached.weak.is_null();
        // SAFETY: by the caller's promise; the weak reference is this thread's own until `forget`.
        (maybe && unsafe { jni.is_same_object(cached.weak, object) }).then_some(cached.id)
    }

    /// Notes an object that `find` did not find. It is cached once it has been noted twice in a row.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn note(&mut self, jni: Jni, monitor: MonitorAddress, object: jobject, id: ObjectId) {
        let cached = &mut self.0[MonitorIdCache::place(monitor)];
        // SAFETY: by the caller's promise; a weak reference that is replaced is not used again.
        unsafe {
            let is_again = cached.monitor == monitor && cached.id == id;
            cached.forget(jni);
            let weak = if is_again { jni.new_weak_global_ref(object) } else { Ok(null_mut()) };
            let weak = weak.inspect_err(|_| jni.exception_clear()).unwrap_or(null_mut());
            *cached = CachedMonitor { monitor, id, weak };
        }
    }

    /// Forgets all of them.
    fn forget(&mut self, jni: Jni) {
        for cached in std::mem::take(self).0 {
            // SAFETY: the weak reference is in no cache any more.
            unsafe { cached.forget(jni) };
        }
    }
}

/// What the feature keeps for a thread.
pub(crate) struct LockThread {
    /// For its own stack when it waits, and for those of others.
    walker: Option<StackWalker>,
    pub(super) owner_walker: Option<StackWalker>,
    /// The thread that it is, or carries.
    thread: Option<(JavaNumber, ThreadIndex)>,
    pub(super) monitors: MonitorIdCache,
    /// The thread that is blocked here, and the object. Removed when another thread is mounted.
    pub(super) blocked: Option<(ThreadIndex, ObjectId)>,
    /// The object with which it parked last, and what that is to a thread that parks.
    pub(super) parked: Option<(ObjectId, BlockerKind)>,
}

impl LockThread {
    /// The current thread, without asking JVMTI once more.
    ///
    /// # Safety
    /// `thread` is a live reference to the current thread.
    pub(super) unsafe fn this_thread(&mut self, core: &Core, jni: Jni, thread: jobject, now: Ticks) -> ThreadIndex {
        let threads = &core.jvm.threads;
        // SAFETY: by the caller's promise.
        let number = unsafe { threads.number(jni, thread) };
        if let Some((_, index)) = self.thread.filter(|(known, _)| Some(*known) == number) {
            return index;
        }
        // SAFETY: by the caller's promise.
        let index = unsafe { threads.resolve_own(jni, thread, now, NameStage::Constructed) };
        let has_names = threads.get(index).is_some_and(|record| record.names.get().is_some());
        self.thread = number.filter(|_| has_names).map(|number| (number, index));
        index
    }

    /// The stack of the current thread, if stacks are wanted.
    pub(super) fn own_stack(&mut self, core: &Core, jni: Jni, skip: FramesToSkip) -> StackIndex {
        let Some(walker) = &mut self.walker else { return StackIndex::default() };
        walker.walk(skip, &core.tables(jni)).unwrap_or_else(|error| {
            core.count_failure("stack", error);
            StackIndex::default()
        })
    }

    /// The stack of another thread, which is parked, if stacks are wanted. For the thread that looks at others, which does not wait itself.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(super) unsafe fn parked_stack(&mut self, core: &Core, jni: Jni, thread: jobject) -> StackIndex {
        let Some(walker) = &mut self.walker else { return StackIndex::default() };
        // SAFETY: by the caller's promise. The VM returns an error if the thread has just ended.
        unsafe { walker.walk_parked(thread, &core.tables(jni)) }.unwrap_or_default()
    }
}

impl ThreadState for LockThread {
    fn end(&mut self, jni: Jni) {
        self.monitors.forget(jni);
    }
}

impl FeatureState for LockThread {
    const SLOT: Slot = Slot::Locks;

    fn new(core: &'static Core) -> LockThread {
        let depth = core.options.locks.as_ref().map_or(0, |locks| locks.stack_depth);
        let walker = || (depth > 0).then(|| StackWalker::new(depth));
        LockThread {
            walker: walker(),
            owner_walker: walker(),
            thread: None,
            monitors: MonitorIdCache::default(),
            blocked: None,
            parked: None,
        }
    }
}
