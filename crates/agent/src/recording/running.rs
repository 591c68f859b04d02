//! Which recording runs, and whose turn it is to begin or end one: one thread at a time.

use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use super::Recording;
use super::request::Untaken;
use agent_base::mutex::Mutex;

/// The state of the JVM's recordings.
struct State {
    running: Option<&'static Recording>,
    /// Somebody has the turn.
    is_taken: bool,
    /// The VM ends: nobody gets a turn any more.
    has_ended: bool,
}

static STATE: Mutex<State> = Mutex::new(State { running: None, is_taken: false, has_ended: false });
static CHANGED: Condvar = Condvar::new();

/// How long whoever has the turn is stuck before nobody waits for it any longer.
const LONGEST_STUCK: Duration = Duration::from_millis(500);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Why the end of the VM does not get the turn.
pub(super) enum NoTurn {
    /// A request is stuck, about this recording.
    Stuck(&'static Recording),
    /// A request takes too long.
    Late,
}

/// The right to begin and end recordings, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(());

impl Turn {
    /// Takes the turn.
    ///
    /// # Errors
    /// Why it cannot be had now.
    pub(super) fn take() -> Result<Turn, Untaken> {
        let mut state = STATE.lock();
        if state.has_ended {
            return Err("the JVM is about to exit".to_owned().into());
        }
        if state.is_taken {
            return Err(Untaken::Later("another request is in progress; try again when it has finished".to_owned()));
        }
        state.is_taken = true;
        Ok(Turn(()))
    }

    /// The VM ends: takes the last turn, for which it waits at most so long.
    ///
    /// # Errors
    /// Whoever has it does not come to an end, or `is_stuck` for a while.
    pub(super) fn last(longest: Duration, is_stuck: impl Fn(&Recording) -> bool) -> Result<Turn, NoTurn> {
        let begun = Instant::now();
        let mut stuck_since: Option<Instant> = None;
        let mut state = STATE.lock();
        state.has_ended = true;
        while std::mem::replace(&mut state.is_taken, true) {
            let running = state.running.filter(|running| is_stuck(running));
            let since = running.map(|_| *stuck_since.get_or_insert_with(Instant::now));
            stuck_since = since;
            if let (Some(recording), Some(since)) = (running, since)
                && since.elapsed() > LONGEST_STUCK
            {
                return Err(NoTurn::Stuck(recording));
            }
            if begun.elapsed() > longest {
                return Err(NoTurn::Late);
            }
            state = CHANGED.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Turn(()))
    }

    /// The recording that runs.
    pub(super) fn running(&self) -> Option<&'static Recording> {
        STATE.lock().running
    }

    /// Another recording runs from now on, or none.
    pub(super) fn set_running(&self, recording: Option<&'static Recording>) {
        STATE.lock().running = recording;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        STATE.lock().is_taken = false;
        CHANGED.notify_all();
    }
}

/// The recording that runs, for the events of the VM's start.
pub(super) fn running() -> Option<&'static Recording> {
    STATE.lock().running
}

/// The recording that runs, unless the VM ends it already.
pub(super) fn not_ended() -> Option<&'static Recording> {
    let state = STATE.lock();
    state.running.filter(|_| !state.has_ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_vm_does_not_wait_for_ever() {
        let turn = Turn::take().expect("nobody else has it");
        assert!(matches!(Turn::last(Duration::from_millis(1), |_| false), Err(NoTurn::Late)));
        // Whoever has the turn comes to an end, and nobody is next.
        drop(turn);
        assert_eq!(Turn::take().unwrap_err(), Untaken::For("the JVM is about to exit".to_owned()));
    }
}
