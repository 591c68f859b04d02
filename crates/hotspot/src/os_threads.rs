//! What HotSpot keeps of the system's threads: which one a `JavaThread` runs on, and what it waits for.

use jvmti::{Field, Jni};

use super::doubtful;
use super::memory::JavaThread;

/// Offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub struct OsThreads {
    /// From a `JavaThread` to the JNI environment inside it.
    env: usize,
    /// From a `JavaThread` to the address of its `OSThread`.
    os_thread: usize,
    /// In an `OSThread`.
    tid: usize,
    state: Option<usize>,
}

impl OsThreads {
    /// The layout of this VM, if it exports one that holds for the current thread, whose `JavaThread` is given.
    pub(crate) fn find(jni: Jni, current: JavaThread) -> Option<OsThreads> {
        let layout = OsThreads {
            env: (jni.as_raw() as usize).checked_sub(current.0)?,
            os_thread: Field::offset_of(c"JavaThread", c"_osthread")
                .or_else(|| Field::offset_of(c"Thread", c"_osthread"))?,
            tid: Field::offset_of(c"OSThread", c"_thread_id")?,
            state: Field::offset_of(c"OSThread", c"_state"),
        };
        // SAFETY: no argument.
        (layout.tid(current) == Some(unsafe { libc::gettid() })).then_some(layout)
    }

    /// The `JavaThread` of the current thread.
    pub fn current(&self, jni: Jni) -> JavaThread {
        JavaThread(jni.as_raw() as usize - self.env)
    }

    /// The number of the thread in the system; `None` if it has ended, or does not run yet.
    pub fn tid(&self, thread: JavaThread) -> Option<libc::pid_t> {
        let os_thread = self.os_thread(thread)?;
        Some(doubtful::half(os_thread + self.tid)? as libc::pid_t).filter(|&tid| tid > 0)
    }

    /// The address of the word that says what the thread waits for, which is there until the thread ends.
    pub fn state(&self, thread: JavaThread) -> Option<usize> {
        Some(self.os_thread(thread)? + self.state?)
    }

    fn os_thread(&self, thread: JavaThread) -> Option<usize> {
        doubtful::word(thread.0 + self.os_thread).filter(|&address| address != 0)
    }
}
