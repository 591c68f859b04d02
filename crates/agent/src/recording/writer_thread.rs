//! The native thread that writes the trace.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use jvmti::Jni;

use super::outputs::Outputs;
use crate::locks::{NameAsker, NameRequest};
use agent_base::events::progress::{MAX_STALL_AT_END, Patience};
use agent_base::message::message;
use agent_base::native_thread;
use agent_core::core::Core;
use agent_trace::{Output, Section, Writer};

/// How often the end of a recording looks whether the writer gets on.
const LOOK: Duration = Duration::from_millis(100);

/// Ends reporting when the writer's thread ends, even by a panic, so that the program does not wait for it.
struct StopOnDrop {
    core: &'static Core,
    _ended: Sender<NameRequest>,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.core.stop_reporting();
    }
}

/// The writer's thread.
pub(super) struct WriterThread {
    handle: JoinHandle<()>,
    /// Closed when the thread ends.
    requests: Receiver<NameRequest>,
}

impl WriterThread {
    /// Answers the writer and waits until the trace is written, or nothing of it is written for long; then the thread is left behind.
    /// Whether it has ended.
    pub(super) fn finish(self, core: &Core, jni: Jni) -> bool {
        self.handle.thread().unpark();
        let mut patience = Patience::new(&core.progress, MAX_STALL_AT_END);
        loop {
            match self.requests.recv_timeout(LOOK) {
                Ok(request) => {
                    request.answer(core, jni);
                    core.progress.step();
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if patience.is_over() {
                message(&format!(
                    "the trace {} ends early: it accepted no data for {} seconds; check the pipe's reader or the file \
                     system",
                    core.trace_path.display(),
                    MAX_STALL_AT_END.as_secs()
                ));
                return false;
            }
        }
        if self.handle.join().is_err() {
            message("the trace writer failed; the trace ends early");
        }
        true
    }
}

/// Starts the writer, with what features add to the trace and, with `locklog`, to a second file.
///
/// # Errors
/// The system has no thread for it: one sentence.
pub(super) fn start(
    core: &'static Core,
    outputs: Outputs,
    sections: impl FnOnce(NameAsker, Option<Output>) -> Vec<Box<dyn Section>> + Send + 'static,
) -> Result<WriterThread, String> {
    let (sender, requests) = channel();
    let begin = move || {
        let asker = NameAsker::new(sender.clone());
        let _stops = StopOnDrop { core, _ended: sender };
        Writer::begin(core, outputs.trace, sections(asker, outputs.log)).run();
    };
    let handle = native_thread::start(agent_options::WRITER, begin);
    match handle {
        Ok(handle) => {
            core.set_writer(handle.thread().clone());
            Ok(WriterThread { handle, requests })
        }
        Err(error) => Err(format!("cannot start the trace writer: {error}")),
    }
}
