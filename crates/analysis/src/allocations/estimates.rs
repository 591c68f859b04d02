//! Samples of objects where nothing is counted (`sampled=SIZE`): what they say is all that is known.
//!
//! The JVM's own accounts of its threads are exact. So what the samples of a thread stand for is scaled to the account of that thread:
//! the thread's sum is exact then, and the samples say how it is spread. Threads of few samples are scaled together, to the sum of
//! their accounts with those of threads without any sample: of a thousand threads with a sample or none each, those with one would
//! otherwise have all that they made where it was, and the others nothing.

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId};
use trace::model::{AllocSample, LiveSample};
use trace::time::Time;

use super::accounts::Accounts;
use super::amount::Amount;
use super::live::CellIndex;
use super::parts::Cell;
use super::shares::{Sampled, ShareKey};
use super::snapshots::Borders;
use super::{AllocationStats, line};
use crate::call_tree::{Source, SourceIndex, Spread};
use crate::coverage::Calibration;
use crate::symbols::ThreadIndex;
use crate::window::Position;

/// Threads with fewer samples are scaled together: by itself each would be scaled by chance alone.
const LEAST_SAMPLES: u64 = 100;
/// The source of what threads without an account made.
const UNACCOUNTED: SourceIndex = SourceIndex(u32::MAX);
/// The source of what threads of few samples made.
const TOGETHER: SourceIndex = SourceIndex(u32::MAX - 1);

/// The samples of the document that is read.
#[derive(Clone, Debug, Default)]
pub(super) struct AloneDocument {
    /// The document's agent counts sites, to which its samples belong.
    pub(super) is_counting: bool,
    cells: FxHashMap<CellIndex, Sampled>,
    /// When samples were written last.
    written: Option<Time>,
}

/// What samples say of objects that nothing counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    cells: FxHashMap<CellIndex, Sampled>,
    /// Of which source the samples of each thread are a part.
    source_of: FxHashMap<Option<ThreadIndex>, SourceIndex>,
    sources: FxHashMap<SourceIndex, Source>,
    calibration: Calibration,
}

/// Of a thread the number as a source of samples. Sites that are counted are sources, too: they have the small numbers.
fn source_of(thread: ThreadIndex) -> SourceIndex {
    SourceIndex((1 << 31) | thread.rank() as u32)
}

impl Estimates {
    /// Whether there are none.
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

    /// What samples say of a cell, and of which source it is a part.
    pub(super) fn of(&self, index: CellIndex, cell: &Cell) -> Option<(SourceIndex, Spread)> {
        let sampled = self.cells.get(&index)?;
        Some((*self.source_of.get(&cell.thread)?, sampled.bytes))
    }

    /// A source of samples.
    pub(super) fn source(&self, index: SourceIndex) -> Option<Source> {
        self.sources.get(&index).copied()
    }

    /// The standard error of what samples say of parts of sources, squared.
    pub(super) fn variance(&self, parts: &FxHashMap<SourceIndex, Spread>) -> f64 {
        parts.iter().filter_map(|(index, part)| Some(self.sources.get(index)?.variance(part))).sum()
    }

    /// The same of all that was sampled: what is scaled to exact accounts has none.
    pub(super) fn variance_of_all(&self) -> f64 {
        self.sources.values().filter(|source| !source.is_exact).map(|source| source.whole.variance).sum()
    }

    /// What samples of a thread stand for is to be multiplied by this, once it is entered.
    pub(super) fn scale(&self, thread: Option<ThreadIndex>) -> f64 {
        let source = self.source_of.get(&thread).and_then(|index| self.sources.get(index));
        source.filter(|source| source.is_exact).map_or(1.0, |source| source.weight / source.whole.weight)
    }

    /// Enters what samples say of each cell; with `accounts`, scaled to these.
    pub(super) fn enter(&mut self, cells: &[Cell], allocated: &mut [Amount], accounts: Option<&Accounts>) {
        let mut threads: FxHashMap<Option<ThreadIndex>, Spread> = FxHashMap::default();
        for (index, sampled) in &self.cells {
            threads.entry(cells[index.0 as usize].thread).or_default().add(&sampled.bytes);
        }
        let exact: FxHashMap<ThreadIndex, u64> = accounts
            .into_iter()
            .flat_map(Accounts::iter)
            .filter_map(|(thread, numbers)| Some((thread, numbers.vm_bytes.filter(|&bytes| bytes > 0)?)))
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
            let empty = Source { weight: 0.0, whole: Spread::default(), is_exact: account.is_some() };
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
            let account = accounted.get(&index).copied().filter(|_| source.is_exact);
            source.weight = account.map_or(source.whole.weight, |bytes| bytes as f64);
            self.calibration.add(&source.whole, account);
        }
        for (index, sampled) in &self.cells {
            let at = index.0 as usize;
            let scale = self.scale(cells[at].thread);
            let objects = (sampled.instances * scale).round() as u64;
            allocated[at].add(Amount { objects, bytes: (sampled.bytes.weight * scale).round() as u64 });
        }
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

impl AllocationStats {
    /// Whether samples of the document belong to no counts.
    pub(super) fn are_samples_alone(&self) -> bool {
        !self.alone.is_counting && !self.counted.has_sites()
    }

    /// Takes in what was sampled where nothing is counted.
    pub(super) fn sampled_alone(&mut self, sample: &AllocSample) {
        let more = self.counted.sample(sample);
        let cell = self.place_of((sample.class, sample.method, sample.line), sample.stack, sample.thread);
        let place = self.clock.position(sample.time);
        if place == Position::Inside {
            self.alone.cells.entry(cell).or_default().add(&more);
        }
        let from = self.alone.written.or(self.document).unwrap_or(sample.time).min(sample.time);
        let is_new = self.alone.written.is_none_or(|written| written < sample.time);
        self.alone.written = self.alone.written.max(Some(sample.time));
        if let Some(recorder) = self.recorder.as_mut().filter(|_| place == Position::Inside) {
            if is_new {
                recorder.written(Borders { from, to: sample.time });
            }
            let amount = Amount { objects: more.instances.round() as u64, bytes: more.bytes.weight.round() as u64 };
            recorder.counted(cell, sample.time, amount);
        }
    }

    /// Takes in which of the sampled objects live.
    pub(super) fn lives(&mut self, sample: &LiveSample) {
        let cell = self.place_of((sample.class, sample.method, sample.line), sample.stack, sample.thread);
        if self.clock.position(sample.time) == Position::Inside {
            self.living.look(cell, sample);
        }
        let living = Amount { objects: sample.instances, bytes: sample.bytes };
        self.recorder.iter_mut().for_each(|recorder| recorder.walked(cell, sample.time, living));
    }

    /// Ends the document's samples of what nothing counts.
    pub(super) fn end_alone(&mut self) {
        let AloneDocument { cells, .. } = std::mem::take(&mut self.alone);
        for (index, sampled) in cells {
            if !self.counted.has_sites() {
                self.estimates.cells.entry(index).or_default().add(&sampled);
                continue;
            }
            // Nobody said that sites are counted, but they are.
            let Cell { class, thread, site, stack, .. } = self.cells[index.0 as usize];
            let cell = self.cell_of((class, None, site, None));
            self.sampled.entry(ShareKey { cell, stack, thread }).or_default().add(&sampled);
        }
    }

    /// The cell of a site on a stack and a thread.
    fn place_of(
        &mut self,
        (class, method, number): (ClassId, Option<MethodId>, Option<i64>),
        stack: Option<trace::ids::StackId>,
        thread: Option<trace::ids::ThreadId>,
    ) -> CellIndex {
        let class = self.symbols.class(class);
        let site = method.map(|method| self.symbols.site(method, number.and_then(line)));
        let stack = stack.map(|stack| self.stack(stack));
        let thread = thread.map(|thread| self.symbols.thread(thread));
        self.cell_of((class, thread, site, stack))
    }
}
