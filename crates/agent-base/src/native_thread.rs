//! Threads of the agent's own that the VM does not know; and which threads are the agent's, for who counts their time.

use std::io;
use std::ptr::null_mut;
use std::thread::JoinHandle;

use crate::mutex::Mutex;

/// The numbers that the system has for the agent's threads, whether the VM knows them or not.
static OWN_TASKS: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// The current thread is one of the agent's own, as long as this lives.
pub(crate) struct OwnTask(libc::pid_t);

impl OwnTask {
    pub(crate) fn enter() -> OwnTask {
        // SAFETY: no argument.
        let tid = unsafe { libc::gettid() };
        OWN_TASKS.lock().push(tid);
        OwnTask(tid)
    }
}

impl Drop for OwnTask {
    fn drop(&mut self) {
        OWN_TASKS.lock().retain(|&tid| tid != self.0);
    }
}

/// Whether the thread of that number is one of the agent's own.
pub fn is_own_task(tid: libc::pid_t) -> bool {
    OWN_TASKS.lock().contains(&tid)
}

/// Starts a thread with all signals blocked: the VM handles them on its own threads.
///
/// # Errors
/// The system has no thread for it.
pub fn start<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    let body = move || {
        let _own = OwnTask::enter();
        body()
    };
    // SAFETY: all-zero is a valid signal set, and the calls fill and read only the two given.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let handle = std::thread::Builder::new().name(name.into()).spawn(body);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        handle
    }
}
