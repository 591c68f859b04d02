//! A program that runs out of memory.
//!
//! With `-XX:+ExitOnOutOfMemoryError` the VM exits before any agent hears of it. So while a recording runs that flag is off, and
//! the agent exits as the VM would once dump and trace are complete. `CrashOnOutOfMemoryError`, whose crash only the VM can make, stays
//! on: what can be done there is in `heap_dump::by_vm`.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jvmti::jni_sys::{JNIEnv, jint};
use jvmti::sys::{JVMTI_EVENT_RESOURCE_EXHAUSTED, JVMTI_RESOURCE_EXHAUSTED_THREADS, jvmtiEnv};
use jvmti::{Jni, guard};

use super::{phases, running};
use crate::heap_dump;
use agent_core::core::Core;
use agent_core::core::context::Entry;
use hotspot::Hotspot;

/// The status with which the VM exits.
const STATUS: i32 = 3;
/// The first release that exits without running what the process has registered for its exit.
const FIRST_TO_EXIT_AT_ONCE: u32 = 21;

const FLAG: &CStr = c"ExitOnOutOfMemoryError";

/// The VM's exit, while the agent does it in its place.
#[derive(Debug, Default)]
pub(super) struct OutOfMemoryExit {
    is_ours: AtomicBool,
}

impl OutOfMemoryExit {
    /// Takes it over, if the VM would exit. Before features begin, which look at the flag.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn take_over(&self, core: &Core) -> Result<(), String> {
        if let Some(hotspot) = core.hotspot.filter(|hotspot| hotspot.exits_on_out_of_memory()) {
            core.jvm.env.enable_event(JVMTI_EVENT_RESOURCE_EXHAUSTED).map_err(|e| e.to_string())?;
            self.is_ours.store(true, Ordering::Relaxed);
            set_flag(hotspot, false);
        }
        Ok(())
    }

    /// Gives it back. The VM looks at the flag at its first `OutOfMemoryError` alone, so not at one for which the agent exits.
    pub(super) fn give_back(&self, core: &Core) {
        if let Some(hotspot) = core.hotspot.filter(|_| self.is_ours.swap(false, Ordering::Relaxed)) {
            set_flag(hotspot, true);
        }
    }
}

fn set_flag(hotspot: &Hotspot, value: bool) {
    // SAFETY: the VM looks at it at each `OutOfMemoryError`.
    unsafe { hotspot.set_bool_flag(FLAG, value) };
}

/// A thread exits.
static BEGUN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// It is this one.
    static IS_EXITING: Cell<bool> = const { Cell::new(false) };
}

/// JVMTI `ResourceExhausted`. Threads of the agent's do not count: they would wait for themselves.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn resource_exhausted(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    flags: jint,
    _: *const c_void,
    description: *const c_char,
) {
    guard(|| {
        // What the end itself has no room for is left out.
        if Entry::is_inside() || IS_EXITING.get() {
            return;
        }
        heap_dump::exhausted(flags);
        // The VM exits for no thread that the system has no room for.
        let is_of_threads = flags & JVMTI_RESOURCE_EXHAUSTED_THREADS as jint != 0;
        let is_ours = running::running().is_some_and(|recording| recording.exit.is_ours.load(Ordering::Relaxed));
        // Nor goes any thread on that has no memory once one of them exits.
        if !is_of_threads && (is_ours || BEGUN.load(Ordering::SeqCst)) {
            // SAFETY: the VM passes this thread's environment, and a text or null.
            unsafe {
                let what = if description.is_null() { c"" } else { CStr::from_ptr(description) };
                exit(Jni::from_raw(jni), what);
            }
        }
    });
}

/// Ends the recording and then the process, as the VM would have ended it.
fn exit(jni: Jni, what: &CStr) {
    while BEGUN.swap(true, Ordering::SeqCst) {
        // For the other thread, which exits.
        std::thread::sleep(Duration::from_secs(1));
    }
    IS_EXITING.set(true);
    let java = running::running().map_or(0, |recording| recording.core.jvm.java);
    phases::end_with_vm(jni);
    let line = format!("Terminating due to java.lang.OutOfMemoryError: {}\n", what.to_string_lossy());
    // SAFETY: the text is as long as that; neither call returns. Before JDK 21 the VM has what is registered run, too.
    unsafe {
        libc::write(libc::STDOUT_FILENO, line.as_ptr().cast(), line.len());
        if java < FIRST_TO_EXIT_AT_ONCE {
            libc::exit(STATUS);
        }
        libc::_exit(STATUS);
    }
}
