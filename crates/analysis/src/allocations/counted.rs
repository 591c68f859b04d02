//! What a document counts instead of reporting each object: `allocCount` per site, `liveCount` per class; and `allocSample`, what a
//! sampler says beside that.
//!
//! Counts are cumulative, so only the last of each kind is kept, and the last before the part of the trace that counts: memory grows with the sites and classes, not with the
//! trace.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{AllocCount, AllocSample, CountSource, LiveCount};
use trace::time::Time;

use super::amount::Amount;
use super::live::CellIndex;
use super::shares::Sampled;
use crate::call_tree::Spread;
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

/// What an `allocCount` counts for, in the ids of the document.
type SiteIds = (ClassId, Option<MethodId>, Option<i64>, Option<CountSource>);

/// What an `allocSample` counts for on one thread, in the ids of the document.
type SampleIds = (ClassId, Option<MethodId>, Option<i64>, Option<StackId>);

/// What the last `allocSample` said.
#[derive(Clone, Copy, Debug, Default)]
struct LastSample {
    samples: u64,
    instances: u64,
    bytes: u64,
    error: u64,
}

/// What a sampler says of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
pub(super) struct CountedDocument {
    /// By ids, because classes of one name share a cell and each has counts of its own.
    sites: FxHashMap<SiteIds, Site>,
    living: FxHashMap<CellIndex, Amount>,
    walked: Option<Time>,
    /// The last of each, by threads that have not ended.
    samples: FxHashMap<Option<ThreadId>, FxHashMap<SampleIds, LastSample>>,
}

impl CountedDocument {
    /// Takes in the count of a site, which lies somewhere, and returns how much more it is than the one before.
    pub(super) fn site(&mut self, cell: CellIndex, count: &AllocCount, place: Position) -> Amount {
        let amount = Amount { objects: count.instances, bytes: count.bytes };
        let ids = (count.class, count.method, count.line, count.source);
        let none = SiteCount::default();
        let site = self.sites.entry(ids).or_insert(Site { cell, last: Amount::default(), before: none, counted: none });
        let mut more = amount;
        more.remove(site.last);
        (site.cell, site.last) = (cell, amount);
        let count = SiteCount { amount, estimate: count.allocated_bytes };
        match place {
            Position::Before => (site.before, site.counted) = (count, count),
            Position::Inside => site.counted = count,
            Position::After => {}
        }
        more
    }

    /// Takes in what was sampled, and returns what is new in it.
    pub(super) fn sample(&mut self, sample: &AllocSample) -> Sampled {
        let ids = (sample.class, sample.method, sample.line, sample.stack);
        let last = self.samples.entry(sample.thread).or_default().entry(ids).or_default();
        let before = *last;
        *last = LastSample {
            samples: sample.samples.max(before.samples),
            instances: sample.instances.max(before.instances),
            bytes: sample.bytes.max(before.bytes),
            error: sample.error.max(before.error),
        };
        Sampled {
            bytes: Spread {
                samples: last.samples - before.samples,
                weight: (last.bytes - before.bytes) as f64,
                variance: (last.error as f64).powi(2) - (before.error as f64).powi(2),
            },
            instances: (last.instances - before.instances) as f64,
        }
    }

    /// Whether anything was counted so far.
    pub(super) fn has_sites(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Nothing more will be sampled on this thread.
    pub(super) fn thread_ended(&mut self, thread: ThreadId) {
        self.samples.remove(&Some(thread));
    }

    /// The cells in which something is counted. Call it before [`take_sites`](Self::take_sites).
    pub(super) fn counted_cells(&self) -> FxHashSet<CellIndex> {
        self.sites.values().map(|site| site.cell).collect()
    }

    /// What the sampler estimates by what it sampled in each cell; `None` if none ran. Call it before [`take_sites`](Self::take_sites).
    pub(super) fn take_estimates(&mut self, sampled: impl Iterator<Item = (CellIndex, Spread)>) -> Option<Estimates> {
        self.samples.clear();
        let mut cells: FxHashMap<CellIndex, Estimate> = FxHashMap::default();
        for (cell, spread) in sampled {
            let estimate = cells.entry(cell).or_default();
            estimate.sampled = estimate.sampled.saturating_add(spread.weight as u64);
            estimate.variance += spread.variance;
        }
        if cells.is_empty() {
            return None;
        }
        for ((.., source), site) in &self.sites {
            let estimate = cells.entry(site.cell).or_default();
            estimate.is_counted = true;
            match source {
                Some(CountSource::Vm) => {
                    estimate.by_vm = estimate.by_vm.saturating_add(site.in_part().amount.bytes);
                }
                None => estimate.is_executed = true,
            }
        }
        let mut estimates = Estimates::default();
        for (cell, Estimate { sampled, variance, by_vm, is_counted, is_executed }) in cells {
            match is_counted {
                true if is_executed => estimates.cells.push((cell, sampled.max(by_vm), variance)),
                // The VM counted all of it.
                true => estimates.cells.push((cell, by_vm, 0.0)),
                false => estimates.unmatched = estimates.unmatched.saturating_add(sampled),
            }
        }
        Some(estimates)
    }

    /// Takes in the living instances of a class. A later walk of the heap replaces what an earlier one found.
    pub(super) fn living(&mut self, cell: CellIndex, count: &LiveCount) {
        if self.walked != Some(count.time) {
            if self.walked.is_some_and(|walked| walked > count.time) {
                return;
            }
            self.living.clear();
            self.walked = Some(count.time);
        }
        // Two classes of one name share a cell.
        self.living.entry(cell).or_default().add(Amount { objects: count.instances, bytes: count.bytes });
    }

    /// What was counted at each site, with its source; forgotten here.
    pub(super) fn take_sites(&mut self) -> impl Iterator<Item = (CellIndex, Option<CountSource>, SiteCount)> + use<> {
        std::mem::take(&mut self.sites).into_iter().map(|((.., source), site)| (site.cell, source, site.in_part()))
    }

    /// What the last walk of the heap found; forgotten here.
    pub(super) fn take_living(&mut self) -> impl Iterator<Item = (CellIndex, Amount)> + use<> {
        self.walked = None;
        std::mem::take(&mut self.living).into_iter()
    }
}
