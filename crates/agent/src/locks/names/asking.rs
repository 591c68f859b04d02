//! The writer of the trace knows which locks to name, and must not use JNI; the thread that ends the recording waits for the writer, and
//! looks for the names.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use jvmti::Jni;
use trace::ids::ObjectId;

use super::{LockNames, find};
use agent_core::core::Core;

/// The walk ends by itself before that, unless the JVM does not get to it.
const LONGEST: Duration = Duration::from_secs(8);

/// Asks for names.
pub(crate) struct NameAsker(Sender<NameRequest>);

/// A question, for the thread that ends the recording.
pub(crate) struct NameRequest {
    wanted: Vec<ObjectId>,
    answer: Sender<LockNames>,
}

impl NameAsker {
    /// One whose questions arrive at that channel.
    pub(crate) fn new(requests: Sender<NameRequest>) -> NameAsker {
        NameAsker(requests)
    }

    /// The names of locks; `None` if nobody answers.
    pub(crate) fn ask(&self, wanted: Vec<ObjectId>) -> Option<LockNames> {
        let (answer, answers) = channel();
        self.0.send(NameRequest { wanted, answer }).ok()?;
        answers.recv_timeout(LONGEST).ok()
    }
}

impl NameRequest {
    /// Looks for the names.
    pub(crate) fn answer(self, core: &Core, jni: Jni) {
        match find(core, jni, &self.wanted) {
            // The writer may have given up.
            Ok(names) => drop(self.answer.send(names)),
            Err(error) => core.count_failure("names of locks", error),
        }
    }
}
