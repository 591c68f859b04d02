//! Static initialisers that run: when each began, who made it run, and when it ended.
//!
//! The VM logs that one begins, and not that it ends. Where it lies in memory shows whether it still runs, which is looked at each
//! millisecond; those that are over at the first look took less and are counted by the VM's own counters alone. At the first look at
//! one that runs, its thread is asked for its stack, which shows who made it run.

use trace::time::Nanos;

use super::report::Initialiser;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use hotspot::class_states::ClassStates;
use hotspot::walk::{Frame, Walker};

/// One that took less is in no row of its own.
pub(super) const SHOWN: Nanos = Nanos(1_000_000);
/// So many run at a time, at most.
const MOST: usize = 1024;

/// Where a thread was that runs one.
pub(super) type Answer = (Option<ThreadIndex>, Result<Box<[Frame]>, &'static str>);

struct Running {
    class: Box<str>,
    klass: usize,
    tid: libc::pid_t,
    begun: Ticks,
    /// Where its thread was, once it has run for long enough to be asked.
    asked: Option<Answer>,
}

/// Those that run.
#[derive(Default)]
pub(super) struct Initialisers {
    running: Vec<Running>,
}

impl Initialisers {
    /// One begins. False if there is no room.
    pub(super) fn begins(&mut self, class: &str, klass: usize, tid: libc::pid_t, begun: Ticks) -> bool {
        let has_room = self.running.len() < MOST;
        if has_room {
            self.running.push(Running { class: class.into(), klass, tid, begun, asked: None });
        }
        has_room
    }

    /// Whether none runs.
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Looks which still run: hands over those that have ended and took long, and asks by `ask` where the threads of others are.
    pub(super) fn look(
        &mut self,
        now: Ticks,
        states: ClassStates,
        mut ask: impl FnMut(libc::pid_t, &str) -> Answer,
        mut ended: impl FnMut(Initialiser),
    ) {
        self.running.retain_mut(|running| {
            if states.is_initialising(running.klass) == Some(true) {
                if running.asked.is_none() && now.0.saturating_sub(running.begun.0) >= SHOWN.0 {
                    running.asked = Some(ask(running.tid, &running.class));
                }
                return true;
            }
            let _ = running.take(now, false).map(&mut ended);
            false
        });
    }

    /// Hands over those that still run at the end of the recording.
    pub(super) fn end(&mut self, now: Ticks, mut ended: impl FnMut(Initialiser)) {
        for mut running in std::mem::take(&mut self.running) {
            let _ = running.take(now, true).map(&mut ended);
        }
    }
}

impl Running {
    /// What is to be said of it; `None` if it took too short to be seen running.
    fn take(&mut self, now: Ticks, runs_on: bool) -> Option<Initialiser> {
        let (thread, stack) = self.asked.take()?;
        let total = Nanos(now.0.saturating_sub(self.begun.0));
        Some(Initialiser { class: self.class.clone(), thread, begun: self.begun, total, runs_on, stack })
    }
}

/// The part of a stack that shows who made the initialiser of a class run: from its frame outwards; all of it if it is not there.
pub(super) fn from_initialiser<'f>(walker: &Walker, class: &str, frames: &'f [Frame]) -> &'f [Frame] {
    let is_it = |frame: &Frame| {
        walker.method(frame.method).is_some_and(|names| names.name == b"<clinit>" && names.class == class.as_bytes())
    };
    frames.iter().position(is_it).map_or(frames, |at| &frames[at..])
}
