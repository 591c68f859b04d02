//! The native thread that writes the trace.

use std::ptr::null_mut;
use std::thread::JoinHandle;

use super::outputs::Outputs;
use crate::agent::core::Core;
use crate::agent::trace_out::{Features, Writer};

/// Ends reporting when the writer's thread ends, even by a panic, so that the program does not wait for it.
struct StopOnDrop(&'static Core);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop_reporting();
    }
}

/// Starts the writer with all signals blocked: the JVM handles them on its own threads.
///
/// # Errors
/// The system has no thread for it: one sentence.
pub(super) fn start(core: &'static Core, features: Features, outputs: Outputs) -> Result<JoinHandle<()>, String> {
    let writer = Writer::begin(core, features, outputs.trace, outputs.log);
    // SAFETY: all-zero is a valid signal set, and the calls fill and read only the two given.
    let handle = unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let handle = std::thread::Builder::new().name("martini-writer".into()).spawn(move || {
            let _stops = StopOnDrop(core);
            writer.run();
        });
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        handle
    };
    handle.map_err(|e| format!("cannot start the thread that writes the trace: {e}"))
}
