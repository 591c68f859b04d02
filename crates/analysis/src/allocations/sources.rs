//! Samples of objects that nothing counts: what they say is all that is known.
//!
//! Beside `heap=counts` these are of code that could not be rewritten, and of the VM itself. Without (`sampled=SIZE`) they are of everything:
//! the JVM's own accounts of its threads (`Thread::cooked_allocated_bytes` of HotSpot's `runtime/thread.inline.hpp`) are exact. So what the samples of a thread stand for is scaled to the account of that thread:
//! the thread's sum is exact then, and the samples say how it is spread. Threads of few samples are scaled together, to the sum of
//! their accounts with those of threads without any sample: of a thousand threads with a sample or none each, those with one would
//! otherwise have all that they made where it was, and the others nothing.

use rustc_hash::FxHashMap;
use trace::model::ThreadCount;

use super::cells::{Cell, CellIndex, Cells};
use super::samples::Sampled;
use crate::call_tree::{Source, SourceIndex, SourceKind, Spread};
use crate::coverage::Calibration;
use crate::symbols::ThreadIndex;

/// Threads with fewer samples are scaled together: by itself each would be scaled by chance alone.
const LEAST_SAMPLES: u64 = 100;
/// The source of what threads without an account made.
const UNACCOUNTED: SourceIndex = SourceIndex(u32::MAX);
/// The source of what nobody counted where sites are counted.
const UNCOUNTED: SourceIndex = SourceIndex(u32::MAX - 2);
/// The source of what threads of few samples made.
const TOGETHER: SourceIndex = SourceIndex(u32::MAX - 1);

/// What samples say of objects that nothing counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    cells: FxHashMap<CellIndex, Sampled>,
    /// Where sites are counted, and these objects are not.
    uncounted: FxHashMap<CellIndex, Sampled>,
    /// Of which source the samples of each thread are a part.
    source_of: FxHashMap<Option<ThreadIndex>, SourceIndex>,
    /// By what was made on which stack, whoever made it: what samples stand for, and that scaled to the accounts.
    by_anyone: FxHashMap<Cell, [f64; 2]>,
    sources: FxHashMap<SourceIndex, Source>,
    calibration: Calibration,
}

/// Of a thread the number as a source of samples. Sites that are counted are sources, too: they have the small numbers.
fn source_of(thread: ThreadIndex) -> SourceIndex {
    SourceIndex((1 << 31) | thread.rank() as u32)
}

impl Sources {
    /// Whether there are none but of what is left over where sites are counted.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many samples there are.
    pub(super) fn samples(&self) -> u64 {
        self.calibration.samples
    }

    /// By how much samples were scaled.
    pub(super) fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Adds samples of a cell.
    pub(super) fn add(&mut self, cell: CellIndex, sampled: &Sampled) {
        self.cells.entry(cell).or_default().add(sampled);
    }

    /// Adds samples of a cell that nobody counted, where sites are counted.
    pub(super) fn add_uncounted(&mut self, cell: CellIndex, sampled: &Sampled) {
        self.uncounted.entry(cell).or_default().add(sampled);
    }

    /// What samples say of a cell, and of which source it is a part.
    pub(super) fn of(&self, index: CellIndex, cell: Cell) -> Option<(SourceIndex, Spread)> {
        if cell.is_uncounted {
            return Some((UNCOUNTED, self.uncounted.get(&index)?.bytes));
        }
        let sampled = self.cells.get(&index)?;
        Some((*self.source_of.get(&cell.thread)?, sampled.bytes))
    }

    /// A source of samples.
    pub(super) fn source(&self, index: SourceIndex) -> Option<Source> {
        self.sources.get(&index).copied()
    }

    /// The standard error of all that was sampled, squared: what is scaled to exact accounts has none.
    pub(super) fn variance_of_all(&self) -> f64 {
        self.sources
            .values()
            .filter(|source| source.kind == SourceKind::Sampled)
            .map(|source| source.whole.variance)
            .sum()
    }

    /// What samples of a cell stand for is to be multiplied by this, once it is entered. Of what lives the thread is not known once it has
    /// ended: then it is what all samples of the same objects were multiplied by.
    pub(super) fn scale(&self, cell: Cell) -> f64 {
        match (cell.thread, self.by_anyone.get(&cell)) {
            (None, Some(&[sampled, entered])) if sampled > 0.0 => entered / sampled,
            (thread, _) => self.scale_of(thread),
        }
    }

    fn scale_of(&self, thread: Option<ThreadIndex>) -> f64 {
        let source = self.source_of.get(&thread).and_then(|index| self.sources.get(index));
        source
            .filter(|source| source.kind == SourceKind::Exact)
            .map_or(1.0, |source| source.weight / source.whole.weight)
    }

    /// Enters what samples say of each cell, scaled to the accounts of the threads, where they have one.
    pub(super) fn enter(&mut self, cells: &mut Cells, accounts: &FxHashMap<ThreadIndex, ThreadCount>) {
        let mut threads: FxHashMap<Option<ThreadIndex>, Spread> = FxHashMap::default();
        for (index, sampled) in &self.cells {
            threads.entry(cells.cell(*index).thread).or_default().add(&sampled.bytes);
        }
        let exact: FxHashMap<ThreadIndex, u64> = accounts
            .iter()
            .filter_map(|(&thread, account)| Some((thread, account.vm_bytes.filter(|&bytes| bytes > 0)?)))
            .collect();
        let mut accounted: FxHashMap<SourceIndex, u64> = FxHashMap::default();
        for (&thread, whole) in &threads {
            let account = thread.and_then(|thread| exact.get(&thread).copied()).filter(|_| whole.weight > 0.0);
            let index = match (thread, account) {
                (Some(thread), Some(_)) if whole.samples >= LEAST_SAMPLES => source_of(thread),
                (_, Some(_)) => TOGETHER,
                (_, None) => UNACCOUNTED,
            };
            self.source_of.insert(thread, index);
            let kind = if account.is_some() { SourceKind::Exact } else { SourceKind::Sampled };
            let empty = Source { weight: 0.0, whole: Spread::default(), kind, most_removed: 0.0 };
            self.sources.entry(index).or_insert(empty).whole.add(whole);
            *accounted.entry(index).or_default() += account.unwrap_or(0);
        }
        let unsampled = exact.iter().filter(|(thread, _)| !threads.contains_key(&Some(**thread)));
        let unsampled = unsampled.map(|(_, &bytes)| bytes).fold(0, u64::saturating_add);
        if let Some(together) = accounted.get_mut(&TOGETHER) {
            *together = together.saturating_add(unsampled);
        } else {
            self.calibration.unsampled = unsampled;
        }
        for (&index, source) in &mut self.sources {
            let account = accounted.get(&index).copied().filter(|_| source.kind == SourceKind::Exact);
            source.weight = account.map_or(source.whole.weight, |bytes| bytes as f64);
            self.calibration.add(&source.whole, account);
        }
        for (&index, sampled) in &self.cells {
            let cell = cells.cell(index);
            let scale = self.scale_of(cell.thread);
            let [all, entered] = self.by_anyone.entry(Cell { thread: None, ..cell }).or_default();
            *all += sampled.bytes.weight;
            *entered += sampled.bytes.weight * scale;
            cells.totals_mut(index).allocated.add(sampled.amount().scaled(scale));
        }
        let mut whole = Spread::default();
        for (&index, sampled) in &self.uncounted {
            let totals = cells.totals_mut(index);
            totals.allocated.add(sampled.amount());
            // The JIT removed none of it.
            totals.estimated(sampled.amount().bytes, Some(sampled.bytes.variance));
            whole.add(&sampled.bytes);
        }
        let uncounted = Source { weight: whole.weight, whole, kind: SourceKind::Sampled, most_removed: 0.0 };
        self.sources.insert(UNCOUNTED, uncounted);
    }
}

impl Calibration {
    /// Adds a thread, or those of few samples together: the samples, and what the JVM accounts.
    fn add(&mut self, whole: &Spread, account: Option<u64>) {
        self.samples = self.samples.saturating_add(whole.samples);
        let Some(account) = account else {
            self.uncalibrated = self.uncalibrated.saturating_add(whole.weight as u64);
            return;
        };
        self.estimated = self.estimated.saturating_add(whole.weight as u64);
        self.accounted = self.accounted.saturating_add(account);
        if whole.samples >= LEAST_SAMPLES {
            let scale = account as f64 / whole.weight;
            let (lowest, highest) = self.scales.unwrap_or((scale, scale));
            self.scales = Some((lowest.min(scale), highest.max(scale)));
        }
    }
}
