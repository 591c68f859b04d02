//! Sites of which a document counts the objects, instead of reporting each (`allocCount`).
//!
//! Counts are cumulative, so of each only the last is kept: memory grows with the sites, not with the trace.

use rustc_hash::FxHashMap;
use trace::model::{AllocCount, CountSource};

use super::cells::{Cell, CellIds, CellIndex, Cells};
use super::samples::ShareKey;
use super::totals::Amount;
use crate::call_tree::Spread;
use crate::window::Position;

/// What was counted at a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteCount {
    pub(super) amount: Amount,
    /// How many of the bytes were really allocated, as a sampler estimates.
    pub(super) estimate: Option<u64>,
}

/// How a cell was counted.
#[derive(Clone, Copy, Debug, Default)]
struct CountedCell {
    /// Bytes that the VM counted in the part of the trace that counts: the JIT cannot remove them.
    by_vm: u64,
    /// Bytecode has counted there.
    is_executed: bool,
}

/// Bytes that were really allocated, as a sampler estimates.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    /// In each cell where something was counted, with the square of their standard error.
    pub(super) cells: Vec<(CellIndex, u64, f64)>,
    /// Where nothing was counted.
    pub(super) unmatched: u64,
}

/// The counts of one document.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The last of each. By ids, because classes of one name share a cell and each has counts of its own.
    last: FxHashMap<(CellIds, Option<CountSource>), SiteCount>,
    cells: FxHashMap<CellIndex, CountedCell>,
}

impl Counts {
    /// Takes in the count of a site, and returns how much more it is than the one before. `position`: where in the trace it was
    /// counted.
    pub(super) fn site(&mut self, cell: CellIndex, ids: CellIds, count: &AllocCount, position: Position) -> SiteCount {
        let now = SiteCount {
            amount: Amount { objects: count.instances, bytes: count.bytes },
            estimate: count.allocated_bytes,
        };
        let before = std::mem::replace(self.last.entry((ids, count.source)).or_default(), now);
        let mut amount = now.amount;
        amount.remove(before.amount);
        // What was estimated before has to be known as well, unless there was nothing.
        let estimated = before.estimate.or((before.amount == Amount::default()).then_some(0));
        let estimate = now.estimate.zip(estimated).map(|(now, before)| now.saturating_sub(before));
        let counted = self.cells.entry(cell).or_default();
        match count.source {
            Some(CountSource::Vm) if position == Position::Inside => {
                counted.by_vm = counted.by_vm.saturating_add(amount.bytes)
            }
            Some(CountSource::Vm) => {}
            None => counted.is_executed = true,
        }
        SiteCount { amount, estimate }
    }

    /// Whether nothing was counted so far.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The counted site to which samples belong. A method that allocates for its caller is counted where it is called, or, where that
    /// cannot be rewritten, in the method itself: so where nothing is counted at the site of a sample, it is one of the innermost frame
    /// at which something is.
    pub(super) fn site_of(&self, key: ShareKey, cells: &Cells) -> CellIndex {
        let own = cells.cell(key.cell);
        let frames = cells.stack_of(key.of(own)).iter();
        let callers = frames.filter_map(|&site| cells.find(Cell { site: Some(site), ..own }));
        std::iter::once(key.cell).chain(callers).find(|cell| self.cells.contains_key(cell)).unwrap_or(key.cell)
    }

    /// Ends the document. Gives back what a sampler estimates by what it sampled in each cell; `None` if none ran.
    pub(super) fn end_document(self, sampled: impl Iterator<Item = (CellIndex, Spread)>) -> Option<Estimates> {
        let counted = self.cells;
        let mut cells: FxHashMap<CellIndex, (u64, f64)> = FxHashMap::default();
        for (cell, spread) in sampled {
            let (bytes, variance) = cells.entry(cell).or_default();
            *bytes = bytes.saturating_add(spread.weight as u64);
            *variance += spread.variance;
        }
        if cells.is_empty() {
            return None;
        }
        counted.keys().for_each(|&cell| _ = cells.entry(cell).or_default());
        let mut estimates = Estimates::default();
        for (cell, (bytes, variance)) in cells {
            match counted.get(&cell) {
                Some(counted) if counted.is_executed => {
                    estimates.cells.push((cell, bytes.max(counted.by_vm), variance));
                }
                // The VM counted all of it.
                Some(counted) => estimates.cells.push((cell, counted.by_vm, 0.0)),
                None => estimates.unmatched = estimates.unmatched.saturating_add(bytes),
            }
        }
        Some(estimates)
    }
}
