//! Classes that wait for a thread of the agent's own, which retransforms them as soon as they are linked.
//!
//! In `ClassPrepare` the thread that links a class holds its initialisation lock. Somebody else who retransforms the same class may have
//! it marked as being redefined by then, and wait for that lock to link it: did the thread retransform the class itself, it would wait
//! for that mark, and both for ever (11 to 25). On 11 it would even if it links the class in order to retransform it. So it hands the
//! class over, and waits for a limited time.

use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use jvmti::Jni;
use jvmti::jni_sys::jclass;

use crate::agent::mutex::Mutex;

/// The longest that a thread waits for its class to be rewritten; the class is so later, too.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// A thread of the agent without work for so long ends.
const IDLE: Duration = Duration::from_secs(1);

/// A global reference.
struct Class(jclass);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for Class {}

#[derive(Default)]
struct State {
    waiting: Vec<Class>,
    /// Classes ever handed over, and those of them that are done with.
    added: u64,
    done: u64,
    has_thread: bool,
}

/// The classes; one list for the JVM.
#[derive(Default)]
pub(super) struct Linked {
    state: Mutex<State>,
    changed: Condvar,
}

/// The number of a class among those that were handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl Linked {
    /// Hands a class over, and whether there is no thread for it: then the caller has to start one.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn add(&self, jni: Jni, class: jclass) -> (Ticket, bool) {
        // SAFETY: by the caller's promise.
        let class = Class(unsafe { jni.new_global_ref(class) });
        let mut state = self.state.lock();
        state.waiting.push(class);
        state.added += 1;
        let needs_thread = !std::mem::replace(&mut state.has_thread, true);
        self.changed.notify_all();
        (Ticket(state.added), needs_thread)
    }

    /// Waits until a class is done with, or too long.
    pub(super) fn wait(&self, Ticket(number): Ticket) {
        let waited = self.changed.wait_timeout_while(self.state.lock(), LONGEST_WAIT, |state| state.done < number);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// As `wait`, for all that were handed over so far.
    pub(super) fn wait_for_all(&self) {
        let last = Ticket(self.state.lock().added);
        self.wait(last);
    }

    /// On the thread for it: the classes that wait, as global references that the caller deletes, and the last of them. None comes for a
    /// while if there is none, and then the thread has to end.
    pub(super) fn take(&self) -> Option<(Vec<jclass>, Ticket)> {
        let waited = self.changed.wait_timeout_while(self.state.lock(), IDLE, |state| state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.has_thread = !state.waiting.is_empty();
        let classes = std::mem::take(&mut state.waiting).into_iter().map(|Class(class)| class).collect();
        state.has_thread.then_some((classes, Ticket(state.added)))
    }

    /// The classes up to that one are done with.
    pub(super) fn done(&self, Ticket(number): Ticket) {
        self.state.lock().done = number;
        self.changed.notify_all();
    }

    /// No thread could be started: gives back the classes that wait, and nobody waits for them.
    pub(super) fn give_up(&self) -> Vec<jclass> {
        let taken = {
            let mut state = self.state.lock();
            state.has_thread = false;
            state.done = state.added;
            std::mem::take(&mut state.waiting)
        };
        self.changed.notify_all();
        taken.into_iter().map(|Class(class)| class).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn hand_over(linked: &Linked, class: usize) -> (Ticket, bool) {
        let mut state = linked.state.lock();
        state.waiting.push(Class(without_provenance_mut(class)));
        state.added += 1;
        (Ticket(state.added), !std::mem::replace(&mut state.has_thread, true))
    }

    #[test]
    fn one_thread_serves_all_who_wait_and_ends_when_nobody_comes() {
        let linked = Linked::default();
        assert_eq!(hand_over(&linked, 8), (Ticket(1), true));
        assert_eq!(hand_over(&linked, 16), (Ticket(2), false));
        thread::scope(|scope| {
            let waiting = [1, 2].map(|number| {
                let linked = &linked;
                scope.spawn(move || linked.wait(Ticket(number)))
            });
            let (classes, last) = linked.take().expect("two wait");
            assert_eq!(classes.iter().map(|class| class.addr()).collect::<Vec<_>>(), [8, 16]);
            linked.done(last);
            waiting.into_iter().for_each(|thread| thread.join().expect("done"));
        });
        assert!(linked.take().is_none());
        assert_eq!(hand_over(&linked, 24), (Ticket(3), true));
    }

    #[test]
    fn nobody_waits_for_ever() {
        let linked = Linked::default();
        let (ticket, _) = hand_over(&linked, 8);
        let begun = Instant::now();
        linked.wait(ticket);
        assert!(begun.elapsed() >= LONGEST_WAIT);
        assert_eq!(linked.give_up().len(), 1);
        linked.wait_for_all();
    }
}
