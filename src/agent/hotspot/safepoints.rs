//! Whether the VM is stopping all threads right now, and which threads it waits for.
//!
//! `SafepointSynchronize::_state` is not among what HotSpot exports for debuggers: it is looked up in libjvm's symbol table, which
//! a packager may have removed. The states of threads are exported.

use std::os::raw::c_int;

use jvmti::{Env, Field, Jni, exported};

use super::doubtful;
use super::memory::{JavaThread, load_u32};
use crate::agent::native_symbols::NativeSymbols;

/// `SafepointSynchronize::_state`.
const STATE: &str = "_ZN20SafepointSynchronize6_stateE";
/// Its values: threads run (0), are being stopped, have stopped.
const SYNCHRONIZING: u32 = 1;
const SYNCHRONIZED: u32 = 2;

/// States of a thread in which the VM does not wait for it (`JavaThreadState`): in native code, and blocked.
const IN_NATIVE: u32 = 4;
const BLOCKED: u32 = 10;

/// The number of a thread in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemThread(pub(crate) c_int);

/// Where HotSpot keeps what is needed.
#[derive(Debug)]
pub(crate) struct SafepointLayout {
    /// The address of the state of safepoints.
    state: usize,
    /// In a `JavaThread`: its state, and the address of its `OSThread`; in that its number.
    thread_state: usize,
    os_thread: usize,
    thread_id: usize,
}

impl SafepointLayout {
    /// The layout of this VM, tested on the current thread, which is in native code.
    ///
    /// # Errors
    /// Why it is not known: part of a sentence.
    pub(crate) fn find(env: Env, jni: Jni) -> Result<SafepointLayout, &'static str> {
        let mut symbols = NativeSymbols::new();
        let mut address = |symbol| symbols.address_of("libjvm.so", symbol);
        // What it exports shows whether the file is the one that runs.
        let known = exported(c"gHotSpotVMStructs").map(|known| known.as_ptr() as usize);
        if known.is_none() || address("gHotSpotVMStructs") != known {
            return Err("the symbols of libjvm.so cannot be read");
        }
        let state = address(STATE).ok_or("libjvm.so has no symbol of it, since it was stripped")?;
        let thread = |name| Field::offset_of(c"JavaThread", name).or_else(|| Field::offset_of(c"Thread", name));
        let fields =
            || Some((thread(c"_thread_state")?, thread(c"_osthread")?, Field::offset_of(c"OSThread", c"_thread_id")?));
        let (thread_state, os_thread, thread_id) = fields().ok_or("the JVM does not export the states of threads")?;
        let layout = SafepointLayout { state, thread_state, os_thread, thread_id };
        let current = JavaThread::current(env, jni).ok_or("a thread does not show its address")?;
        // SAFETY: no argument.
        let own = SystemThread(unsafe { libc::gettid() });
        let is_right = doubtful::half(current.0 + thread_state) == Some(IN_NATIVE)
            && layout.system_thread(current) == Some(own)
            && doubtful::half(state).is_some_and(|state| state <= SYNCHRONIZED);
        if is_right { Ok(layout) } else { Err("its layout is not the one that is known") }
    }

    /// Whether the VM is stopping all threads right now, and some have not stopped yet.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        // SAFETY: a variable of libjvm, which is never unloaded.
        unsafe { load_u32(self.state) == SYNCHRONIZING }
    }

    /// Whether the VM would have to wait for a thread.
    ///
    /// # Safety
    /// The thread lives.
    pub(crate) unsafe fn is_running(&self, thread: JavaThread) -> bool {
        // SAFETY: by the caller's promise.
        !matches!(unsafe { load_u32(thread.0 + self.thread_state) }, IN_NATIVE | BLOCKED)
    }

    /// The number of a thread in the system; `None` if its memory does not show it.
    pub(crate) fn system_thread(&self, thread: JavaThread) -> Option<SystemThread> {
        let os_thread = doubtful::word(thread.0 + self.os_thread).filter(|&address| address != 0)?;
        doubtful::half(os_thread + self.thread_id)
            .map(|number| SystemThread(number as c_int))
            .filter(|thread| thread.0 > 0)
    }
}
