//! Which waits are open, so that their time is known and each begin gets an end.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::ObjectId;

use agent_base::clock::Ticks;
use agent_base::ids::{StackIndex, ThreadIndex};

/// How long a wait may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) millis: u64,
    /// Of a park.
    pub(crate) nanos: u64,
}

/// Details that came in the same buffer in front of the event to which they belong.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingDetails {
    pub(crate) owner: Option<(ThreadIndex, StackIndex)>,
    pub(crate) limit: Option<Limit>,
}

/// A thread that is blocked on a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenBlock {
    pub(crate) object: ObjectId,
    pub(crate) since: Ticks,
    pub(crate) stack: StackIndex,
    pub(crate) owner: Option<(ThreadIndex, StackIndex)>,
    /// The lock log has its beginning.
    pub(crate) is_logged: bool,
}

/// A thread that waits to be notified or unparked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenWait {
    pub(crate) object: ObjectId,
    pub(crate) since: Ticks,
    pub(crate) limit: Option<Limit>,
}

/// What a parked thread waits for: a lock, or anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpenPark {
    Block(OpenBlock),
    Wait(OpenWait),
}

/// The threads that are blocked, wait or are parked at the end of what has been written.
#[derive(Default)]
pub(crate) struct LockEvents {
    pub(crate) blocked: FxHashMap<u32, OpenBlock>,
    pub(crate) waiting: FxHashMap<u32, OpenWait>,
    pub(crate) parked: FxHashMap<u32, OpenPark>,
    pub(crate) sleeping: FxHashSet<u32>,
    /// What living threads have had of the processors, as it was written last, and of the queue for them.
    pub(crate) processors: FxHashMap<u32, (u64, Option<u64>)>,
    /// How long threads waited for each object.
    pub(crate) waited: WaitedTimes,
    /// Owners that the last data request found.
    pub(crate) owners: FxHashMap<ObjectId, Option<ThreadIndex>>,
    /// Ends without a begin.
    pub(crate) without_begin: u64,
    /// Begins without an end, of threads that continued.
    pub(crate) without_end: u64,
    /// Not all locks were named, since the time for that was over.
    pub(crate) names_cut: bool,
    /// Threads and monitors that data requests left out.
    pub(crate) skipped_in_snapshots: u64,
    /// Owners that were left out since their end is in the trace already.
    pub(crate) terminated_owners: u64,
}

/// How long threads waited for each object, all together.
#[derive(Default)]
pub(crate) struct WaitedTimes(FxHashMap<ObjectId, u64>);

impl WaitedTimes {
    /// Objects beyond so many are left out.
    const MOST: usize = 1 << 16;
    /// For shorter times in all nobody wants to know a name.
    const SHORTEST_NANOS: u64 = 1_000_000;

    /// A thread waited so long.
    pub(crate) fn add(&mut self, object: ObjectId, since: Ticks, until: Ticks) {
        if self.0.len() < WaitedTimes::MOST || self.0.contains_key(&object) {
            *self.0.entry(object).or_default() += until.0.saturating_sub(since.0);
        }
    }

    /// The objects for which threads waited longest, so many at most.
    pub(crate) fn longest(&self, most: usize) -> Vec<ObjectId> {
        let long = |&(_, nanos): &(&ObjectId, &u64)| *nanos >= WaitedTimes::SHORTEST_NANOS;
        let mut all: Vec<_> = self.0.iter().filter(long).map(|(&object, &nanos)| (Reverse(nanos), object)).collect();
        all.sort_unstable();
        all.truncate(most);
        all.into_iter().map(|(_, object)| object).collect()
    }
}

impl LockEvents {
    /// Events that did not match: key and number.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("waits.withoutBegin", self.without_begin),
            ("waits.withoutEnd", self.without_end),
            ("owners.terminated", self.terminated_owners),
            ("lockNames.cut", u64::from(self.names_cut)),
            ("snapshots.skipped", self.skipped_in_snapshots),
        ]
    }
}
