//! How the thread of VMInit and the agent's own thread share the classes that are retransformed at the start.
//!
//! The thread of VMInit offers one half. If the other thread has not come for it by then, it does both halves itself. So it only waits
//! for work that is being done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use agent_base::mutex::Mutex;

/// The longest wait while not a single class is rewritten. Better an incomplete start, which the trace shows, than a program that hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Who does the second half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SecondHalf {
    #[default]
    Undecided,
    Offered,
    /// The agent's own thread does it.
    Taken,
    /// It has done it.
    Done,
    /// The thread of VMInit does it, or there is none.
    Kept,
}

#[derive(Default)]
struct Inner {
    second_half: SecondHalf,
    /// Threads that have come to the meeting.
    met: usize,
}

/// The start.
#[derive(Default)]
pub(super) struct StartUp {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// Classes rewritten so far.
    rewritten: AtomicU64,
}

impl StartUp {
    /// A class is being rewritten.
    pub(super) fn progress(&self) {
        self.rewritten.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits as long as classes are rewritten; false if that ends before `is_over`.
    fn wait(&self, is_over: impl Fn(&Inner) -> bool) -> bool {
        let mut inner = self.inner.lock();
        loop {
            let before = self.rewritten.load(Ordering::Relaxed);
            let waited = self.changed.wait_timeout_while(inner, LONGEST_WAIT, |inner| !is_over(inner));
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
            if is_over(&inner) || self.rewritten.load(Ordering::Relaxed) == before {
                return is_over(&inner);
            }
        }
    }

    fn change(&self, from: &[SecondHalf], to: SecondHalf) -> bool {
        let mut inner = self.inner.lock();
        let is_it = from.contains(&inner.second_half);
        if is_it {
            inner.second_half = to;
            self.changed.notify_all();
        }
        is_it
    }

    /// On the thread of VMInit: the other thread may do the second half.
    pub(super) fn offer(&self) {
        self.change(&[SecondHalf::Undecided], SecondHalf::Offered);
    }

    /// On the thread of VMInit: does the second half itself, if there is one. False if the other thread does it.
    pub(super) fn keep(&self) -> bool {
        self.change(&[SecondHalf::Undecided, SecondHalf::Offered, SecondHalf::Kept], SecondHalf::Kept)
    }

    /// On the agent's own thread: waits for the offer. False if there is none.
    pub(super) fn take(&self) -> bool {
        self.wait(|inner| inner.second_half != SecondHalf::Undecided);
        self.change(&[SecondHalf::Offered], SecondHalf::Taken)
    }

    /// On the agent's own thread: the second half is done.
    pub(super) fn done(&self) {
        self.change(&[SecondHalf::Taken], SecondHalf::Done);
    }

    /// On the thread of VMInit: waits for the second half. False if the other thread does not get on.
    pub(super) fn wait_until_done(&self) -> bool {
        self.wait(|inner| inner.second_half == SecondHalf::Done)
    }

    /// Says that one of the two threads has come to the meeting, or never will.
    pub(super) fn arrive(&self) {
        self.inner.lock().met += 1;
        self.changed.notify_all();
    }

    /// Comes to the meeting, and waits for the other thread, if that does one half.
    pub(super) fn meet(&self) {
        self.arrive();
        if !self.keep() {
            self.wait(|inner| inner.met >= 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_half_that_nobody_takes_is_not_waited_for() {
        let start = StartUp::default();
        start.offer();
        start.meet();
        assert!(start.keep());
        // The other thread comes too late.
        assert!(!start.take());
    }

    #[test]
    fn a_second_half_that_is_taken_is_waited_for() {
        let start = StartUp::default();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                assert!(start.take());
                start.meet();
                start.done();
            });
            start.offer();
            while start.inner.lock().second_half == SecondHalf::Offered {
                std::thread::yield_now();
            }
            start.meet();
            assert!(!start.keep() && start.wait_until_done());
            assert!(other.join().is_ok());
        });
    }

    #[test]
    fn a_thread_that_does_not_get_on_is_left() {
        let start = StartUp::default();
        start.offer();
        assert!(start.take());
        assert!(!start.wait_until_done());
    }
}
