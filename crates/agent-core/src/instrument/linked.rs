//! Classes that wait for a thread of the agent's own, which retransforms them as soon as they are linked.
//!
//! In `ClassPrepare` the thread that links a class holds its initialisation lock. Somebody else who retransforms the same class may have
//! it marked as being redefined by then, and wait for that lock to link it: did the thread retransform the class itself, it would wait
//! for that mark, and both for ever (11 to 25). On 11 it would even if it links the class in order to retransform it. So it hands the
//! class over, and waits for a limited time.

use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use jvmti::jni_sys::jclass;
use jvmti::{Jni, SharedRef};

use agent_base::mutex::Mutex;

/// The longest that a thread waits for its class to be rewritten; the class is so later, too.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// So often the thread without work looks whether it is needed.
const IDLE: Duration = Duration::from_secs(5);

#[derive(Default)]
struct State {
    /// Global references.
    waiting: Vec<SharedRef>,
    /// Classes ever handed over, and those of them that are done with.
    added: u64,
    done: u64,
    has_thread: bool,
    /// A recording begins, runs or ends.
    is_needed: bool,
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
    /// A thread is needed until `release`, at least; whether there is none, so that the caller has to start it.
    pub(super) fn need(&self) -> bool {
        let mut state = self.state.lock();
        state.is_needed = true;
        !std::mem::replace(&mut state.has_thread, true)
    }

    /// The thread could not be started.
    pub(super) fn has_no_thread(&self) {
        self.state.lock().has_thread = false;
    }

    /// The thread may end when nothing is left to do.
    pub(super) fn release(&self) {
        self.state.lock().is_needed = false;
        self.changed.notify_all();
    }

    /// Hands a class over, unless there is no thread for it.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn add(&self, jni: Jni, class: jclass) -> Option<Ticket> {
        // SAFETY: by the caller's promise. Without memory it is null, which the VM refuses.
        let added = self.push(SharedRef(unsafe { jni.new_global_ref(class) }));
        // SAFETY: a global reference that nobody else has.
        added.map_err(|SharedRef(class)| unsafe { jni.delete_global_ref(class) }).ok()
    }

    fn push(&self, class: SharedRef) -> Result<Ticket, SharedRef> {
        let mut state = self.state.lock();
        if !state.has_thread {
            return Err(class);
        }
        state.waiting.push(class);
        state.added += 1;
        self.changed.notify_all();
        Ok(Ticket(state.added))
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

    /// On the thread: the classes that wait, as global references that the caller deletes, and the last of them. None if the thread has to
    /// end, since it is needed no longer and no class is expected.
    pub(super) fn take(&self, expects_none: impl Fn() -> bool) -> Option<(Vec<jclass>, Ticket)> {
        let mut state = self.state.lock();
        while state.waiting.is_empty() {
            if !state.is_needed && expects_none() {
                state.has_thread = false;
                return None;
            }
            state = self.changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner).0;
        }
        let classes = std::mem::take(&mut state.waiting).into_iter().map(|SharedRef(class)| class).collect();
        Some((classes, Ticket(state.added)))
    }

    /// The classes up to that one are done with.
    pub(super) fn done(&self, Ticket(number): Ticket) {
        self.state.lock().done = number;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn hand_over(linked: &Linked, class: usize) -> Option<Ticket> {
        linked.push(SharedRef(without_provenance_mut(class))).ok()
    }

    #[test]
    fn one_thread_serves_all_who_wait_as_long_as_it_is_needed() {
        let linked = Linked::default();
        assert_eq!(hand_over(&linked, 8), None);
        assert!(linked.need() && !linked.need());
        assert_eq!([8, 16].map(|class| hand_over(&linked, class)), [Some(Ticket(1)), Some(Ticket(2))]);
        thread::scope(|scope| {
            let waiting = [1, 2].map(|number| {
                let linked = &linked;
                scope.spawn(move || linked.wait(Ticket(number)))
            });
            let (classes, last) = linked.take(|| true).expect("it is needed");
            assert_eq!(classes.iter().map(|class| class.addr()).collect::<Vec<_>>(), [8, 16]);
            linked.done(last);
            waiting.into_iter().for_each(|thread| thread.join().expect("done"));
        });
        linked.release();
        assert_eq!(hand_over(&linked, 24), Some(Ticket(3)));
        assert!(linked.take(|| true).is_some_and(|(classes, _)| classes.len() == 1));
        assert!(linked.take(|| true).is_none());
        assert_eq!(hand_over(&linked, 32), None);
        assert!(linked.need());
    }

    #[test]
    fn nobody_waits_for_ever() {
        let linked = Linked::default();
        linked.need();
        let ticket = hand_over(&linked, 8).expect("there is a thread");
        let begun = Instant::now();
        linked.wait(ticket);
        linked.wait_for_all();
        assert!(begun.elapsed() >= LONGEST_WAIT);
    }
}
