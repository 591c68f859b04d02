//! Sends the signal that stops threads, and handles it.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jvmti::Jni;
use jvmti::jni_sys::JNIEnv;
use libc::{c_int, c_void, pid_t, siginfo_t};

use crate::{compared, walker};
use agent_base::mutex::Mutex;
use hotspot::memory::JavaThread;
use hotspot::walk::RawStack;

/// What a thread needs in the handler.
pub(crate) struct Local {
    pub(crate) thread: JavaThread,
    pub(crate) jni: *mut JNIEnv,
    pub(crate) stack: RawStack,
    pub(crate) vm_frames: Box<[compared::CallFrame]>,
}

thread_local! {
    static LOCAL: Cell<*mut Local> = const { Cell::new(ptr::null_mut()) };
    /// The handler, or a callback, works with it.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

static THREADS: Mutex<Vec<pid_t>> = Mutex::new(Vec::new());
static ENDS: AtomicBool = AtomicBool::new(false);

fn current_id() -> pid_t {
    // SAFETY: it only asks.
    unsafe { libc::gettid() }
}

/// Installs the handler, and sends from now on.
pub(crate) fn begin(period_micros: u64) -> Result<(), String> {
    // SAFETY: a handler of this kind; all zeros are an action.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        if libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) != 0 {
            return Err("SIGPROF cannot be handled".into());
        }
    }
    let send = move || {
        // SAFETY: these signals are the JVM's own, not for this thread.
        unsafe {
            let mut all = std::mem::zeroed::<libc::sigset_t>();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut());
        }
        // SAFETY: it only asks.
        let process = unsafe { libc::getpid() };
        while !ENDS.load(Ordering::Acquire) {
            for &thread in THREADS.lock().iter() {
                // SAFETY: a thread that is registered lives.
                unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGPROF) };
            }
            std::thread::sleep(Duration::from_micros(period_micros));
        }
    };
    std::thread::Builder::new().spawn(send).map(drop).map_err(|error| error.to_string())
}

/// Sends no more.
pub(crate) fn end() {
    ENDS.store(true, Ordering::Release);
    THREADS.lock().clear();
}

/// The current thread gets signals from now on.
pub(crate) fn add(thread: JavaThread, jni: Jni) {
    let local = Local { thread, jni: jni.as_raw(), stack: RawStack::empty(), vm_frames: compared::frames() };
    LOCAL.set(Box::into_raw(Box::new(local)));
    THREADS.lock().push(current_id());
}

/// The current thread gets no more signals.
pub(crate) fn remove() {
    let id = current_id();
    THREADS.lock().retain(|&thread| thread != id);
    let local = LOCAL.replace(ptr::null_mut());
    if !local.is_null() {
        // SAFETY: made by `add`, and nobody else has it: the handler runs on this thread only.
        drop(unsafe { Box::from_raw(local) });
    }
}

/// The current thread's part, unless something works with it: for the time that `body` takes.
pub(crate) fn with(body: impl FnOnce(&mut Local)) {
    let local = LOCAL.get();
    if local.is_null() || IS_BUSY.replace(true) {
        return;
    }
    // SAFETY: made by `add`, used on this thread only, and by one at a time.
    body(unsafe { &mut *local });
    IS_BUSY.set(false);
}

extern "C" fn handle(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the address of this thread's own.
    let before = unsafe { *libc::__errno_location() };
    if let Some(walker) = walker() {
        with(|local| compared::with_async(walker, local, context));
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
}
