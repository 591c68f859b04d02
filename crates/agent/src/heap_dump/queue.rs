//! The dumps that are wanted, and the waits for them. Each wait has a limit: it ends when the dump makes no progress.

use std::collections::VecDeque;
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Reason;
use super::progress::Progress;
use agent_base::mutex::Mutex;

/// How often a thread that waits looks for progress.
const LOOK: Duration = Duration::from_millis(500);
/// A program that ends waits so long for the collection in front of a dump.
const LONGEST_COLLECTION: Duration = Duration::from_secs(10);
/// The thread that dumps looks up so often even if nobody wakes it.
const LONGEST_REST: Duration = Duration::from_secs(10);

#[derive(Default)]
struct State {
    /// Waits end when there is no progress for so long.
    patience: Duration,
    wanted: VecDeque<Reason>,
    asked: u64,
    done: u64,
    /// One is being made.
    making: bool,
    /// No more are made.
    closed: bool,
    /// The dump that is being made waits for a collection.
    collecting: bool,
    /// The program ends: the VM stops its collector, and may never collect again.
    vm_ends: bool,
    /// A wait has reached its limit, and no dump was made since: nobody waits any more.
    is_stuck: bool,
}

/// The queue.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) progress: Progress,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// What was waited for has come.
    Over,
    /// There was no progress for too long.
    GaveUp,
}

impl Queue {
    /// An empty one, whose waits end when there is no progress for so long.
    pub(super) fn new(patience: Duration) -> Queue {
        let state = State { patience, ..State::default() };
        Queue { state: Mutex::new(state), changed: Condvar::new(), progress: Progress::default() }
    }

    /// From now on waits end when there is no progress for so long.
    pub(super) fn set_patience(&self, patience: Duration) {
        self.state.lock().patience = patience;
    }

    /// Waits until it is over.
    fn wait(&self, mut state: MutexGuard<'_, State>, is_over: impl Fn(&State) -> bool) -> Waited {
        let (mut seen, mut since) = (self.progress.now(), Instant::now());
        while !is_over(&state) {
            if state.is_stuck || since.elapsed() >= state.patience {
                state.is_stuck = true;
                return Waited::GaveUp;
            }
            let rest = LOOK.min(state.patience);
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
            let now = self.progress.now();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
        Waited::Over
    }

    /// Asks for a dump and returns at once.
    pub(super) fn ask(&self, reason: Reason) {
        self.add(&mut self.state.lock(), reason);
    }

    /// Asks for a dump and waits until it is made, or given up.
    pub(super) fn ask_and_wait(&self, reason: Reason) -> Waited {
        let mut state = self.state.lock();
        self.add(&mut state, reason);
        let mine = state.asked;
        self.wait(state, |state| state.closed || state.done >= mine)
    }

    fn add(&self, state: &mut State, reason: Reason) {
        if !state.closed {
            state.wanted.push_back(reason);
            state.asked += 1;
            self.changed.notify_all();
        }
    }

    /// Refuses further dumps, and waits for the one that is being made.
    pub(super) fn close(&self) -> Waited {
        let mut state = self.state.lock();
        state.closed = true;
        self.changed.notify_all();
        self.wait(state, |state| !state.making)
    }

    /// The next dump to make; `None` once closed. If an interval is given, `is_requested` is asked that often.
    pub(super) fn next(&self, interval: Option<Duration>, mut is_requested: impl FnMut() -> bool) -> Option<Reason> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(reason) = state.wanted.pop_front() {
                state.making = true;
                return Some(reason);
            }
            if interval.is_some() {
                drop(state);
                let is_requested = is_requested();
                state = self.state.lock();
                if is_requested {
                    self.add(&mut state, Reason::Request);
                    continue;
                }
            }
            let rest = interval.unwrap_or(LONGEST_REST);
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Runs a collection for the dump that is being made, unless the VM ends.
    pub(super) fn collect<T>(&self, collection: impl FnOnce() -> T) -> Option<T> {
        let mut state = self.state.lock();
        if state.vm_ends {
            return None;
        }
        state.collecting = true;
        drop(state);
        let result = collection();
        self.state.lock().collecting = false;
        self.changed.notify_all();
        Some(result)
    }

    /// Whether the program ends, and needs no room in the heap any more.
    pub(super) fn does_vm_end(&self) -> bool {
        self.state.lock().vm_ends
    }

    /// The program ends, and the VM will stop its collector: no further dump waits for a collection, and one that does is waited for,
    /// for a while.
    pub(super) fn program_ends(&self) {
        let mut state = self.state.lock();
        state.vm_ends = true;
        let is_collecting = |state: &mut State| state.collecting;
        drop(self.changed.wait_timeout_while(state, LONGEST_COLLECTION, is_collecting));
    }

    /// The VM ends. Nobody waits for a dump that waits for a collection.
    pub(super) fn vm_ends(&self) {
        let mut state = self.state.lock();
        state.vm_ends = true;
        state.is_stuck |= state.collecting;
    }

    /// The dump that `next` has given is made, or has failed.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock();
        state.done += 1;
        (state.making, state.is_stuck) = (false, false);
        drop(state);
        self.changed.notify_all();
    }

    /// Nobody makes dumps any more: ends all waits.
    pub(super) fn abandon(&self) {
        let mut state = self.state.lock();
        (state.closed, state.making) = (true, false);
        drop(state);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn no_wait_is_longer_than_the_patience() {
        // Nobody makes dumps.
        let queue = Queue::new(LONG);
        queue.set_patience(SHORT);
        assert_eq!(queue.ask_and_wait(Reason::OutOfMemory), Waited::GaveUp);
        // Somebody begins one and does not come on.
        assert_eq!(queue.next(None, || false), Some(Reason::OutOfMemory));
        assert_eq!(queue.ask_and_wait(Reason::End), Waited::GaveUp);
        assert_eq!(queue.close(), Waited::GaveUp);
        queue.finish();
        assert_eq!(queue.close(), Waited::Over);
        assert_eq!(queue.ask_and_wait(Reason::End), Waited::Over, "refused, so nothing is waited for");
    }

    #[test]
    fn a_collection_that_never_comes_is_not_waited_for() {
        let queue = Queue::new(LONG);
        queue.ask(Reason::Collection);
        assert_eq!(queue.next(None, || false), Some(Reason::Collection));
        assert_eq!(queue.collect(|| 1), Some(1));
        std::thread::scope(|scope| {
            let (ends, ended) = std::sync::mpsc::channel::<()>();
            let collecting = &queue;
            scope.spawn(move || collecting.collect(|| ended.recv().is_err()));
            while !queue.state.lock().collecting {
                std::thread::yield_now();
            }
            queue.vm_ends();
            assert_eq!(queue.ask_and_wait(Reason::End), Waited::GaveUp);
            assert_eq!(queue.close(), Waited::GaveUp);
            drop(ends);
        });
        assert_eq!(queue.collect(|| 1), None);
    }

    #[test]
    fn progress_prolongs_a_wait() {
        let queue = Queue::new(Duration::from_secs(1));
        queue.ask(Reason::End);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(queue.next(None, || false), Some(Reason::End));
                for _ in 0..40 {
                    std::thread::sleep(SHORT);
                    queue.progress.step();
                }
                queue.finish();
            });
            while !queue.state.lock().making {
                std::thread::yield_now();
            }
            assert_eq!(queue.close(), Waited::Over);
        });
    }

    #[test]
    fn dumps_are_made_in_the_order_in_which_they_are_wanted() {
        let queue = Queue::new(LONG);
        queue.ask(Reason::Collection);
        queue.ask(Reason::OutOfMemory);
        assert_eq!(queue.next(Some(SHORT), || true), Some(Reason::Collection));
        queue.finish();
        assert_eq!(queue.next(Some(SHORT), || true), Some(Reason::OutOfMemory));
        queue.finish();
        let mut asked = 0;
        let requested = queue.next(Some(SHORT), || {
            asked += 1;
            asked == 3
        });
        assert_eq!((requested, asked), (Some(Reason::Request), 3));
        queue.finish();
        queue.ask(Reason::Collection);
        queue.close();
        assert_eq!(queue.next(None, || true), None);
    }

    #[test]
    fn the_end_of_the_thread_that_dumps_ends_all_waits() {
        let queue = Queue::new(LONG);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| queue.ask_and_wait(Reason::End));
            assert_eq!(queue.next(Some(SHORT), || false), Some(Reason::End));
            queue.abandon();
            assert_eq!(waits.join().unwrap(), Waited::Over);
        });
        assert_eq!(queue.close(), Waited::Over);
    }
}
