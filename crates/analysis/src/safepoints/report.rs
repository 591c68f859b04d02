//! What a trace says about safepoints.

use trace::time::Nanos;

use super::cells::Cells;
use super::{OperationSums, SafepointStats, SlowSums, StopSums, TextIndex, Texts};
use crate::facts::Facts;
use crate::stacks::Stacks;
use crate::symbols::Symbols;

/// What stops for one operation of the VM cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<'a> {
    /// Its name; `None` if it is not known.
    pub name: Option<&'a str>,
    /// All stops for it.
    pub all: StopSums,
    /// Those that took long to reach.
    pub slow: SlowSums,
}

/// What a trace says about safepoints.
#[derive(Debug)]
pub struct SafepointReport {
    facts: Facts,
    symbols: Symbols,
    stacks: Stacks,
    texts: Texts,
    operations: Vec<(Option<Box<str>>, OperationSums)>,
    cells: Cells,
    unseen: Nanos,
    unmatched: u64,
}

impl SafepointReport {
    pub(super) fn new(stats: SafepointStats) -> SafepointReport {
        let SafepointStats { facts, symbols, stacks, texts, operations, cells, unseen, unmatched, .. } = stats;
        let operations = operations.into_iter().collect();
        SafepointReport { facts, symbols, stacks, texts, operations, cells, unseen, unmatched }
    }

    /// What is known of any trace.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The VM's operations, that of the longest time to safepoint first.
    pub fn operations(&self) -> Vec<Operation<'_>> {
        let mut all: Vec<_> = self
            .operations
            .iter()
            .map(|(name, sums)| Operation { name: name.as_deref(), all: sums.ended, slow: sums.slow })
            .collect();
        all.sort_by(|a, b| (b.all.sync, b.all.total).cmp(&(a.all.sync, a.all.total)).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// All stops.
    pub fn sums(&self) -> StopSums {
        let mut sums = StopSums::default();
        self.operations.iter().for_each(|(_, operation)| sums.add(operation.ended));
        sums
    }

    /// All stops that took long to reach.
    pub fn slow(&self) -> SlowSums {
        self.operations.iter().fold(SlowSums::default(), |sums, (_, OperationSums { slow, .. })| SlowSums {
            count: sums.count.saturating_add(slow.count),
            sync: Nanos(sums.sync.0.saturating_add(slow.sync.0)),
            longest: sums.longest.max(slow.longest),
        })
    }

    /// Of the time that slow stops took to reach, that of stops for which no late thread was seen.
    pub fn unseen(&self) -> Nanos {
        self.unseen
    }

    /// Late threads that belong to no stop of the trace.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    pub(super) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(super) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    pub(super) fn text(&self, index: TextIndex) -> &str {
        self.texts.get(index)
    }
}
