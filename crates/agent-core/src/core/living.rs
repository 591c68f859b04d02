//! The platform threads that live, for all features that read what HotSpot keeps of a thread: where it is in memory, its stack, its number
//! in the system, and which virtual thread it carries.
//!
//! HotSpot frees the `JavaThread` of a thread that ends. Here is the one rule by which nobody reads it then: a thread leaves at its end
//! event, which it sends itself before that, and the registry is closed before the VM stops to send such events. So the memory of every
//! thread in the registry may be read while the registry is held, and that of a single one while it is kept
//! ([`LivingThread::while_alive`]). Neither is held while the VM is called, which may stop the caller for as long as a debugger wants.
//!
//! Features keep what only they need: `cpu` a table that a signal handler may read, of all threads of the process; `counts` a table that
//! compiled Java code reads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, RwLockReadGuard};

use jvmti::Jni;
use jvmti::jni_sys::jobject;
use rustc_hash::FxHashMap;

use super::Core;
use agent_base::ids::ThreadIndex;
use agent_base::mutex::{Mutex, RwLock};
use hotspot::Hotspot;
use hotspot::memory::JavaThread;
use hotspot::os_threads::OsThreads;

/// A platform thread.
#[derive(Debug)]
pub struct LivingThread {
    /// Its number in the agent's table.
    pub index: ThreadIndex,
    /// Where HotSpot has it.
    pub java: JavaThread,
    /// Its number in the system.
    pub tid: libc::pid_t,
    /// The lowest address of its stack and the first one above it; 0 both if they are not known.
    stack: (usize, usize),
    /// The virtual thread that it carries, or itself.
    running: AtomicU32,
    is_alive: Mutex<bool>,
}

impl LivingThread {
    fn new(index: ThreadIndex, java: JavaThread, tid: libc::pid_t) -> LivingThread {
        LivingThread { index, java, tid, stack: (0, 0), running: AtomicU32::new(index.0), is_alive: Mutex::new(true) }
    }

    /// The virtual thread that it carries, or itself.
    pub fn running(&self) -> ThreadIndex {
        ThreadIndex(self.running.load(Ordering::Relaxed))
    }

    /// It carries that thread from now on, or nobody but itself.
    pub(crate) fn set_running(&self, thread: ThreadIndex) {
        self.running.store(thread.0, Ordering::Relaxed);
    }

    /// Runs `body` unless the thread has ended. The thread's end waits for it.
    pub fn while_alive<T>(&self, body: impl FnOnce() -> T) -> Option<T> {
        let is_alive = self.is_alive.lock();
        is_alive.then(body)
    }

    fn end(&self) {
        *self.is_alive.lock() = false;
    }
}

#[derive(Debug, Default)]
struct Threads {
    by_index: FxHashMap<u32, Arc<LivingThread>>,
    /// From the first address of what is a thread's, its `JavaThread` or its stack, to the first one above it.
    by_address: BTreeMap<usize, (usize, Arc<LivingThread>)>,
    is_closed: bool,
}

impl Threads {
    fn insert(&mut self, thread: LivingThread) {
        if self.is_closed {
            return;
        }
        let thread = Arc::new(thread);
        let ((low, high), java) = (thread.stack, thread.java.0);
        self.by_address.insert(low, (high, thread.clone()));
        self.by_address.insert(java, (java + 1, thread.clone()));
        self.by_index.insert(thread.index.0, thread);
    }

    fn remove(&mut self, java: JavaThread) -> Option<Arc<LivingThread>> {
        let (_, thread) = self.by_address.remove(&java.0)?;
        self.by_address.remove(&thread.stack.0);
        self.by_index.remove(&thread.index.0)
    }
}

/// The registry of a recording.
#[derive(Default)]
pub struct LivingThreads {
    /// Where HotSpot keeps threads, if somebody wants to know.
    layout: OnceLock<(&'static Hotspot, OsThreads)>,
    threads: RwLock<Threads>,
}

impl LivingThreads {
    /// Threads are entered from now on, if HotSpot's memory shows where they are.
    pub(super) fn open(&self, hotspot: &'static Hotspot, layout: Option<&OsThreads>) {
        if let Some(&layout) = layout {
            let _ = self.layout.set((hotspot, layout));
        }
    }

    /// Where HotSpot keeps threads, if that is known and used.
    pub fn layout(&self) -> Option<&OsThreads> {
        self.layout.get().map(|(_, layout)| layout)
    }

    /// The current thread starts.
    pub(crate) fn starts(&self, jni: Jni, index: ThreadIndex) {
        let Some((hotspot, layout)) = self.layout.get() else { return };
        // SAFETY: no argument.
        let tid = unsafe { libc::gettid() };
        self.insert(hotspot, LivingThread::new(index, layout.current(jni), tid), || false);
    }

    /// A thread is found. If it is a virtual one, it is not entered.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn found(&self, core: &Core, jni: Jni, thread: jobject, index: ThreadIndex) {
        let Some((hotspot, layout)) = self.layout.get() else { return };
        // SAFETY: by the caller's promise.
        let Some(java) = (unsafe { core.jvm.threads.address(jni, thread) }).map(JavaThread) else { return };
        let (Some(tid), Some(record)) = (layout.tid(java), core.jvm.threads.get(index)) else { return };
        self.insert(hotspot, LivingThread::new(index, java, tid), || record.has_ended());
    }

    /// Enters a thread. One that ends says so before it leaves: either that is seen here, or it leaves later.
    fn insert(&self, hotspot: &Hotspot, mut thread: LivingThread, has_ended: impl FnOnce() -> bool) {
        thread.stack = hotspot.monitors().and_then(|layout| layout.stack(thread.java)).unwrap_or_default();
        let mut threads = self.threads.write();
        if !has_ended() {
            threads.insert(thread);
        }
    }

    /// The current thread is about to end.
    pub(crate) fn leave(&self, jni: Jni) {
        if let Some((_, layout)) = self.layout.get() {
            self.remove(layout.current(jni));
        }
    }

    fn remove(&self, java: JavaThread) {
        let removed = self.threads.write().remove(java);
        removed.inspect(|thread| thread.end());
    }

    /// Threads end from now on without an event: nobody is here any more.
    pub fn close(&self) {
        let before = std::mem::replace(&mut *self.threads.write(), Threads { is_closed: true, ..Threads::default() });
        before.by_index.values().for_each(|thread| thread.end());
    }

    /// The thread of that number.
    pub fn get(&self, index: ThreadIndex) -> Option<Arc<LivingThread>> {
        self.layout.get()?;
        self.threads.read().by_index.get(&index.0).cloned()
    }

    /// All of them, none of which ends until this is dropped.
    pub fn hold(&self) -> HeldThreads<'_> {
        HeldThreads(self.threads.read())
    }
}

/// Living threads, whose memory may be read.
pub struct HeldThreads<'l>(RwLockReadGuard<'l, Threads>);

impl HeldThreads<'_> {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<LivingThread>> {
        self.0.by_index.values()
    }

    /// The thread whose `JavaThread` is at that address, or in whose stack it lies.
    pub fn of_address(&self, address: usize) -> Option<&Arc<LivingThread>> {
        let (_, (end, thread)) = self.0.by_address.range(..=address).next_back()?;
        (address < *end).then_some(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_left_is_found_no_more() {
        let living = LivingThreads::default();
        let (index, java) = (ThreadIndex(3), JavaThread(0x1000));
        let thread = || LivingThread { stack: (0x5000, 0x6000), ..LivingThread::new(index, java, 7) };
        let enter = || living.threads.write().insert(thread());
        let found = |address| living.hold().of_address(address).map(|thread| thread.index);
        enter();
        let thread = living.hold().iter().next().cloned().expect("it was entered");
        assert_eq!([0x1000, 0x5000, 0x5fff].map(found), [Some(index); 3]);
        assert_eq!([0xfff, 0x1001, 0x4fff, 0x6000].map(found), [None; 4]);
        assert_eq!(thread.while_alive(|| 1), Some(1));
        living.remove(java);
        assert_eq!([0x1000, 0x5000].map(found), [None; 2]);
        assert!(living.hold().iter().next().is_none());
        assert_eq!(thread.while_alive(|| 1), None);
        enter();
        let thread = living.hold().iter().next().cloned().expect("it was entered again");
        living.close();
        enter();
        assert!(found(0x1000).is_none() && found(0x5800).is_none() && living.hold().iter().next().is_none());
        assert_eq!(thread.while_alive(|| 1), None);
    }
}
