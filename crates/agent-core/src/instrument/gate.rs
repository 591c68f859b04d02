//! Keeps classes from being made while the methods of others are swapped.
//!
//! While HotSpot makes a class it holds pointers to methods of those above it (`DefaultMethods::generate_default_methods`), and a
//! retransformation at that moment leaves them dangling: the VM crashes (seen on 17 and 25, within seconds, where classes are loaded all
//! the time). So, just before the VM swaps methods, who is about to make a class waits, and those who are at it are waited for.
//!
//! A class is being made from its load hook to its `ClassLoad` event. A class that fails has no such event, and one whose superclass
//! takes long to come holds nothing yet: whoever has been at it for long is not waited for. Hidden classes have no hook.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use agent_base::mutex::Mutex;

/// A class that takes so long is not waited for.
const LONGEST_MAKING: Duration = Duration::from_secs(2);
/// The longest that a thread which is about to make a class waits: longer than methods are swapped, if nothing is wrong.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A thread, by the address of something that it has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Thread(usize);

thread_local! {
    /// The classes that this thread makes, the outermost first: each but the last waits for one above it.
    static MAKING: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

impl Thread {
    fn current() -> Thread {
        Thread(MAKING.with(|making| std::ptr::from_ref(making).addr()))
    }
}

#[derive(Default)]
struct State {
    /// Somebody has methods swapped, or is about to.
    is_taken: bool,
    is_closed: bool,
    /// Who makes classes, and since when.
    making: FxHashMap<Thread, Instant>,
}

/// The gate; one for the JVM.
#[derive(Default)]
pub(super) struct Gate {
    /// Classes that are made are noted.
    is_watched: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

/// While it lives classes that are made are noted, and methods may be swapped.
pub(super) struct Watch<'g>(&'g Gate);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let Watch(gate) = self;
        gate.is_watched.store(false, Ordering::SeqCst);
        *gate.state.lock() = State::default();
        gate.changed.notify_all();
    }
}

impl Gate {
    /// Begins to note classes that are made. One thread at a time has this, unless another takes too long: a thread that links a class
    /// may hold what the other needs.
    pub(super) fn watch(&self) -> Watch<'_> {
        let waited = self.changed.wait_timeout_while(self.state.lock(), LONGEST_WAIT, |state| state.is_taken);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_taken = true;
        self.is_watched.store(true, Ordering::SeqCst);
        Watch(self)
    }

    /// The current thread is about to make a class of that name.
    pub(super) fn enter(&self, name: &[u8]) {
        if !self.is_watched.load(Ordering::Acquire) {
            return;
        }
        let thread = Thread::current();
        let is_making = self.state.lock().making.contains_key(&thread);
        if !is_making {
            // What it made before was not noted to its end.
            MAKING.with_borrow_mut(Vec::clear);
            if !self.begin(thread) {
                return;
            }
        }
        MAKING.with_borrow_mut(|making| making.push(name.into()));
    }

    /// Waits until classes may be made, and notes that this thread does; false if nothing is noted any more.
    fn begin(&self, thread: Thread) -> bool {
        let waited = self.changed.wait_timeout_while(self.state.lock(), LONGEST_WAIT, |state| state.is_closed);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_watched = self.is_watched.load(Ordering::Acquire);
        if is_watched {
            state.making.insert(thread, Instant::now());
        }
        is_watched
    }

    /// Runs `wait`, in which this thread makes no class, even if it is about to make one whose superclass is being loaded.
    pub(super) fn aside(&self, wait: impl FnOnce()) {
        let thread = Thread::current();
        let is_making = self.state.lock().making.remove(&thread).is_some();
        if is_making {
            self.changed.notify_all();
        }
        wait();
        if is_making {
            self.begin(thread);
        }
    }

    /// The current thread has made the class of that name.
    pub(super) fn leave(&self, name: &[u8]) {
        if !self.is_watched.load(Ordering::Acquire) {
            return;
        }
        let makes_others = MAKING.with_borrow_mut(|making| {
            // Those behind it have failed.
            if let Some(found) = making.iter().rposition(|own| **own == *name) {
                making.truncate(found);
            }
            !making.is_empty()
        });
        if !makes_others && self.state.lock().making.remove(&Thread::current()).is_some() {
            self.changed.notify_all();
        }
    }

    /// Classes may be made again, until it is closed once more.
    pub(super) fn open(&self) {
        self.state.lock().is_closed = false;
        self.changed.notify_all();
    }

    /// Nobody else begins to make a class from now on, as long as it is watched; waits for those who are at it.
    pub(super) fn close(&self) {
        let own = Thread::current();
        let mut state = self.state.lock();
        state.is_closed = true;
        let begun = Instant::now();
        let is_waited_for = |(&thread, &since): (&Thread, &Instant)| {
            thread != own && begun.saturating_duration_since(since) < LONGEST_MAKING
        };
        while let Some(left) = LONGEST_MAKING.checked_sub(begun.elapsed())
            && state.making.iter().any(is_waited_for)
        {
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_makes_a_class_is_waited_for_and_others_wait() {
        let gate = Gate::default();
        gate.enter(b"unwatched");
        let watch = gate.watch();
        std::thread::scope(|scope| {
            let (entered, enters) = channel();
            let (go, goes) = channel();
            let gate = &gate;
            let maker = scope.spawn(move || {
                gate.enter(b"A");
                gate.enter(b"Super");
                entered.send(()).expect("waits");
                goes.recv().expect("goes");
                // It need not wait for those above it, once it has begun.
                gate.enter(b"Failed");
                gate.leave(b"Super");
                gate.leave(b"A");
            });
            enters.recv().expect("entered");
            go.send(()).expect("maker waits");
            gate.close();
            assert!(gate.state.lock().making.is_empty());
            maker.join().expect("done");
            let other = scope.spawn(|| gate.enter(b"B"));
            assert!(!other.is_finished());
            drop(watch);
            other.join().expect("opened");
        });
        assert!(gate.state.lock().making.is_empty());
    }

    #[test]
    fn who_waits_in_between_is_not_waited_for() {
        let gate = Gate::default();
        let watch = gate.watch();
        gate.enter(b"A");
        gate.aside(|| {
            std::thread::scope(|scope| scope.spawn(|| gate.close()).join().expect("nobody makes a class"));
            assert!(gate.state.lock().making.is_empty());
            gate.open();
        });
        assert_eq!(gate.state.lock().making.len(), 1);
        gate.leave(b"A");
        assert!(gate.state.lock().making.is_empty());
        drop(watch);
    }

    #[test]
    fn a_class_that_fails_is_waited_for_no_longer_than_others_take() {
        let gate = Gate::default();
        let _watch = gate.watch();
        std::thread::scope(|scope| {
            let failed = scope.spawn(|| gate.enter(b"Failed"));
            failed.join().expect("done");
        });
        let begun = Instant::now();
        gate.close();
        assert!(begun.elapsed() <= LONGEST_MAKING + LONGEST_WAIT);
    }
}
