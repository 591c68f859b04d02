//! Loaders that are asked by threads of the agent's own, since another thread may have them locked for ever.

use std::collections::VecDeque;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use jvmti::SharedRef;

use agent_base::mutex::Mutex;

/// So long one loader may keep the others from being asked.
const LONGEST_TURN: Duration = Duration::from_millis(250);
/// So many loaders may.
const MOST_THREADS: usize = 4;

/// Classes of one loader, by global references.
pub(super) type Group = Vec<SharedRef>;

#[derive(Default)]
struct State {
    waiting: VecDeque<Group>,
    /// Groups that were handed over and are neither done nor given up.
    open: usize,
    /// Groups ever done.
    done: u64,
}

/// The groups; one queue for the JVM.
#[derive(Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

impl Waiting {
    /// Hands groups over to threads that `start` starts, as long as it can; another one when a loader takes too long. Returns the groups
    /// that nobody has come to.
    pub(super) fn ask(&self, groups: Vec<Group>, mut start: impl FnMut() -> bool) -> Vec<Group> {
        let mut state = self.state.lock();
        state.open = groups.len();
        state.waiting = groups.into();
        for _ in 0..MOST_THREADS {
            drop(state);
            let is_started = start();
            state = self.state.lock();
            while is_started && state.open > 0 {
                let before = state.done;
                let waited = self.changed.wait_timeout_while(state, LONGEST_TURN, |state| state.done == before);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                if state.done == before {
                    break;
                }
            }
            if !is_started || state.waiting.is_empty() {
                break;
            }
        }
        std::mem::take(&mut state.waiting).into()
    }

    /// On such a thread: the next group.
    pub(super) fn take(&self) -> Option<Group> {
        self.state.lock().waiting.pop_front()
    }

    /// On such a thread: the group is done with, perhaps long after it was waited for.
    pub(super) fn done(&self) {
        let mut state = self.state.lock();
        state.open = state.open.saturating_sub(1);
        state.done += 1;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    fn groups(classes: impl IntoIterator<Item = usize>) -> Vec<Group> {
        classes.into_iter().map(|class| vec![SharedRef(without_provenance_mut(class))]).collect()
    }

    /// Asks all groups; those below 100 do not answer before the end.
    fn ask(waiting: &Waiting, all: Vec<Group>) -> usize {
        let (release, stuck) = channel::<()>();
        let stuck = Mutex::new(stuck);
        thread::scope(|scope| {
            let left = waiting.ask(all, || {
                scope.spawn(|| {
                    while let Some(group) = waiting.take() {
                        if group[0].0.addr() < 100 {
                            let _ = stuck.lock().recv();
                        }
                        waiting.done();
                    }
                });
                true
            });
            drop(release);
            left.len()
        })
    }

    #[test]
    fn one_that_is_locked_keeps_no_other_from_being_asked() {
        let waiting = Waiting::default();
        assert_eq!(ask(&waiting, groups([8].into_iter().chain(100..200))), 0);
        assert_eq!(ask(&waiting, groups(100..200)), 0);
        assert_eq!(ask(&waiting, groups([8, 16, 24, 32].into_iter().chain(100..200))), 100);
        assert_eq!(waiting.ask(groups([100]), || false).len(), 1);
    }
}
