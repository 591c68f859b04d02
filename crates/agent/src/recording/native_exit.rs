//! The end of a process that calls `exit` in native code: the VM does not hear of it and reports no VMDeath, though it still runs.
//! A thread of the agent's then ends the recording in the place of VMDeath, and `exit` waits for it.

use std::ffi::{c_int, c_void};
use std::process;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use jvmti::{exported, guard};

use super::{phases, running};
use agent_base::agent_thread;
use agent_base::events::progress::{MAX_STALL_AT_END, Patience};
use agent_base::message::message;
use agent_base::native_thread;

/// How often it is looked at whether the end comes on.
const LOOK: Duration = Duration::from_millis(100);

/// The process that is recorded. A copy of it that native code forks has the same handlers, but nothing to end.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Has `exit` end the recording that runs then. A handler rather than a destructor of the library: those of other libraries, the VM's above all,
/// run later than the handler that is registered last.
pub(super) fn watch() {
    PROCESS.get_or_init(|| {
        // SAFETY: the function is there as long as the library, which the VM keeps once a recording was begun.
        unsafe { libc::atexit(exits) };
        process::id()
    });
}

extern "C" fn exits() {
    guard(|| {
        let is_recorded = PROCESS.get() == Some(&process::id());
        let Some(recording) = running::not_ended().filter(|_| is_recorded && !is_by_vm()) else { return };
        let core = recording.core;
        let (sender, ended) = channel::<()>();
        // In another thread: this one may be in any state, and need not be known to the VM.
        let end = move || {
            let _ended = sender;
            guard(|| {
                if let Ok(jni) = agent_thread::attach(core.jvm.vm, core.jvm.env, c"Martini exit") {
                    phases::end_with_vm(jni);
                }
            });
        };
        if native_thread::start("martini-exit", end).is_err() {
            return;
        }
        let mut patience = Patience::new(&core.progress, MAX_STALL_AT_END);
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if patience.is_over() {
                return message("native code called exit, and the trace has no end: the JVM does not respond");
            }
        }
    });
}

unsafe extern "C" {
    // The unwinder of Rust's own panics.
    safe fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`.
const STOP: c_int = 4;

/// Where in memory libraries begin: those to pass over, and the one that was found first behind them.
struct Search {
    passed: [Option<usize>; 2],
    found: Option<usize>,
}

/// Whether the VM has called `exit`. It does so in the middle of its work, after an error: nothing that needs the VM would return.
fn is_by_vm() -> bool {
    let passed = [base_of(exits as *const c_void), base_of(libc::exit as *const c_void)];
    let mut search = Search { passed, found: None };
    _Unwind_Backtrace(look, (&raw mut search).cast());
    let vm = exported(c"JNI_GetCreatedJavaVMs").and_then(|function| base_of(function.as_ptr()));
    search.found.is_some() && search.found == vm
}

/// # Safety
/// Called by the unwinder, with a frame and the search.
unsafe extern "C" fn look(frame: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: by the caller's promise.
    let (at, search) = unsafe { (_Unwind_GetIP(frame), &mut *search.cast::<Search>()) };
    search.found = base_of(at as *const c_void).filter(|base| !search.passed.contains(&Some(*base)));
    if search.found.is_some() { STOP } else { GO_ON }
}

/// Where the library begins that has this address.
fn base_of(address: *const c_void) -> Option<usize> {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked for, and the answer fits.
    (unsafe { libc::dladdr(address, &raw mut found) } != 0).then_some(found.dli_fbase as usize)
}
