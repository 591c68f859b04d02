//! Whether the VM is stopping all threads right now, and which threads it waits for.
//!
//! `SafepointSynchronize::_state` is not among what HotSpot exports for debuggers: it is looked up in libjvm's symbol table, which
//! a packager may have removed. The states of threads are exported.

use jvmti::{Env, Field, Jni, exported};

use super::doubtful;
use super::memory::{JavaThread, load_u32};

/// `SafepointSynchronize::_state`.
const STATE: &str = "_ZN20SafepointSynchronize6_stateE";
/// Its values: threads run (0), are being stopped, have stopped.
const SYNCHRONIZING: u32 = 1;
const SYNCHRONIZED: u32 = 2;

/// States of a thread in which the VM does not wait for it (`JavaThreadState`): in native code, and blocked.
const IN_NATIVE: u32 = 4;
const BLOCKED: u32 = 10;

/// Where HotSpot keeps what is needed.
#[derive(Debug)]
pub struct SafepointLayout {
    /// The address of the state of safepoints.
    state: usize,
    /// In a `JavaThread`: its state.
    thread_state: usize,
}

impl SafepointLayout {
    /// The layout of this VM, tested on the current thread, which is in native code. `address` finds a symbol of libjvm.
    ///
    /// # Errors
    /// Why it is not known: part of a sentence.
    pub(crate) fn find(
        env: Env,
        jni: Jni,
        mut address: impl FnMut(&str) -> Option<usize>,
    ) -> Result<SafepointLayout, &'static str> {
        // What it exports shows whether the file is the one that runs.
        let known = exported(c"gHotSpotVMStructs").map(|known| known.as_ptr() as usize);
        if known.is_none() || address("gHotSpotVMStructs") != known {
            return Err("cannot read the symbols of libjvm.so");
        }
        let state = address(STATE).ok_or("libjvm.so is stripped and has no symbol for it")?;
        let current = JavaThread::current(env, jni).ok_or("cannot find its address in a thread")?;
        let thread_state = Field::offset_of(c"JavaThread", c"_thread_state");
        let thread_state = thread_state.ok_or("the JVM does not export thread states")?;
        let is_right = doubtful::half(current.0 + thread_state) == Some(IN_NATIVE)
            && doubtful::half(state).is_some_and(|state| state <= SYNCHRONIZED);
        let layout = SafepointLayout { state, thread_state };
        if is_right { Ok(layout) } else { Err("its layout is unknown") }
    }

    /// Whether the VM is stopping all threads right now, and some have not stopped yet.
    #[inline]
    pub fn is_stopping(&self) -> bool {
        // SAFETY: a variable of libjvm, which is never unloaded.
        unsafe { load_u32(self.state) == SYNCHRONIZING }
    }

    /// Whether the VM would have to wait for a thread.
    ///
    /// # Safety
    /// The thread lives.
    pub unsafe fn is_running(&self, thread: JavaThread) -> bool {
        // SAFETY: by the caller's promise.
        !matches!(unsafe { load_u32(thread.0 + self.thread_state) }, IN_NATIVE | BLOCKED)
    }
}
