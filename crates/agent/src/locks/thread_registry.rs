//! The living threads, by what HotSpot writes into a monitor as its owner: the address of a `JavaThread`, an address within
//! its stack, or the number of a `java.lang.Thread`.
//!
//! A thread leaves the registry at its end event, before HotSpot frees its `JavaThread`. So while the registry is held, the
//! memory of every thread in it may be read. Before the VM stops to send such events, the registry is closed. It is held for reading
//! memory only, never while the VM is called, which may stop the caller for as long as a debugger wants.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jvmti::Jni;
use jvmti::jni_sys::{jfieldID, jobject};
use rustc_hash::FxHashMap;

use agent_base::ids::ThreadIndex;
use agent_base::objects::weak_users::WeakUsers;
use hotspot::memory::JavaThread;
use hotspot::monitors::MonitorLayout;

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
    /// Filled if owners are asked for their stacks, or for what they own.
    weak_threads: FxHashMap<u32, WeakThread>,
    /// No platform thread is entered any more.
    is_closed: bool,
}

impl Inner {
    /// Enters a thread of that number, if it is a platform thread with its address and stack. Returns the weak reference that it had.
    fn insert(
        &mut self,
        index: ThreadIndex,
        number: u64,
        stack: Option<(JavaThread, (usize, usize))>,
        weak: Option<WeakThread>,
    ) -> Option<WeakThread> {
        self.by_number.insert(number, index);
        if let Some((java_thread, (low, high))) = stack.filter(|_| !self.is_closed) {
            self.stacks.insert(low, (high, java_thread));
            let platform = PlatformThread { mounted: Arc::new(AtomicU32::new(index.0)), stack_low: low };
            self.platform.insert(java_thread, platform);
        }
        weak.and_then(|weak| self.weak_threads.insert(index.0, weak))
    }

    /// Removes a thread. Returns its weak reference.
    fn remove(&mut self, index: ThreadIndex, number: u64, java_thread: JavaThread) -> Option<WeakThread> {
        self.by_number.remove(&number);
        if let Some(platform) = self.platform.remove(&java_thread) {
            self.stacks.remove(&platform.stack_low);
        }
        self.weak_threads.remove(&index.0)
    }
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
    weak_users: WeakUsers,
    /// Weak references are kept.
    with_weak_threads: bool,
}

impl ThreadRegistry {
    pub(crate) fn new(with_weak_threads: bool) -> ThreadRegistry {
        ThreadRegistry { inner: RwLock::default(), weak_users: WeakUsers::default(), with_weak_threads }
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
        // SAFETY: by the caller's promise.
        let (address, number) =
            unsafe { (jni.get_long_field(thread, fields.eetop), jni.get_long_field(thread, fields.tid)) };
        let address = JavaThread(address as usize);
        let stack = layout.filter(|_| address.0 != 0).and_then(|layout| Some((address, layout.stack(address)?)));
        let before = self.write().insert(index, number as u64, stack, weak.map(WeakThread));
        // SAFETY: it is in the registry no more.
        unsafe { self.weak_users.delete(jni, before.map(|weak| weak.0)) };
    }

    /// The current thread ends.
    ///
    /// # Safety
    /// `thread` is a live reference to it; the fields are those of its class.
    pub(crate) unsafe fn leave(&self, jni: Jni, fields: ThreadFields, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        let (address, number) =
            unsafe { (jni.get_long_field(thread, fields.eetop), jni.get_long_field(thread, fields.tid)) };
        let weak = self.write().remove(index, number as u64, JavaThread(address as usize));
        // SAFETY: it is in the registry no more.
        unsafe { self.weak_users.delete(jni, weak.map(|weak| weak.0)) };
    }

    /// Threads end from now on without an event: none of their memory is read any more.
    pub(crate) fn close(&self) {
        let mut inner = self.write();
        inner.is_closed = true;
        inner.platform.clear();
        inner.stacks.clear();
    }

    /// The recording is over: forgets all threads.
    pub(crate) fn release(&self, jni: Jni) {
        let before = std::mem::replace(&mut *self.write(), Inner { is_closed: true, ..Inner::default() });
        // SAFETY: they are in the registry no more.
        unsafe { self.weak_users.delete(jni, before.weak_threads.into_values().map(|weak| weak.0)) };
    }

    /// The word in which a platform thread notes the thread that it carries.
    pub(crate) fn mounted(&self, thread: JavaThread) -> Option<Arc<AtomicU32>> {
        self.read().platform.get(&thread).map(|platform| platform.mounted.clone())
    }

    /// A new local reference to a thread that lives; null if there is none.
    pub(crate) fn reference(&self, jni: Jni, index: ThreadIndex) -> jobject {
        self.weak_users.using(|| {
            let weak = self.read().weak_threads.get(&index.0).map(|weak| weak.0);
            // SAFETY: a weak reference that was in the registry is not deleted while somebody may use it.
            weak.map_or(std::ptr::null_mut(), |weak| unsafe { jni.new_local_ref(weak) })
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_registry_knows_no_memory_of_threads() {
        let registry = ThreadRegistry::new(false);
        let (index, address) = (ThreadIndex(3), JavaThread(0x1000));
        let enter = || assert!(registry.write().insert(index, 7, Some((address, (0x5000, 0x6000))), None).is_none());
        let found = || {
            let mounted = registry.mounted(address).map(|_| index);
            [registry.of_java_thread(address), registry.of_stack(0x5800), mounted]
        };
        enter();
        assert_eq!(found(), [Some(index); 3]);
        assert_eq!(registry.of_stack(0x6000), None);
        registry.close();
        assert_eq!(found(), [None; 3]);
        enter();
        assert_eq!(found(), [None; 3]);
        assert_eq!(registry.of_number(7), Some(index));
        registry.write().remove(index, 7, address);
        assert_eq!(registry.of_number(7), None);
    }
}
