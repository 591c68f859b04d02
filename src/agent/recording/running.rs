//! Which recording runs, and whose turn it is to begin or end one: one thread at a time.

use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use super::Recording;
use super::request::Untaken;
use crate::agent::mutex::Mutex;

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
            return Err("the JVM is about to end".to_owned().into());
        }
        if state.is_taken {
            return Err(Untaken::Busy);
        }
        state.is_taken = true;
        Ok(Turn(()))
    }

    /// The VM ends: takes the last turn, for which it waits at most so long. `None` if whoever has it does not come to an end.
    pub(super) fn last(longest: Duration) -> Option<Turn> {
        let mut state = STATE.lock();
        state.has_ended = true;
        let waited = CHANGED.wait_timeout_while(state, longest, |state| state.is_taken);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        // Not `then_some`: a turn that is not given must not be made, since it is given back when it is dropped.
        (!std::mem::replace(&mut state.is_taken, true)).then(|| Turn(()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_vm_does_not_wait_for_ever() {
        let turn = Turn::take().expect("nobody else has it");
        assert!(Turn::last(Duration::from_millis(1)).is_none());
        // Whoever has the turn comes to an end, and nobody is next.
        drop(turn);
        assert_eq!(Turn::take().unwrap_err(), Untaken::For("the JVM is about to end".to_owned()));
    }
}
