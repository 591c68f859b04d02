//! How the objects of a counted site are spread over stacks and threads, as samples show.

use rustc_hash::{FxHashMap, FxHashSet};

use super::live::CellIndex;
use crate::call_tree::Spread;
use crate::stacks::StackIndex;
use crate::symbols::ThreadIndex;

/// What samples are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ShareKey {
    /// The site, on whichever thread.
    pub(super) cell: CellIndex,
    pub(super) stack: Option<StackIndex>,
    pub(super) thread: Option<ThreadIndex>,
}

/// What samples stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sampled {
    /// Bytes, and their error.
    pub(super) bytes: Spread,
    pub(super) instances: f64,
}

impl Sampled {
    pub(super) fn add(&mut self, other: &Sampled) {
        self.bytes.add(&other.bytes);
        self.instances += other.instances;
    }
}

/// Samples of all sites.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// By site; those of one site stand together.
    entries: Vec<(ShareKey, Sampled)>,
    /// Where those of a site begin, and all of them together.
    sites: FxHashMap<CellIndex, (usize, Sampled)>,
    /// Sites that have no sample in the part of the trace that counts, but elsewhere.
    outside: FxHashSet<CellIndex>,
}

impl Shares {
    /// Those that were found in the part of the trace that counts; of sites that have none there, those outside. In an order that does
    /// not depend on chance.
    pub(super) fn new(inside: FxHashMap<ShareKey, Sampled>, mut outside: FxHashMap<ShareKey, Sampled>) -> Shares {
        let says = |sampled: &Sampled| sampled.bytes.weight > 0.0;
        let known: FxHashSet<CellIndex> =
            inside.iter().filter(|(_, sampled)| says(sampled)).map(|(key, _)| key.cell).collect();
        outside.retain(|key, sampled| says(sampled) && !known.contains(&key.cell));
        let only_outside: FxHashSet<CellIndex> = outside.keys().map(|key| key.cell).collect();
        let inside = inside.into_iter().filter(|(key, _)| !only_outside.contains(&key.cell));
        let mut entries: Vec<(ShareKey, Sampled)> = inside.chain(outside).collect();
        entries.sort_unstable_by_key(|(ShareKey { cell, stack, thread }, _)| {
            (cell.0, stack.map(StackIndex::rank), thread.map(ThreadIndex::rank))
        });
        let mut sites: FxHashMap<CellIndex, (usize, Sampled)> = FxHashMap::default();
        for (at, (key, sampled)) in entries.iter().enumerate() {
            sites.entry(key.cell).or_insert((at, Sampled::default())).1.add(sampled);
        }
        Shares { entries, sites, outside: only_outside }
    }

    /// What is said of a site was sampled outside of the part of the trace that counts.
    pub(super) fn are_outside(&self, cell: CellIndex) -> bool {
        self.outside.contains(&cell)
    }

    /// What samples say of a site: each share, and all together; `None` if they say nothing.
    pub(super) fn of(&self, cell: CellIndex) -> Option<(impl Iterator<Item = &(ShareKey, Sampled)>, &Sampled)> {
        let (first, whole) = self.sites.get(&cell).filter(|(_, whole)| whole.bytes.weight > 0.0)?;
        Some((self.entries[*first..].iter().take_while(move |(key, _)| key.cell == cell), whole))
    }

    /// Nothing was sampled.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Some sample has its stack.
    pub(super) fn has_stacks(&self) -> bool {
        self.entries.iter().any(|(key, _)| key.stack.is_some())
    }

    /// Keeps only some of them. What a site has in all stays as it was.
    pub(super) fn retain(&mut self, keeps: impl FnMut(&(ShareKey, Sampled)) -> bool) {
        self.entries.retain(keeps);
        let mut first: FxHashMap<CellIndex, usize> = FxHashMap::default();
        for (at, (key, _)) in self.entries.iter().enumerate() {
            first.entry(key.cell).or_insert(at);
        }
        for (cell, (at, _)) in &mut self.sites {
            *at = first.get(cell).copied().unwrap_or(self.entries.len());
        }
    }
}
