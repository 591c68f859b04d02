//! Threads that are still blocked when a trace ends, and the deadlocks among them.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ObjectId, ThreadId};
use trace::time::{Nanos, Time};

use super::live::{LiveThread, PendingStall, Serial};
use super::lock_names::LockName;
use super::stacks::StackIndex;
use super::threads::RowIndex;
use super::{LockStats, State, ThreadName};
use crate::location::Location;
use crate::symbols::ClassIndex;

/// Maximum number that is listed one by one; more are only counted.
const MAX_STUCK: usize = 1000;

/// A blocked thread as it is kept.
#[derive(Clone, Debug)]
pub(super) struct StuckRecord {
    pub(super) thread: ThreadRef,
    pub(super) state: State,
    pub(super) class: Option<ClassIndex>,
    pub(super) object: Option<ObjectId>,
    pub(super) monitor: Option<u64>,
    pub(super) since: Time,
    pub(super) length: Nanos,
    pub(super) owner: Option<(ThreadRef, State)>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner_stack: Option<StackIndex>,
}

/// A thread as it is kept, also where its row is shared.
#[derive(Clone, Debug)]
pub(super) struct ThreadRef {
    pub(super) row: RowIndex,
    pub(super) id: Option<ThreadId>,
    /// If it is not that of the row.
    pub(super) name: Option<Box<str>>,
}

impl ThreadRef {
    fn of(live: &LiveThread) -> Self {
        ThreadRef { row: live.row, id: live.id, name: live.name.clone() }
    }
}

/// A thread that was still blocked when the trace ended.
#[derive(Clone, Debug)]
pub struct Stuck<'a> {
    /// The thread.
    pub thread: ThreadName<'a>,
    /// Blocked by a monitor, or parked.
    pub state: State,
    /// Class of what it waits for; `None` if the trace does not have it.
    pub class: Option<&'a str>,
    /// Id of what it waits for.
    pub object: Option<ObjectId>,
    /// Where the program keeps that.
    pub name: Option<LockName<'a>>,
    /// Since when.
    pub since: Time,
    /// For how long.
    pub length: Nanos,
    /// Who owned it when the trace ended, as far as is known, and what that thread did.
    pub owner: Option<(ThreadName<'a>, State)>,
    /// Where it is blocked, innermost first.
    pub stack: Vec<Location<'a>>,
    /// Where the owner was when it was last seen to own it.
    pub owner_stack: Vec<Location<'a>>,
}

/// Threads each of which waits for the next, and the last for the first.
#[derive(Clone, Debug)]
pub struct Deadlock<'a> {
    /// The threads, from the one that came to wait first.
    pub members: Vec<Stuck<'a>>,
    /// Since when none of them could continue.
    pub since: Time,
    /// For how long.
    pub length: Nanos,
}

impl LockStats<'_> {
    /// Looks for blocked threads in the document that ends now.
    pub(super) fn find_stuck(&mut self, now: Time) {
        let blocked: FxHashMap<Serial, (&LiveThread, &PendingStall)> = self
            .live
            .iter()
            .filter_map(|(&serial, live)| Some((serial, (live, live.pending.back()?))))
            .filter(|(_, (_, pending))| pending.is_contended)
            .collect();
        let owners: FxHashMap<Serial, Serial> = blocked
            .iter()
            .filter_map(|(&serial, (_, pending))| Some((serial, self.owner_at_end(serial, pending)?)))
            .collect();
        let found = |&serial: &Serial| {
            let (live, pending) = blocked.get(&serial)?;
            let owner = owners.get(&serial).and_then(|owner| self.live.get(owner)).map(|owner| {
                let state = owner.pending.back().map_or(State::Running, |pending| pending.state);
                (ThreadRef::of(owner), state)
            });
            Some(StuckRecord {
                thread: ThreadRef::of(live),
                state: pending.state,
                class: pending.class,
                object: pending.object,
                monitor: pending.monitor,
                since: pending.since,
                length: now.since(pending.since),
                owner,
                stack: pending.stack,
                owner_stack: pending.owner_stack,
            })
        };
        let circles = circles(&owners);
        let in_circle: FxHashSet<Serial> = circles.iter().flatten().copied().collect();
        let mut deadlocks: Vec<Vec<StuckRecord>> =
            circles.iter().map(|circle| circle.iter().filter_map(found).collect()).collect();
        for members in &mut deadlocks {
            // From the thread that came first, along the circle.
            let first = members.iter().enumerate().min_by_key(|(_, member)| member.since).map_or(0, |(at, _)| at);
            members.rotate_left(first);
        }
        deadlocks.sort_by_key(|members| members.first().map(|member| member.since));
        let mut others: Vec<Serial> = blocked.keys().filter(|serial| !in_circle.contains(serial)).copied().collect();
        others.sort_unstable_by_key(|serial| (blocked[serial].1.since, *serial));
        let more = others.split_off(others.len().min(MAX_STUCK.saturating_sub(self.stuck.len())));
        let others: Vec<StuckRecord> = others.iter().filter_map(found).collect();
        self.stuck_more += more.len() as u64;
        self.stuck.extend(others);
        self.deadlocks.extend(deadlocks);
    }

    /// Who owned at the end what a thread waits for: who was seen last to get it, or owned it when the thread came.
    fn owner_at_end(&self, serial: Serial, pending: &PendingStall) -> Option<Serial> {
        let monitor = pending.object.and_then(|object| self.monitors.get(&object));
        let later = monitor.and_then(|monitor| monitor.owner).filter(|&(_, time)| time >= pending.since);
        let owner = later.map(|(owner, _)| owner).or(pending.owner.map(|owner| owner.serial))?;
        (owner != serial && self.live.contains_key(&owner)).then_some(owner)
    }
}

/// The circles of a map, each once, in its order.
fn circles(next: &FxHashMap<Serial, Serial>) -> Vec<Vec<Serial>> {
    let mut circles = Vec::new();
    // The walk on which each was seen.
    let mut seen: FxHashMap<Serial, usize> = FxHashMap::default();
    let mut starts: Vec<Serial> = next.keys().copied().collect();
    starts.sort_unstable();
    for (walk, start) in starts.into_iter().enumerate() {
        let mut path = Vec::new();
        let mut at = start;
        while !seen.contains_key(&at) {
            seen.insert(at, walk);
            path.push(at);
            match next.get(&at) {
                Some(&further) => at = further,
                None => break,
            }
        }
        if seen.get(&at) == Some(&walk)
            && next.contains_key(&at)
            && let Some(begin) = path.iter().position(|&member| member == at)
        {
            circles.push(path.split_off(begin));
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let next = pairs.iter().map(|&(from, to)| (Serial(from), Serial(to))).collect();
        circles(&next).into_iter().map(|circle| circle.into_iter().map(|serial| serial.0).collect()).collect()
    }

    #[test]
    fn circles_are_found_once_and_without_their_tails() {
        assert_eq!(of(&[(1, 2), (2, 1), (3, 1), (4, 3), (5, 6)]), [[1, 2]]);
        assert_eq!(of(&[(1, 2), (2, 3), (3, 2), (7, 8), (8, 9), (9, 7)]), [vec![2, 3], vec![7, 8, 9]]);
        assert_eq!(of(&[(1, 2), (2, 3)]), Vec::<Vec<u64>>::new());
    }
}
