//! Threads of the agent's own that the VM does not know.

use std::io;
use std::ptr::null_mut;
use std::thread::JoinHandle;

/// Starts a thread with all signals blocked: the VM handles them on its own threads.
///
/// # Errors
/// The system has no thread for it.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
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
