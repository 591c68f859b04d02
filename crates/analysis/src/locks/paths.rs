//! What threads waited for, and for how long, by stack.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::stacks::StackIndex;
use super::threads::RowIndex;
use crate::symbols::ClassIndex;

/// Maximum number of paths; what comes later is added to one without stack.
const MAX_PATHS: usize = 200_000;

/// Which waits are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// For a lock that another thread owned.
    Contended,
    /// For anything else.
    Other,
}

/// What waits are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PathKey {
    pub(super) kind: WaitKind,
    pub(super) class: Option<ClassIndex>,
    pub(super) waiter: RowIndex,
    pub(super) stack: Option<StackIndex>,
}

/// How many waits, and how long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathTotals {
    pub(super) count: u64,
    pub(super) nanos: u64,
}

/// The waits of each path.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitPaths(FxHashMap<PathKey, PathTotals>);

impl WaitPaths {
    /// Enters a wait; under another key if there are too many.
    pub(super) fn add(&mut self, key: PathKey, length: Nanos, rest: impl FnOnce() -> PathKey) {
        let key = if self.0.len() < MAX_PATHS || self.0.contains_key(&key) { key } else { rest() };
        let waits = self.0.entry(key).or_default();
        waits.count += 1;
        waits.nanos = waits.nanos.saturating_add(length.0);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathKey, &PathTotals)> {
        self.0.iter()
    }
}
