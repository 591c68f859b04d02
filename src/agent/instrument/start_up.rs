//! How the thread of VMInit and the agent's own thread wait for each other while the agent starts.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Better an incomplete start, which the trace shows, than a program that hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How far the start has come; stages are reached in this order, and some may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StartStage {
    /// The agent's thread does not run yet.
    #[default]
    Begun,
    /// The agent's thread runs.
    Up,
    /// The agent's thread is to take its share of the classes.
    Share,
    /// All classes are retransformed.
    Shared,
}

/// The stage, and who waits for the next.
#[derive(Default)]
pub(crate) struct StartUp {
    stage: Mutex<StartStage>,
    /// Threads that have come to the meeting.
    met: Mutex<usize>,
    changed: Condvar,
    met_changed: Condvar,
}

impl StartUp {
    /// Says that a stage is reached.
    pub(crate) fn reach(&self, stage: StartStage) {
        let mut reached = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        *reached = (*reached).max(stage);
        drop(reached);
        self.changed.notify_all();
    }

    /// Waits for a stage or a later one, and returns it; returns an earlier one if the other thread does not come.
    pub(crate) fn wait_for(&self, stage: StartStage) -> StartStage {
        let reached = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(reached, LONGEST_WAIT, |reached| *reached < stage);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Says that one of the two threads has come to the meeting, or never will.
    pub(crate) fn arrive(&self) {
        *self.met.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.met_changed.notify_all();
    }

    /// Comes to the meeting, and waits for the other thread.
    pub(crate) fn meet(&self) {
        self.arrive();
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.met_changed.wait_timeout_while(met, LONGEST_WAIT, |met| *met < 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_stage_ends_the_wait_for_an_earlier_one() {
        let start = StartUp::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| start.wait_for(StartStage::Share));
            start.reach(StartStage::Up);
            start.reach(StartStage::Shared);
            assert_eq!(waiting.join().ok(), Some(StartStage::Shared));
        });
    }

    #[test]
    fn two_threads_meet() {
        let start = StartUp::default();
        std::thread::scope(|scope| {
            scope.spawn(|| start.meet());
            start.meet();
        });
    }
}
