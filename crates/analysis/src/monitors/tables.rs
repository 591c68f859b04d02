//! Lengths of waits by monitor, site, thread and pair of threads.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::time::{Nanos, Time};

use super::durations::Durations;
use super::stacks::StackIndex;
use super::threads::RowIndex;
use crate::symbols::{ClassIndex, SiteIndex};

/// So many rows of a table are told apart; what comes later goes where its like goes.
const MAX_ROWS: usize = 50_000;

/// The waits of one row.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// Waits for a lock that another thread owned.
    pub(super) contended: Durations,
    /// Waits for a notification, or for anything else than a lock.
    pub(super) waited: Durations,
    /// How many of both had not ended when the trace did.
    pub(super) open: u64,
    /// How many of `waited` ended because their time was over.
    pub(super) timed_out: u64,
    /// The longest of `contended`, and of `waited`.
    pub(super) worst: [Option<Worst>; 2],
}

impl Waits {
    pub(super) fn merge(&mut self, other: &Waits) {
        self.contended.merge(&other.contended);
        self.waited.merge(&other.waited);
        self.open += other.open;
        self.timed_out += other.timed_out;
        self.worst = [0, 1].map(|kind| Worst::longer(self.worst[kind], other.worst[kind]));
    }
}

/// The longest wait of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    pub(super) length: Nanos,
    pub(super) since: Time,
    pub(super) waiter: RowIndex,
    pub(super) owner: Option<RowIndex>,
    pub(super) stack: Option<StackIndex>,
    pub(super) owner_stack: Option<StackIndex>,
}

impl Worst {
    /// The longer of two, or the earlier.
    fn longer(one: Option<Worst>, other: Option<Worst>) -> Option<Worst> {
        let key = |worst: &Worst| (worst.length, std::cmp::Reverse(worst.since));
        one.into_iter().chain(other).max_by_key(key)
    }
}

/// One wait, as it is entered into the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) is_contended: bool,
    pub(super) is_open: bool,
    pub(super) is_timed_out: bool,
    pub(super) worst: Worst,
}

/// A monitor, or the others of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MonitorKey {
    pub(super) class: Option<ClassIndex>,
    /// Its serial number, because ids come back, and its id.
    pub(super) object: Option<(u64, ObjectId)>,
}

/// Who waits, for whom, for what class of monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PairKey {
    pub(super) waiter: RowIndex,
    pub(super) owner: Option<RowIndex>,
    pub(super) class: Option<ClassIndex>,
}

/// A class of monitors, and a place in the program.
pub(super) type SiteKey = (Option<ClassIndex>, Option<SiteIndex>);

/// A table of limited length.
#[derive(Debug)]
pub(super) struct Table<K>(FxHashMap<K, Waits>);

impl<K> Default for Table<K> {
    fn default() -> Self {
        Table(FxHashMap::default())
    }
}

impl<K: Copy + Eq + Hash> Table<K> {
    /// Enters a wait under its key, or under another one if the table is long enough.
    pub(super) fn add(&mut self, key: K, wait: Wait, rest: impl FnOnce() -> K) {
        let key = if self.0.len() < MAX_ROWS || self.0.contains_key(&key) { key } else { rest() };
        let row = self.0.entry(key).or_default();
        let lengths = if wait.is_contended { &mut row.contended } else { &mut row.waited };
        lengths.add(wait.worst.length);
        row.open += u64::from(wait.is_open);
        row.timed_out += u64::from(wait.is_timed_out);
        let worst = &mut row.worst[usize::from(!wait.is_contended)];
        *worst = Worst::longer(*worst, Some(wait.worst));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &Waits)> {
        self.0.iter().map(|(&key, waits)| (key, waits))
    }
}

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) monitors: Table<MonitorKey>,
    pub(super) sites: Table<SiteKey>,
    /// By where the owner was.
    pub(super) holders: Table<SiteKey>,
    pub(super) waiters: Table<RowIndex>,
    pub(super) pairs: Table<PairKey>,
}
