//! Lengths of waits by monitor, site, thread and pair of threads.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::time::{Nanos, Time};

use super::durations::Durations;
use super::looks::Looks;
use super::stacks::StackIndex;
use super::threads::RowIndex;
use crate::symbols::{ClassIndex, SiteIndex};

/// Maximum number of rows of a table; what comes later is added to a row for others like it.
const MAX_ROWS: usize = 50_000;

/// The waits of one row.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitTotals {
    /// Waits for a lock that another thread owned.
    pub(super) contended: Durations,
    /// Waits for a notification, or for anything else than a lock.
    pub(super) waited: Durations,
    /// What has seen those of `contended` that were seen by looks.
    pub(super) looks: Looks,
    /// How many of both had not ended when the trace did.
    pub(super) open: u64,
    /// How many of `waited` ended because their time was over.
    pub(super) timed_out: u64,
    /// The longest of `contended`, and of `waited`.
    pub(super) longest: [Option<LongestWait>; 2],
}

impl WaitTotals {
    pub(super) fn merge(&mut self, other: &WaitTotals) {
        self.contended.merge(&other.contended);
        self.waited.merge(&other.waited);
        self.looks.merge(other.looks);
        self.open += other.open;
        self.timed_out += other.timed_out;
        self.longest = [0, 1].map(|kind| LongestWait::longer(self.longest[kind], other.longest[kind]));
    }
}

/// The longest wait of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongestWait {
    pub(super) length: Nanos,
    pub(super) since: Time,
    pub(super) waiter: RowIndex,
    pub(super) owner: Option<RowIndex>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner_stack: Option<StackIndex>,
}

impl LongestWait {
    /// The longer of two, or the earlier.
    fn longer(one: Option<LongestWait>, other: Option<LongestWait>) -> Option<LongestWait> {
        let key = |longest: &LongestWait| (longest.length, std::cmp::Reverse(longest.since));
        one.into_iter().chain(other).max_by_key(key)
    }
}

/// One wait, as it is entered into the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) is_contended: bool,
    pub(super) is_open: bool,
    pub(super) is_timed_out: bool,
    pub(super) longest: LongestWait,
    pub(super) looks: Looks,
}

/// A monitor, or the others of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MonitorKey {
    pub(super) class: Option<ClassIndex>,
    /// Its serial number, because ids are reused, and its id.
    pub(super) object: Option<(u64, ObjectId)>,
}

/// Who waits, for whom, for what class of monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PairKey {
    pub(super) waiter: RowIndex,
    pub(super) owner: Option<RowIndex>,
    pub(super) class: Option<ClassIndex>,
}

/// All that waits can have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KindKey {
    pub(super) is_contended: bool,
    pub(super) class: Option<ClassIndex>,
    /// The monitor's serial number.
    pub(super) monitor: Option<u64>,
    pub(super) waiter: RowIndex,
    pub(super) owner: Option<RowIndex>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner_stack: Option<StackIndex>,
}

/// A class of monitors, and a place in the program.
pub(super) type SiteKey = (Option<ClassIndex>, Option<SiteIndex>);

/// A table of limited length.
#[derive(Clone, Debug)]
pub(super) struct WaitTable<K>(FxHashMap<K, WaitTotals>);

impl<K> Default for WaitTable<K> {
    fn default() -> Self {
        WaitTable(FxHashMap::default())
    }
}

impl<K: Copy + Eq + Hash> WaitTable<K> {
    /// Enters a wait under its key, or under another one if the table is long enough.
    pub(super) fn add(&mut self, key: K, wait: Wait, rest: impl FnOnce() -> K) {
        let key = if self.0.len() < MAX_ROWS || self.0.contains_key(&key) { key } else { rest() };
        let row = self.0.entry(key).or_default();
        let lengths = if wait.is_contended { &mut row.contended } else { &mut row.waited };
        lengths.add(wait.longest.length);
        row.looks.merge(wait.looks);
        row.open += u64::from(wait.is_open);
        row.timed_out += u64::from(wait.is_timed_out);
        let longest = &mut row.longest[usize::from(!wait.is_contended)];
        *longest = LongestWait::longer(*longest, Some(wait.longest));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &WaitTotals)> {
        self.0.iter().map(|(&key, waits)| (key, waits))
    }
}

/// All tables.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitTables {
    pub(super) monitors: WaitTable<MonitorKey>,
    pub(super) sites: WaitTable<SiteKey>,
    /// By where the owner was.
    pub(super) holders: WaitTable<SiteKey>,
    pub(super) waiters: WaitTable<RowIndex>,
    pub(super) pairs: WaitTable<PairKey>,
    /// Where it is asked for.
    pub(super) kinds: Option<WaitTable<KindKey>>,
}
