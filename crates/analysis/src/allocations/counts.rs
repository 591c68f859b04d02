//! Sites of which a document counts the objects, instead of reporting each (`allocCount`).
//!
//! Counts are cumulative, so of each only the last is kept: memory grows with the sites, not with the trace.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::model::{AllocCount, CountSource};

use super::cells::{Cell, CellIds, CellIndex, Cells};
use super::samples::{ByShare, Sampled, ShareKey};
use super::totals::Amount;
use crate::call_tree::Spread;
use crate::symbols::ClassIndex;
use crate::window::Position;

/// What was counted at a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteCount {
    pub(super) amount: Amount,
    /// How many of the bytes were really allocated, as a sampler estimates.
    pub(super) estimate: Option<u64>,
}

/// What is known of a site.
#[derive(Clone, Copy, Debug)]
struct Site {
    cell: CellIndex,
    /// The last count.
    last: Amount,
    /// The last count before the part of the trace that counts, and the last one in it.
    before: SiteCount,
    counted: SiteCount,
}

impl Site {
    fn in_part(&self) -> SiteCount {
        let mut amount = self.counted.amount;
        amount.remove(self.before.amount);
        // What was estimated before has to be known as well, unless there was nothing.
        let before = self.before.estimate.or((self.before.amount == Amount::default()).then_some(0));
        let estimate = self.counted.estimate.zip(before).map(|(estimate, before)| estimate.saturating_sub(before));
        SiteCount { amount, estimate }
    }
}

/// Bytes that were really allocated, as a sampler estimates.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    /// In each cell where something was counted, with the square of their standard error.
    pub(super) cells: Vec<(CellIndex, u64, f64)>,
    /// Cells where nothing was counted.
    pub(super) unmatched: FxHashSet<CellIndex>,
}

/// The counts of one document.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// By ids, because classes of one name share a cell and each has counts of its own.
    sites: FxHashMap<(CellIds, Option<CountSource>), Site>,
}

impl Counts {
    /// Takes in the count of a site, at a position in the trace, and returns how much more it is than the one before.
    pub(super) fn site(&mut self, cell: CellIndex, ids: CellIds, count: &AllocCount, position: Position) -> Amount {
        let amount = Amount { objects: count.instances, bytes: count.bytes };
        let none = SiteCount::default();
        let new = Site { cell, last: Amount::default(), before: none, counted: none };
        let site = self.sites.entry((ids, count.source)).or_insert(new);
        let mut more = amount;
        more.remove(site.last);
        (site.cell, site.last) = (cell, amount);
        let count = SiteCount { amount, estimate: count.allocated_bytes };
        match position {
            Position::Before => (site.before, site.counted) = (count, count),
            Position::Inside => site.counted = count,
            Position::After => {}
        }
        more
    }

    /// Whether nothing was counted so far.
    pub(super) fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What was counted at each site in the part of the trace that counts, and by whom.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CellIndex, Option<CountSource>, SiteCount)> {
        self.sites.iter().map(|(&(_, source), site)| (site.cell, source, site.in_part()))
    }

    /// Samples by the counted site to which they belong. A method that allocates for its caller is counted where it is called, or, where
    /// that cannot be rewritten, in the method itself: so where nothing is counted at the site of a sample, it is one of the innermost
    /// frame at which something is.
    pub(super) fn by_site(&self, samples: ByShare, cells: &Cells) -> Vec<(ShareKey, Sampled)> {
        let counted: FxHashSet<CellIndex> = self.sites.values().map(|site| site.cell).collect();
        let site = |key: ShareKey| {
            let own = cells.cell(key.cell);
            let frames = cells.stack_of(key.of(own)).iter();
            let callers = frames.filter_map(|&site| cells.find(Cell { site: Some(site), ..own }));
            std::iter::once(key.cell).chain(callers).find(|cell| counted.contains(cell)).unwrap_or(key.cell)
        };
        samples.into_iter().map(|(key, sampled)| (ShareKey { cell: site(key), ..key }, sampled)).collect()
    }

    /// Of samples at sites where nothing is counted, which part of each stands for objects that nobody counted: of some classes, such as
    /// `Class`, the VM's own objects are counted without their site. Those explain samples, as far as more than chance is not left.
    pub(super) fn uncounted(
        &self,
        unmatched: Vec<(ShareKey, Sampled)>,
        cells: &Cells,
    ) -> Vec<(ShareKey, Sampled, f64)> {
        let mut classes: FxHashMap<ClassIndex, (Spread, u64)> = FxHashMap::default();
        for (key, sampled) in &unmatched {
            classes.entry(cells.cell(key.cell).class).or_default().0.add(&sampled.bytes);
        }
        for (cell, source, count) in self.iter() {
            let cell = cells.cell(cell);
            if cell.site.is_none()
                && source == Some(CountSource::Vm)
                && let Some(class) = classes.get_mut(&cell.class)
            {
                class.1 = class.1.saturating_add(count.amount.bytes);
            }
        }
        let rest = unmatched.into_iter().filter_map(|(key, sampled)| {
            let &(spread, by_vm) = classes.get(&cells.cell(key.cell).class)?;
            let rest = spread.weight - by_vm as f64;
            let is_chance = by_vm > 0 && rest <= 2.0 * spread.variance.sqrt();
            let part = rest / spread.weight;
            (!is_chance && part > 0.0).then(|| (key, sampled.scaled(part), part))
        });
        rest.collect()
    }

    /// What a sampler estimates by what it sampled in each cell; `None` if none ran.
    pub(super) fn estimates(&self, sampled: impl Iterator<Item = (CellIndex, Spread)>) -> Option<Estimates> {
        let mut cells: FxHashMap<CellIndex, Estimate> = FxHashMap::default();
        for (cell, spread) in sampled {
            let estimate = cells.entry(cell).or_default();
            estimate.sampled = estimate.sampled.saturating_add(spread.weight as u64);
            estimate.variance += spread.variance;
        }
        if cells.is_empty() {
            return None;
        }
        for (cell, source, count) in self.iter() {
            let estimate = cells.entry(cell).or_default();
            estimate.is_counted = true;
            match source {
                Some(CountSource::Vm) => estimate.by_vm = estimate.by_vm.saturating_add(count.amount.bytes),
                None => estimate.is_executed = true,
            }
        }
        let mut estimates = Estimates::default();
        for (cell, Estimate { sampled, variance, by_vm, is_counted, is_executed }) in cells {
            match is_counted {
                true if is_executed => estimates.cells.push((cell, sampled.max(by_vm), variance)),
                // The VM counted all of it.
                true => estimates.cells.push((cell, by_vm, 0.0)),
                false => _ = estimates.unmatched.insert(cell),
            }
        }
        Some(estimates)
    }
}

/// What a sampler says of a cell.
#[derive(Default)]
struct Estimate {
    /// Bytes for which samples stand.
    sampled: u64,
    /// The standard error of these, squared.
    variance: f64,
    /// Bytes that the VM counted, which the JIT cannot remove.
    by_vm: u64,
    /// Something was counted there.
    is_counted: bool,
    /// Bytecode has counted there.
    is_executed: bool,
}
