//! Which waits are open, so that their time is known and each begin gets an end.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::ObjectId;

use agent_base::clock::Ticks;
use agent_base::events::event::WaitKind;
use agent_base::ids::{StackIndex, ThreadIndex};

/// How long a wait may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) millis: u64,
    /// Of a park.
    pub(super) nanos: u64,
}

/// Details that came in the same buffer in front of the event to which they belong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingDetails {
    pub(super) owner: Option<(ThreadIndex, StackIndex)>,
    pub(super) limit: Option<Limit>,
}

/// A thread that is blocked on a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBlock {
    pub(super) object: ObjectId,
    pub(super) since: Ticks,
    pub(super) stack: StackIndex,
    pub(super) owner: Option<(ThreadIndex, StackIndex)>,
    /// The lock log has its beginning.
    pub(super) is_logged: bool,
    pub(super) kind: WaitKind,
}

/// A thread that waits to be notified or unparked.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWait {
    pub(super) object: ObjectId,
    pub(super) since: Ticks,
    pub(super) limit: Option<Limit>,
}

/// What a parked thread waits for: a lock, or anything else.
#[derive(Clone, Copy, Debug)]
pub(super) enum OpenPark {
    Block(OpenBlock),
    Wait(OpenWait),
}

/// The threads that are blocked, wait or are parked at the end of what has been written.
#[derive(Default)]
pub(super) struct OpenWaits {
    pub(super) blocked: FxHashMap<u32, OpenBlock>,
    pub(super) waiting: FxHashMap<u32, OpenWait>,
    pub(super) parked: FxHashMap<u32, OpenPark>,
    pub(super) sleeping: FxHashSet<u32>,
    /// How long threads waited for each object.
    pub(super) waited: WaitedTimes,
    /// Owners that the last data request found.
    pub(super) owners: FxHashMap<ObjectId, Option<ThreadIndex>>,
    /// Ends without a begin.
    pub(super) without_begin: u64,
    /// Begins without an end, of threads that continued.
    pub(super) without_end: u64,
    /// Not all locks were named, since the time for that was over.
    pub(super) names_cut: bool,
    /// Threads and monitors that data requests left out.
    pub(super) skipped_in_snapshots: u64,
    /// Owners that were left out since their end is in the trace already.
    pub(super) terminated_owners: u64,
}

/// How long threads waited for each object, all together.
#[derive(Default)]
pub(super) struct WaitedTimes(FxHashMap<ObjectId, u64>);

impl WaitedTimes {
    /// Objects beyond so many are left out.
    const MOST: usize = 1 << 16;
    /// For shorter times in all nobody wants to know a name.
    const SHORTEST_NANOS: u64 = 1_000_000;

    /// A thread waited so long.
    pub(super) fn add(&mut self, object: ObjectId, since: Ticks, until: Ticks) {
        if self.0.len() < WaitedTimes::MOST || self.0.contains_key(&object) {
            *self.0.entry(object).or_default() += until.0.saturating_sub(since.0);
        }
    }

    /// The objects for which threads waited longest, so many at most.
    pub(super) fn longest(&self, most: usize) -> Vec<ObjectId> {
        let long = |&(_, nanos): &(&ObjectId, &u64)| *nanos >= WaitedTimes::SHORTEST_NANOS;
        let mut all: Vec<_> = self.0.iter().filter(long).map(|(&object, &nanos)| (Reverse(nanos), object)).collect();
        all.sort_unstable();
        all.truncate(most);
        all.into_iter().map(|(_, object)| object).collect()
    }
}

impl OpenWaits {
    /// Events that did not match: key and number.
    pub(super) fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("waits.withoutBegin", self.without_begin),
            ("waits.withoutEnd", self.without_end),
            ("owners.terminated", self.terminated_owners),
            ("lockNames.cut", u64::from(self.names_cut)),
            ("snapshots.skipped", self.skipped_in_snapshots),
        ]
    }
}
