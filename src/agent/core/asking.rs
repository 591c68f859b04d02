//! What is asked of the control thread of a recording: a snapshot. Whoever asks waits for it, at most for some time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct State {
    asked: u64,
    answered: u64,
    /// Whether the last one was made.
    is_made: bool,
}

/// Requests for snapshots.
#[derive(Default)]
pub(crate) struct SnapshotRequests {
    state: Mutex<State>,
    changed: Condvar,
}

impl SnapshotRequests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a snapshot. Whether it was made; `None` if there is no answer for so long.
    pub(crate) fn ask(&self, longest: Duration) -> Option<bool> {
        let mut state = self.lock();
        state.asked += 1;
        let own = state.asked;
        let waited = self.changed.wait_timeout_while(state, longest, |state| state.answered < own);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        (state.answered >= own).then_some(state.is_made)
    }

    /// On the control thread: makes a snapshot if one was asked for; `make` says whether there was something to make.
    pub(crate) fn answer(&self, make: impl FnOnce() -> bool) {
        let asked = self.lock().asked;
        if self.lock().answered == asked {
            return;
        }
        let is_made = make();
        let mut state = self.lock();
        (state.answered, state.is_made) = (asked, is_made);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_learns_whether_something_was_made() {
        let requests = SnapshotRequests::default();
        requests.answer(|| panic!("nobody has asked"));
        assert_eq!(requests.ask(Duration::ZERO), None);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| requests.ask(Duration::from_secs(60)));
            while requests.lock().asked < 2 {
                std::thread::yield_now();
            }
            requests.answer(|| true);
            assert_eq!(asking.join().ok(), Some(Some(true)));
        });
        requests.answer(|| panic!("it was answered"));
    }
}
