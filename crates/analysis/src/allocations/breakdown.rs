//! Adds up cells, and the parts of cells over which samples spread them.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Cell, CellIndex, Cells};
use super::division::{Division, Share};
use super::naming::SiteNames;
use super::samples::{Sampled, Shares};
use super::sources::Sources;
use super::totals::{Amount, ObjectTotals};
use crate::call_tree::{Parts, Source, SourceIndex, Spread, error};
use crate::location::Location;
use crate::symbols::{ClassIndex, SiteIndex};

/// The part of a cell that was allocated on one stack, or that the JIT removed; the whole cell, unless samples spread it over several.
pub(super) struct Part<'r> {
    pub(super) index: CellIndex,
    /// The cell, with the stack and the thread of the part.
    pub(super) cell: Cell,
    /// Of the whole cell.
    pub(super) totals: &'r ObjectTotals,
    /// What samples say of the part.
    pub(super) share: Option<Share>,
}

impl Part<'_> {
    /// How many objects.
    pub(super) fn objects(&self) -> f64 {
        self.share.map_or(self.totals.total() as f64, |share| share.objects)
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.share.map_or(self.totals.total_bytes() as f64, |share| share.bytes)
    }

    /// Which part of the cell's samples it has, from 0 to 1.
    pub(super) fn ratio(&self) -> f64 {
        self.share.map_or(1.0, |share| share.ratios[1])
    }

    /// The JIT removed it, and who would have made it is not known.
    pub(super) fn is_removed(&self) -> bool {
        self.share.is_some_and(|share| share.is_removed)
    }

    /// Whether it has anything to show besides what a walk of the heap found.
    pub(super) fn is_allocated(&self) -> bool {
        self.totals.total() > 0 || self.totals.live_samples() > 0
    }
}

/// Parts that are added up.
#[derive(Default)]
pub(super) struct Group {
    /// Of whole cells.
    totals: ObjectTotals,
    objects: f64,
    bytes: f64,
    /// Bytes that the JIT let be allocated, where a sampler estimates it.
    sampled: Option<f64>,
    /// The standard error of these, squared.
    variance: f64,
    /// What samples say, by what it is a part of.
    pub(super) parts: Parts,
}

/// All cells, and how samples spread them.
#[derive(Debug)]
pub(super) struct Breakdown {
    cells: Cells,
    shares: Shares,
    sources: Sources,
    /// Cells of which only some shares may be left.
    restricted: FxHashSet<CellIndex>,
    /// The JIT has removed no more than this, besides what it is known to have removed; infinite if nobody knows.
    most_removed: f64,
}

impl Breakdown {
    /// `excess`: what was executed, less what the JVM accounts; `None` if the two cannot be compared. `uncounted`: what samples say of
    /// objects that are accounted, and not counted.
    pub(super) fn new(
        cells: Cells,
        shares: Shares,
        sources: Sources,
        excess: Option<f64>,
        uncounted: u64,
    ) -> Breakdown {
        let most_removed = f64::INFINITY;
        let mut breakdown = Breakdown { cells, shares, sources, restricted: FxHashSet::default(), most_removed };
        if let Some(excess) = excess {
            breakdown.most_removed = breakdown.most_removed(excess + uncounted as f64, uncounted as f64);
        }
        breakdown
    }

    /// How much the JIT has removed at most, besides what it is known to have removed: all of it is known as well as the samples know what
    /// is not counted.
    fn most_removed(&self, all: f64, uncounted: f64) -> f64 {
        let (mut whole, mut kept, mut known) = (Spread::default(), Spread::default(), 0.0);
        for (index, site) in self.cells.iter().filter_map(|(index, ..)| Some((index, self.shares.of(index)?.1))) {
            let division = self.division(index, site);
            whole.add(&site.bytes);
            if division.has_removed() {
                kept.add(&site.bytes);
                known += division.removed_bytes();
            }
        }
        if whole.weight <= 0.0 {
            return f64::INFINITY;
        }
        let sample = whole.variance / whole.weight;
        let variance = uncounted * sample + 3.0 * sample.powi(2) + kept.variance;
        (all - known).max(0.0) + 2.0 * variance.sqrt()
    }

    pub(super) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(super) fn shares(&self) -> &Shares {
        &self.shares
    }

    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether nothing was left out of any cell.
    pub(super) fn is_whole(&self) -> bool {
        self.restricted.is_empty()
    }

    /// Leaves out what is not allocated in code that passes the filter: neither at the innermost frame nor at the one that names the
    /// stack. Gives back the cells of which nothing is left.
    pub(super) fn retain_sites(
        &mut self,
        names: &SiteNames,
        site_filter: impl Fn(&Location<'_>) -> bool,
    ) -> Vec<CellIndex> {
        // A site has a cell for each class and thread.
        let mut known: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        let mut passes = |cells: &Cells, site: Option<SiteIndex>| {
            site.is_some_and(|site| *known.entry(site).or_insert_with(|| site_filter(&cells.location(site))))
        };
        let cells = &self.cells;
        self.shares.retain(|key| {
            let innermost = cells.cell(key.cell).site;
            passes(cells, innermost) || passes(cells, names.site(innermost, key.stack))
        });
        let mut left_out = Vec::new();
        for (index, cell, _) in self.cells.iter() {
            if passes(cells, cell.site) {
                continue;
            }
            // Where samples spread a site, its shares say what is left of it.
            if !names.are_innermost() && self.shares.of(index).is_some() {
                self.restricted.insert(index);
            } else if !passes(cells, names.site(cell.site, cell.stack)) {
                left_out.push(index);
            }
        }
        left_out.iter().for_each(|&index| *self.cells.totals_mut(index) = ObjectTotals::default());
        left_out
    }

    /// The parts of all cells whose class name passes the filter.
    pub(super) fn parts(&self, class_filter: impl Fn(&str) -> bool) -> impl Iterator<Item = Part<'_>> {
        self.pieces(|_| false, class_filter)
    }

    /// The same, or whole cells where that is enough.
    pub(super) fn pieces(
        &self,
        is_enough: impl Fn(Cell) -> bool,
        class_filter: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Part<'_>> {
        // A class whose instances were found by an earlier walk of the heap only has nothing to show.
        self.pieces_of_all(is_enough, class_filter).filter(|part| part.totals.total() > 0 || part.totals.live() > 0)
    }

    /// The same, also those of which nothing was allocated in the part of the trace that counts.
    pub(super) fn pieces_of_all(
        &self,
        is_enough: impl Fn(Cell) -> bool,
        class_filter: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Part<'_>> {
        // A class has many cells; a filter may be slow.
        let mut passes: FxHashMap<ClassIndex, bool> = FxHashMap::default();
        self.cells
            .iter()
            .filter(move |&(_, cell, _)| {
                *passes.entry(cell.class).or_insert_with(|| class_filter(self.cells.class(cell)))
            })
            .flat_map(move |(index, cell, totals)| {
                let is_whole = is_enough(cell) && !self.restricted.contains(&index);
                let shares = self.shares.of(index).filter(|_| !is_whole);
                let whole = shares.is_none().then_some(Part { index, cell, totals, share: None });
                let part = move |cell, share| Part { index, cell, totals, share: Some(share) };
                let division = shares.map(|(_, whole)| self.division(index, whole));
                // Of what is left of a site nobody knows whether the JIT removed some.
                let removed = division.filter(|_| !self.restricted.contains(&index)).and_then(|it| it.removed());
                let shares = shares.into_iter().flat_map(|(shares, _)| shares).zip(division.into_iter().cycle());
                let shares = shares.map(move |((key, sampled), division)| part(key.of(cell), division.share(sampled)));
                whole.into_iter().chain(shares).chain(removed.map(|share| part(cell, share)))
            })
    }

    /// How samples divide a cell.
    fn division(&self, index: CellIndex, whole: &Sampled) -> Division {
        let mut division = Division::of(self.cells.totals(index), whole, self.shares.are_outside(index));
        division.source.most_removed = self.most_removed;
        division
    }

    /// What samples say of a part, and of which whole it is one; `None` if they say nothing.
    pub(super) fn share(&self, part: &Part<'_>) -> Option<(SourceIndex, Spread)> {
        match part.share {
            Some(share) => Some((SourceIndex(part.index.0), share.spread)),
            None => self.sources.of(part.index, part.cell),
        }
    }

    /// The whole of which samples say the parts: all samples of a thread, or a cell whose number is exact.
    pub(super) fn source(&self, source: SourceIndex) -> Option<Source> {
        self.sources.source(source).or_else(|| {
            let (_, whole) = self.shares.of(CellIndex(source.0))?;
            Some(self.division(CellIndex(source.0), whole).source)
        })
    }

    /// Adds up parts by a key.
    pub(super) fn group<'r, K: Hash + Eq>(
        &self,
        parts: impl Iterator<Item = Part<'r>>,
        key: impl Fn(&Part<'r>) -> K,
    ) -> FxHashMap<K, Group> {
        let mut groups: FxHashMap<K, Group> = FxHashMap::default();
        for part in parts {
            let group = groups.entry(key(&part)).or_default();
            if let Some((source, spread)) = self.share(&part) {
                group.parts.add(source, &spread, part.bytes());
            }
            let Some(share) = part.share else {
                group.totals.add(part.totals);
                continue;
            };
            group.objects += share.objects;
            group.bytes += share.bytes;
            let (estimate, variance) = match self.shares.are_outside(part.index) {
                // These say who the callers are, but not what the JIT did in this part of the trace.
                true => (part.totals.estimated_bytes().map(|bytes| bytes as f64 * share.ratios[1]), 0.0),
                false if share.is_removed => (Some(0.0), share.spread.variance.abs()),
                false => (Some(share.spread.weight), share.spread.variance),
            };
            if let Some(estimate) = estimate {
                *group.sampled.get_or_insert_default() += estimate;
            }
            group.variance += variance;
        }
        groups
    }

    /// The sum of all cells whose class name passes the filter, and its error.
    pub(super) fn sum(&self, class_filter: impl Fn(&str) -> bool) -> (ObjectTotals, Option<u64>) {
        let group = self.group(self.pieces(|_| true, class_filter), |_| ()).remove(&()).unwrap_or_default();
        let sampled = group.parts.samples();
        let are_alone = group.parts.sources().all(|index| self.sources.source(index).is_some());
        if are_alone && sampled > 0 && sampled == self.sources.samples() {
            // All of what is known: the accounts of threads are exact.
            let error = error(self.sources.variance_of_all());
            let mut totals = group.totals;
            totals.bound_living();
            return (totals, (error > 0).then_some(error));
        }
        self.finish(group)
    }

    /// The sum of a group, and how far its bytes may be off with a confidence of 95 %; `None` if they are exact.
    pub(super) fn finish(&self, group: Group) -> (ObjectTotals, Option<u64>) {
        let Group { mut totals, objects, bytes, sampled, variance, parts } = group;
        totals.allocated.add(Amount { objects: objects.round() as u64, bytes: bytes.round() as u64 });
        if let Some(sampled) = sampled {
            totals.estimated(sampled.round() as u64, Some(variance));
        }
        totals.bound_living();
        let error = (!parts.is_empty()).then(|| parts.error(|index| self.source(index)));
        (totals, error)
    }
}
