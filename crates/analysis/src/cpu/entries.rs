//! All samples, piece by piece: what programs take that add them up themselves.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::report::CpuReport;
use super::sample_times::SlotSamples;
use super::samples::CellKey;
use crate::allocations::{SiteNames, ThreadSubject};
use crate::call_tree::{Granularity, Label, Ran};

/// Samples that have everything in common.
#[derive(Clone, Debug)]
pub struct CpuEntry<'r> {
    /// What ran, innermost first, and how.
    pub labels: Vec<(Label<'r>, Option<Ran>)>,
    /// The line that names the stack.
    pub named: Option<Label<'r>>,
    /// The thread: the virtual one, if one was carried.
    pub thread: ThreadSubject<'r>,
    /// How many samples there are.
    pub samples: u64,
    /// For how long they stand.
    pub time: Nanos,
    /// The standard error of that in nanoseconds, squared.
    pub variance: f64,
}

impl CpuReport {
    /// All samples; no two pieces have everything in common.
    pub fn entries(&self, names: &SiteNames) -> impl Iterator<Item = CpuEntry<'_>> {
        self.cells.iter().map(move |(key, weight)| {
            let innermost = self.frames(key).first().copied();
            let named = names.site(innermost, key.stack.map(|stack| stack.frames));
            CpuEntry {
                labels: self.labels(key, Granularity::Line),
                named: named.map(|site| Label::Line(self.symbols.location(site))),
                thread: self.thread(key.virtual_thread.unwrap_or(key.thread)),
                samples: weight.samples,
                time: weight.time,
                variance: weight.spread().variance,
            }
        })
    }

    /// When they were taken: the width of a slot of time, and the samples of each; `None` if that was not asked for.
    pub fn moments(&self) -> Option<(Nanos, Vec<SlotSamples>)> {
        let numbers: FxHashMap<&CellKey, u32> = self.cells.iter().map(|(key, _)| key).zip(0..).collect();
        Some(self.moments.as_ref()?.of(|key| numbers.get(key).copied()))
    }
}
