//! Answers to data requests, on their way to the writer.

use trace::ids::ObjectId;
use trace::model::ThreadState;

use agent_base::ids::{StackIndex, ThreadIndex};
use agent_base::mutex::Mutex;

/// What a thread does.
pub(crate) struct ThreadSnapshot {
    pub(crate) thread: ThreadIndex,
    pub(crate) name: String,
    pub(crate) state: ThreadState,
    pub(crate) priority: u64,
    pub(crate) is_daemon: bool,
    pub(crate) object: Option<ObjectId>,
    pub(crate) stack: StackIndex,
}

/// Who owns a monitor and who waits for it.
pub(crate) struct MonitorSnapshot {
    pub(crate) object: ObjectId,
    pub(crate) owner: Option<ThreadIndex>,
    /// `None` for a lock of `java.util.concurrent`, of which only the owner is known.
    pub(crate) usage: Option<Usage>,
}

/// What JVMTI says of a monitor.
#[derive(Default)]
pub(crate) struct Usage {
    /// `None` if the JVM is not asked for it.
    pub(crate) entry_count: Option<u64>,
    pub(crate) waiters: Vec<ThreadIndex>,
    pub(crate) notify_waiters: Vec<ThreadIndex>,
}

/// One answer.
#[derive(Default)]
pub(crate) struct LockSnapshot {
    pub(crate) threads: Vec<ThreadSnapshot>,
    pub(crate) monitors: Vec<MonitorSnapshot>,
    /// Threads and monitors that there was no time for.
    pub(crate) skipped: u64,
}

impl LockSnapshot {
    /// The threads that wait for each monitor of which the JVM was not asked: as far as they are in the answer.
    pub(super) fn add_waiters(&mut self) {
        for monitor in &mut self.monitors {
            let Some(usage) = monitor.usage.as_mut().filter(|usage| usage.entry_count.is_none()) else { continue };
            for thread in self.threads.iter().filter(|thread| thread.object == Some(monitor.object)) {
                match thread.state {
                    ThreadState::Blocked => usage.waiters.push(thread.thread),
                    _ => usage.notify_waiters.push(thread.thread),
                }
            }
        }
    }
}

/// Those that the writer has not taken yet, by their numbers.
#[derive(Default)]
pub(super) struct Answers(Mutex<Vec<Option<LockSnapshot>>>);

impl Answers {
    /// Hands over an answer; the number is for the event.
    pub(super) fn add(&self, answer: LockSnapshot) -> u32 {
        let mut answers = self.0.lock();
        answers.push(Some(answer));
        answers.len() as u32 - 1
    }

    /// How many there are.
    pub(super) fn untaken(&self) -> usize {
        self.0.lock().iter().flatten().count()
    }

    /// The answer of that number.
    pub(super) fn take(&self, number: u32) -> Option<LockSnapshot> {
        self.0.lock().get_mut(number as usize)?.take()
    }

    /// Forgets all of them.
    pub(super) fn release(&self) {
        *self.0.lock() = Vec::new();
    }
}
