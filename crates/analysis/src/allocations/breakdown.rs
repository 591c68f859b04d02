//! Adds up cells, and the parts of cells over which samples spread them.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Cell, CellIndex, Cells};
use super::naming::SiteNames;
use super::samples::{Sampled, Shares};
use super::sources::Sources;
use super::totals::{Amount, ObjectTotals};
use crate::call_tree::{Source, SourceIndex, Spread, error};
use crate::location::Location;
use crate::symbols::{ClassIndex, SiteIndex};

/// The part of a cell that was allocated on one stack; the whole cell, unless samples spread it over several.
pub(super) struct Part<'r> {
    pub(super) index: CellIndex,
    /// The cell, with the stack and the thread of the part.
    pub(super) cell: Cell,
    /// Of the whole cell.
    pub(super) totals: &'r ObjectTotals,
    /// What samples say of the part, and of the whole cell.
    pub(super) share: Option<(&'r Sampled, &'r Sampled)>,
}

impl Part<'_> {
    /// How many objects.
    pub(super) fn objects(&self) -> f64 {
        let ratio = self.share.map_or(1.0, |(part, whole)| {
            // A sample stands for one object at least, unless the trace is hostile.
            if whole.instances > 0.0 { part.instances / whole.instances } else { 0.0 }
        });
        self.totals.total() as f64 * ratio
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.totals.total_bytes() as f64 * self.ratio()
    }

    /// Which part of the cell's bytes it has, from 0 to 1.
    pub(super) fn ratio(&self) -> f64 {
        self.share.map_or(1.0, |(part, whole)| part.bytes.weight / whole.bytes.weight)
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
    sources: FxHashMap<SourceIndex, Spread>,
}

/// All cells, and how samples spread them.
#[derive(Debug)]
pub(super) struct Breakdown {
    cells: Cells,
    shares: Shares,
    sources: Sources,
    /// Cells of which only some shares may be left.
    restricted: FxHashSet<CellIndex>,
}

impl Breakdown {
    pub(super) fn new(cells: Cells, shares: Shares, sources: Sources) -> Breakdown {
        Breakdown { cells, shares, sources, restricted: FxHashSet::default() }
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
                let parts = shares.into_iter().flat_map(move |(shares, whole)| {
                    shares.iter().map(move |(key, sampled)| Part {
                        index,
                        cell: key.of(cell),
                        totals,
                        share: Some((sampled, whole)),
                    })
                });
                whole.into_iter().chain(parts)
            })
    }

    /// What samples say of a part, and of which whole it is one; `None` if they say nothing.
    pub(super) fn share(&self, part: &Part<'_>) -> Option<(SourceIndex, Spread)> {
        match part.share {
            Some((sampled, _)) => Some((SourceIndex(part.index.0), sampled.bytes)),
            None => self.sources.of(part.index, part.cell),
        }
    }

    /// The whole of which samples say the parts: all samples of a thread, or a cell whose number is exact.
    pub(super) fn source(&self, source: SourceIndex) -> Option<Source> {
        self.sources.source(source).or_else(|| {
            let (_, whole) = self.shares.of(CellIndex(source.0))?;
            let weight = self.cells.totals(CellIndex(source.0)).total_bytes() as f64;
            Some(Source { weight, whole: whole.bytes, is_exact: true })
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
                group.sources.entry(source).or_default().add(&spread);
            }
            let Some((sampled, _)) = part.share else {
                group.totals.add(part.totals);
                continue;
            };
            group.objects += part.objects();
            group.bytes += part.bytes();
            let (estimate, variance) = match self.shares.are_outside(part.index) {
                // These say who the callers are, but not what the JIT did in this part of the trace.
                true => (part.totals.estimated_bytes().map(|bytes| bytes as f64 * part.ratio()), 0.0),
                false => (Some(sampled.bytes.weight), sampled.bytes.variance),
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
        let sampled = group.sources.values().fold(0_u64, |sum, spread| sum.saturating_add(spread.samples));
        let are_alone = group.sources.keys().all(|&index| self.sources.source(index).is_some());
        if are_alone && sampled > 0 && sampled == self.sources.samples() {
            // All of what is known: the accounts of threads are exact.
            let error = error(self.sources.variance_of_all());
            return (group.totals, (error > 0).then_some(error));
        }
        self.finish(group)
    }

    /// The sum of a group, and how far its bytes may be off with a confidence of 95 %; `None` if they are exact.
    pub(super) fn finish(&self, group: Group) -> (ObjectTotals, Option<u64>) {
        let Group { mut totals, objects, bytes, sampled, variance, sources } = group;
        totals.allocated.add(Amount { objects: objects.round() as u64, bytes: bytes.round() as u64 });
        if let Some(sampled) = sampled {
            totals.estimated(sampled.round() as u64, Some(variance));
        }
        if sources.is_empty() {
            return (totals, None);
        }
        let variances = sources.iter().filter_map(|(&index, part)| Some(self.source(index)?.variance(part)));
        let error = error(variances.sum()).min(totals.total_bytes());
        (totals, Some(error))
    }
}
