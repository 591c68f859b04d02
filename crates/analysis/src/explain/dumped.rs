//! Threads that wait since before the recording, as dumps at its beginning and its end show.

use rustc_hash::FxHashSet;
use trace::ids::ObjectId;
use trace::time::Nanos;

use super::{Finding, MOST};
use crate::allocations::Naming;
use crate::locks::{Deadlock, LockReport, LockRow};
use crate::own_code::OwnCode;
use crate::thread_dumps::{BlockedThreads, DumpDeadlock, TakenDump};

/// Threads that are there twice within less may just work.
const LEAST_BETWEEN: Nanos = Nanos(1_000_000_000);
/// A single thread that waits for a permit may wait for its next work.
const LEAST_IN_QUEUE: usize = 2;

/// Something that a dump shows, and for how long it was seen.
#[derive(Clone, Debug)]
pub struct Dumped<T> {
    /// What.
    pub what: T,
    /// Between the dumps that show it; `None` if a single one does.
    pub seen: Option<Nanos>,
}

/// What the dumps of a trace show: deadlocks in the last of them; and threads that waited in the first, have not run since, and wait in
/// the last.
pub(super) fn findings<'a>(report: &'a LockReport, naming: &Naming) -> Vec<Finding<'a>> {
    let Some(last) = report.dumps().last() else { return Vec::new() };
    let own = OwnCode::new(match naming {
        Naming::Own(own) => own.clone(),
        _ => Vec::new(),
    });
    let first = report.dumps().first().filter(|first| first.time < last.time);
    let between = first.map(|first| last.time.since(first.time));
    let unmoved = first.filter(|_| between >= Some(LEAST_BETWEEN)).map(|first| last.dump.unmoved_since(&first.dump));
    let counts = |index| unmoved.as_ref().is_some_and(|unmoved| unmoved.contains(&index));
    let BlockedThreads { deadlocks, held_up, queues } = BlockedThreads::of(&last.dump, &own, counts);
    let seen = |deadlock: &DumpDeadlock<'_>| between.filter(|_| first.is_some_and(|first| has_all(first, deadlock)));
    let deadlocks = deadlocks.into_iter().take(MOST).map(|what| {
        let seen = seen(&what);
        Finding::DumpedDeadlock(Dumped { what, seen })
    });
    let held_up = held_up.into_iter().take(MOST).map(|what| Finding::HeldUp(Dumped { what, seen: between }));
    let queues = queues.into_iter().filter(|queue| queue.waiters.len() >= LEAST_IN_QUEUE).take(MOST);
    deadlocks.chain(held_up).chain(queues.map(|what| Finding::Queued(Dumped { what, seen: between }))).collect()
}

/// Threads that a finding of dumps names already, and the locks for which no others wait when the trace ends.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    threads: FxHashSet<&'a str>,
    locks: FxHashSet<ObjectId>,
}

impl<'a> Named<'a> {
    pub(super) fn by(dumped: &[Finding<'a>], report: &'a LockReport) -> Self {
        let mut threads = FxHashSet::default();
        for finding in dumped {
            match finding {
                Finding::DumpedDeadlock(Dumped { what, .. }) => {
                    threads.extend(what.members.iter().map(|member| &*member.thread.name));
                }
                Finding::HeldUp(Dumped { what, .. }) => threads.extend(what.waiters.iter().map(|waiter| &*waiter.name)),
                Finding::Queued(Dumped { what, .. }) => threads.extend(what.waiters.iter().map(|waiter| &*waiter.name)),
                _ => {}
            }
        }
        let mut waiting = report.stuck().0;
        waiting.extend(report.deadlocks().into_iter().flat_map(|deadlock| deadlock.members));
        let (named, others): (Vec<_>, Vec<_>) = waiting.iter().partition(|waits| threads.contains(waits.thread.name));
        let mut locks: FxHashSet<ObjectId> = named.iter().filter_map(|waits| waits.object).collect();
        locks.retain(|&lock| others.iter().all(|waits| waits.object != Some(lock)));
        Named { threads, locks }
    }

    /// Whether a thread that waits is named.
    pub(super) fn has_thread(&self, name: &str) -> bool {
        self.threads.contains(name)
    }

    /// Whether all waits for a lock are those of such threads, which go on.
    pub(super) fn has_waits_of(&self, row: &LockRow<'_>, lock: ObjectId) -> bool {
        row.open == row.contended.count() && self.locks.contains(&lock)
    }
}

/// Whether the members of a deadlock wait for locks in an earlier dump, too.
fn has_all(earlier: &TakenDump, deadlock: &DumpDeadlock<'_>) -> bool {
    deadlock.members.iter().all(|member| {
        let mut threads = earlier.dump.threads.iter();
        threads.any(|thread| thread.number == member.thread.number && thread.wait.is_some())
    })
}

/// Keeps of each deadlock that both the recorded waits and the dumps show what says more: the waits, unless it is older than they are.
pub(super) fn keep_one_of_each<'a>(deadlocks: &mut Vec<Deadlock<'a>>, dumped: &mut Vec<Finding<'a>>) {
    let is_same = |deadlock: &Deadlock<'_>, dumped: &DumpDeadlock<'_>| {
        let mut members = deadlock.members.iter();
        members.all(|member| dumped.members.iter().any(|dumped| dumped.thread.name == member.thread.name))
    };
    let is_older = |deadlock: &Deadlock<'_>| {
        dumped.iter().any(|finding| match finding {
            Finding::DumpedDeadlock(Dumped { what, seen: Some(_) }) => is_same(deadlock, what),
            _ => false,
        })
    };
    deadlocks.retain(|deadlock| !is_older(deadlock));
    dumped.retain(|finding| match finding {
        Finding::DumpedDeadlock(Dumped { what, .. }) => !deadlocks.iter().any(|deadlock| is_same(deadlock, what)),
        _ => true,
    });
}
