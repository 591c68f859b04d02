//! The living platform threads, for which the VM may have to wait.
//!
//! A thread leaves at its end event, before HotSpot frees its `JavaThread`; before the VM stops to send such events, the list is
//! closed. So while the list is held, the memory of every thread in it may be read, and a signal reaches no other thread.

use rustc_hash::FxHashMap;

use agent_base::ids::ThreadIndex;
use agent_base::mutex::Mutex;
use hotspot::memory::JavaThread;
use hotspot::safepoints::SafepointLayout;

/// A living thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LivingThread {
    /// Its number in the system.
    pub(super) tid: libc::pid_t,
    pub(super) java: JavaThread,
}

#[derive(Debug, Default)]
struct Inner {
    /// By their numbers.
    threads: FxHashMap<u32, LivingThread>,
    is_closed: bool,
}

/// All that were entered and have not left.
#[derive(Debug, Default)]
pub(super) struct LivingThreads(Mutex<Inner>);

impl LivingThreads {
    /// Enters a thread that has not had its end event.
    pub(super) fn enter(&self, layout: &SafepointLayout, java: JavaThread, index: ThreadIndex) {
        let Some(tid) = layout.tid(java) else { return };
        let mut inner = self.0.lock();
        if !inner.is_closed {
            inner.threads.insert(index.0, LivingThread { tid, java });
        }
    }

    /// The current thread ends.
    pub(super) fn leave(&self, index: ThreadIndex) {
        self.0.lock().threads.remove(&index.0);
    }

    /// Threads end from now on without an event.
    pub(super) fn close(&self) {
        *self.0.lock() = Inner { threads: FxHashMap::default(), is_closed: true };
    }

    /// Calls `visit` with each thread for which the VM has to wait, while it lives.
    pub(super) fn each_running(&self, layout: &SafepointLayout, mut visit: impl FnMut(ThreadIndex, LivingThread)) {
        for (&index, &thread) in &self.0.lock().threads {
            // SAFETY: threads in the list live while it is held.
            if unsafe { layout.is_running(thread.java) } {
                visit(ThreadIndex(index), thread);
            }
        }
    }
}
