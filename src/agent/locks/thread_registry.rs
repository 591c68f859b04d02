//! The living threads, by what HotSpot writes into a monitor as its owner: the address of a `JavaThread`, an address within
//! its stack, or the number of a `java.lang.Thread`.
//!
//! A thread leaves the registry at its end event, before HotSpot frees its `JavaThread`. So while the registry is held, the
//! memory of every thread in it may be read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jvmti::Jni;
use jvmti::jni_sys::{jfieldID, jobject};
use rustc_hash::FxHashMap;

use crate::agent::hotspot::memory::JavaThread;
use crate::agent::hotspot::monitors::MonitorLayout;
use crate::agent::ids::ThreadIndex;

/// A platform thread.
struct PlatformThread {
    /// The number of the virtual thread that it carries, or its own.
    mounted: Arc<AtomicU32>,
    /// The lowest address of its stack.
    stack_low: usize,
}

/// A weak global reference to a thread.
struct WeakThread(jobject);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for WeakThread {}
// SAFETY: as above.
unsafe impl Sync for WeakThread {}

#[derive(Default)]
struct Inner {
    platform: FxHashMap<JavaThread, PlatformThread>,
    /// From the lowest address of a stack to the first one above it, and the thread.
    stacks: BTreeMap<usize, (usize, JavaThread)>,
    /// By `Thread.tid`.
    by_number: FxHashMap<u64, ThreadIndex>,
    /// Filled if the stacks of owners are wanted.
    weak_threads: FxHashMap<u32, WeakThread>,
}

/// The fields of `java.lang.Thread` by which HotSpot identifies a thread.
#[derive(Clone, Copy)]
pub(crate) struct ThreadFields {
    /// The address of the `JavaThread`; 0 for a virtual thread and for one that does not run.
    pub(crate) eetop: jfieldID,
    pub(crate) tid: jfieldID,
}

/// All living threads that the agent knows.
pub(crate) struct ThreadRegistry {
    inner: RwLock<Inner>,
    /// Weak references are kept.
    with_weak_threads: bool,
}

impl ThreadRegistry {
    pub(crate) fn new(with_weak_threads: bool) -> ThreadRegistry {
        ThreadRegistry { inner: RwLock::default(), with_weak_threads }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a thread, platform or virtual.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread that runs and has not had its end event; the fields are those of its class.
    pub(crate) unsafe fn enter(
        &self,
        jni: Jni,
        layout: Option<&MonitorLayout>,
        fields: ThreadFields,
        thread: jobject,
        index: ThreadIndex,
    ) {
        let weak = if self.with_weak_threads {
            // SAFETY: by the caller's promise.
            unsafe { jni.new_weak_global_ref(thread) }.inspect_err(|_| jni.exception_clear()).ok()
        } else {
            None
        };
        let mut inner = self.write();
        // SAFETY: by the caller's promise.
        let (address, number) =
            unsafe { (jni.get_long_field(thread, fields.eetop), jni.get_long_field(thread, fields.tid)) };
        inner.by_number.insert(number as u64, index);
        if let Some(before) = weak.and_then(|weak| inner.weak_threads.insert(index.0, WeakThread(weak))) {
            // SAFETY: a weak reference that is not used again.
            unsafe { jni.delete_weak_global_ref(before.0) };
        }
        let Some(layout) = layout.filter(|_| address != 0) else { return };
        let java_thread = JavaThread(address as usize);
        let Some((stack_low, stack_high)) = layout.stack(java_thread) else { return };
        inner.stacks.insert(stack_low, (stack_high, java_thread));
        let platform = PlatformThread { mounted: Arc::new(AtomicU32::new(index.0)), stack_low };
        inner.platform.insert(java_thread, platform);
    }

    /// The current thread ends.
    ///
    /// # Safety
    /// `thread` is a live reference to it; the fields are those of its class.
    pub(crate) unsafe fn leave(&self, jni: Jni, fields: ThreadFields, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        let (address, number) =
            unsafe { (jni.get_long_field(thread, fields.eetop), jni.get_long_field(thread, fields.tid)) };
        let mut inner = self.write();
        inner.by_number.remove(&(number as u64));
        if let Some(platform) = inner.platform.remove(&JavaThread(address as usize)) {
            inner.stacks.remove(&platform.stack_low);
        }
        let weak = inner.weak_threads.remove(&index.0);
        drop(inner);
        if let Some(weak) = weak {
            // SAFETY: a weak reference that was removed from the registry, so it is not used again.
            unsafe { jni.delete_weak_global_ref(weak.0) };
        }
    }

    /// The word in which a platform thread notes the thread that it carries.
    pub(crate) fn mounted(&self, thread: JavaThread) -> Option<Arc<AtomicU32>> {
        self.read().platform.get(&thread).map(|platform| platform.mounted.clone())
    }

    /// A new local reference to a thread that lives; null if there is none.
    pub(crate) fn reference(&self, jni: Jni, index: ThreadIndex) -> jobject {
        // SAFETY: a weak reference in the registry is valid, and none is deleted while the registry is held.
        self.read().weak_threads.get(&index.0).map_or(std::ptr::null_mut(), |weak| unsafe { jni.new_local_ref(weak.0) })
    }

    /// The thread that runs on a `JavaThread`.
    pub(crate) fn of_java_thread(&self, thread: JavaThread) -> Option<ThreadIndex> {
        self.read().platform.get(&thread).map(PlatformThread::current)
    }

    /// The thread in whose stack an address lies.
    pub(crate) fn of_stack(&self, address: usize) -> Option<ThreadIndex> {
        let inner = self.read();
        let (_, &(high, thread)) = inner.stacks.range(..=address).next_back()?;
        (address < high).then(|| inner.platform.get(&thread).map(PlatformThread::current)).flatten()
    }

    /// The thread of that `Thread.tid`.
    pub(crate) fn of_number(&self, number: u64) -> Option<ThreadIndex> {
        self.read().by_number.get(&number).copied()
    }

    /// The thread that has the object at that address locked without a monitor.
    pub(crate) fn of_lock_stack(&self, layout: &MonitorLayout, oop: usize) -> Option<ThreadIndex> {
        let inner = self.read();
        // SAFETY: threads in the registry live while it is held.
        inner.platform.iter().find(|(thread, _)| unsafe { layout.has_locked(**thread, oop) }).map(|(_, m)| m.current())
    }
}

impl PlatformThread {
    fn current(&self) -> ThreadIndex {
        ThreadIndex(self.mounted.load(Ordering::Relaxed))
    }
}
