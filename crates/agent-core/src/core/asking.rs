//! What is asked of the control thread of a recording: a snapshot. Whoever asks waits for it, at most for some time.

use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use agent_base::clock::Ticks;
use agent_base::mutex::Mutex;

/// What a snapshot is to be of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What lives on the heap, too.
    pub live: bool,
    /// The time to which it belongs, if the thread that asks has done nothing since; else that at which it is made.
    pub at: Option<Ticks>,
}

impl Wanted {
    /// Of two that one snapshot is for.
    fn and(self, other: Wanted) -> Wanted {
        Wanted { live: self.live || other.live, at: self.at.max(other.at) }
    }
}

#[derive(Default)]
struct State {
    asked: u64,
    answered: u64,
    /// What those want that wait.
    wanted: Wanted,
    /// Whether the last one was made.
    is_made: bool,
}

/// Requests for snapshots.
#[derive(Default)]
pub struct SnapshotRequests {
    state: Mutex<State>,
    changed: Condvar,
}

impl SnapshotRequests {
    /// Asks for a snapshot, and has the control thread woken for it. Whether it was made;
    /// `None` if there is no answer for so long.
    pub(crate) fn ask(&self, wanted: Wanted, longest: Duration, wake: impl FnOnce()) -> Option<bool> {
        let own = {
            let mut state = self.state.lock();
            state.asked += 1;
            state.wanted = state.wanted.and(wanted);
            state.asked
        };
        wake();
        let waited = self.changed.wait_timeout_while(self.state.lock(), longest, |state| state.answered < own);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        (state.answered >= own).then_some(state.is_made)
    }

    /// On the control thread: makes a snapshot if one was asked for. `make` says whether there was something to make.
    pub fn answer(&self, make: impl FnOnce(Wanted) -> bool) {
        let (asked, wanted) = {
            let mut state = self.state.lock();
            if state.answered == state.asked {
                return;
            }
            (state.asked, std::mem::take(&mut state.wanted))
        };
        let is_made = make(wanted);
        let mut state = self.state.lock();
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
        requests.answer(|_| panic!("nobody has asked"));
        assert_eq!(requests.ask(Wanted { live: true, at: None }, Duration::ZERO, || ()), None);
        std::thread::scope(|scope| {
            let asking = scope
                .spawn(|| requests.ask(Wanted { live: false, at: Some(Ticks(7)) }, Duration::from_secs(60), || ()));
            while requests.state.lock().asked < 2 {
                std::thread::yield_now();
            }
            requests.answer(|wanted| wanted == Wanted { live: true, at: Some(Ticks(7)) });
            assert_eq!(asking.join().ok(), Some(Some(true)));
        });
        requests.answer(|_| panic!("it was answered"));
    }
}
