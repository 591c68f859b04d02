//! What threads wait for, from the element that begins a wait to the one that ends it.

use rustc_hash::FxHashMap;
use trace::ids::{ObjectId, ThreadId};
use trace::time::{Nanos, Time};

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitKind {
    Blocked,
    Waiting,
    Parked,
    Sleeping,
}

impl WaitKind {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            WaitKind::Blocked => "Blocked",
            WaitKind::Waiting => "Waiting",
            WaitKind::Parked => "Parked",
            WaitKind::Sleeping => "Sleeping",
        }
    }
}

/// A wait that has begun. Numbers are those of constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wait {
    pub(super) kind: WaitKind,
    /// For what others own.
    pub(super) is_contended: bool,
    pub(super) object: Option<ObjectId>,
    pub(super) since: Time,
    /// Of which the thread waited for something else so long: for the lock, when `Object.wait` was over.
    pub(super) inside: Nanos,
    pub(super) class: u64,
    pub(super) lock: u64,
    pub(super) owner: u64,
    pub(super) stack: u64,
}

impl Wait {
    /// How long it was, if it ends now.
    pub(super) fn length(&self, now: Time) -> Nanos {
        Nanos(now.since(self.since).0.saturating_sub(self.inside.0))
    }
}

/// Waits inside each other; more are a sign of lost events.
const MAX_NESTED: usize = 8;

/// The waits that have not ended.
#[derive(Debug, Default)]
pub(super) struct Waits(FxHashMap<ThreadId, Vec<Wait>>);

impl Waits {
    pub(super) fn begin(&mut self, thread: ThreadId, wait: Wait) {
        let waits = self.0.entry(thread).or_default();
        if waits.len() >= MAX_NESTED {
            waits.remove(0);
        }
        waits.push(wait);
    }

    /// Ends the innermost wait of a thread for an object, if there is one; what is inside of it has lost its end.
    pub(super) fn end(
        &mut self,
        thread: ThreadId,
        now: Time,
        object: Option<ObjectId>,
        is_contended: bool,
    ) -> Option<Wait> {
        let waits = self.0.get_mut(&thread)?;
        let at = waits.iter().rposition(|wait| wait.object == object && wait.is_contended == is_contended)?;
        let wait = waits.drain(at..).next()?;
        if let Some(outer) = waits.last_mut() {
            outer.inside = Nanos(outer.inside.0.saturating_add(now.since(wait.since).0));
        }
        Some(wait)
    }

    /// Ends all waits of a thread, the innermost first.
    pub(super) fn end_all(&mut self, thread: ThreadId, now: Time) -> Vec<Wait> {
        let mut ended = Vec::new();
        while let Some(last) = self.0.get(&thread).and_then(|waits| waits.last()) {
            let (object, is_contended) = (last.object, last.is_contended);
            ended.extend(self.end(thread, now, object, is_contended));
        }
        self.0.remove(&thread);
        ended
    }

    /// Threads with waits, in an order that does not depend on chance.
    pub(super) fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = self.0.keys().copied().collect();
        threads.sort_unstable();
        threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(object: u64, is_contended: bool, since: u64) -> Wait {
        Wait {
            kind: WaitKind::Waiting,
            is_contended,
            object: Some(ObjectId(object)),
            since: Time(since),
            inside: Nanos(0),
            class: 0,
            lock: 0,
            owner: 0,
            stack: 0,
        }
    }

    #[test]
    fn to_get_the_lock_again_is_no_part_of_a_wait() {
        let (mut waits, thread, object) = (Waits::default(), ThreadId(1), Some(ObjectId(7)));
        waits.begin(thread, wait(7, false, 100));
        waits.begin(thread, wait(7, true, 130));
        let enter = waits.end(thread, Time(150), object, true).unwrap();
        assert_eq!(enter.length(Time(150)), Nanos(20));
        let whole = waits.end(thread, Time(150), object, false).unwrap();
        assert_eq!((whole.since, whole.length(Time(150))), (Time(100), Nanos(30)));
        assert_eq!(waits.end(thread, Time(160), object, false), None);
    }

    #[test]
    fn what_has_no_end_ends_with_its_thread() {
        let (mut waits, thread) = (Waits::default(), ThreadId(1));
        (0..20).for_each(|at| waits.begin(thread, wait(at, false, at)));
        let ended = waits.end_all(thread, Time(20));
        assert_eq!(ended.len(), MAX_NESTED);
        assert_eq!(ended.iter().map(|wait| wait.length(Time(20)).0).sum::<u64>(), 8);
        assert_eq!(waits.threads(), []);
    }
}
