//! Heap statistics: what was allocated, what is alive, how old it is, and where it came from.
//!
//! The columns are those of TPTP's memory views. Memory grows with the objects that are alive at one time
//! and with the names in the trace, not with the trace.

mod accounts;
mod alloc_key;
mod amount;
mod counted;
mod counting;
mod entries;
mod estimates;
mod lines;
mod live;
mod living;
mod naming;
mod over_time;
mod part_report;
mod parts;
mod paths;
mod report;
mod shares;
mod slice_report;
mod snapshots;
mod subject;
mod totals;
mod weighted;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ObjectId, StackId};
use trace::model::{Element, ObjAlloc, ObjFree, StackDef};
use trace::time::Time;

pub use crate::facts::{Count, Facts, Origin};
pub use crate::location::Location;
pub use crate::window::Scope;
pub use accounts::{Account, ThreadSubject};
pub use amount::Amount;
pub use entries::{Entry, Estimate, Known};
pub use lines::{Inside, Line};
pub use naming::{Naming, SiteNames};
pub use over_time::{OverTime, Slice};
pub use part_report::{CountedPart, PartOfTrace};
pub use report::{AllocationReport, By, Row};
pub use slice_report::RowOverTime;
pub use subject::Subject;
pub use totals::ObjectTotals;

use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};
use crate::window::{Clock, Position};
use accounts::Accounts;
use alloc_key::AllocKey;
use counted::CountedDocument;
use estimates::{AloneDocument, Estimates};
use live::{CellIndex, LiveObject, LiveObjects};
use living::LiveSamples;
use over_time::{FEW, MANY, Recorder};
use parts::Cell;
use shares::{Sampled, ShareKey, Shares};
use snapshots::Snapshots;

/// What an object is counted under.
type CellKey = (ClassIndex, Option<ThreadIndex>, Option<SiteIndex>, Option<StackIndex>);

/// Gathers the statistics of a trace, element by element.
#[derive(Clone, Debug, Default)]
pub struct AllocationStats {
    symbols: Symbols,
    stacks: Stacks,
    cells: Vec<Cell>,
    /// What was allocated in each cell, kept apart because every allocation changes it.
    allocated: Vec<Amount>,
    cell_index: FxHashMap<CellKey, CellIndex>,
    /// A shortcut from the ids of an allocation to its cell, one look-up instead of five: this is the hot path. Emptied whenever
    /// an id changes its meaning.
    shortcut: FxHashMap<AllocKey, CellIndex>,
    live: LiveObjects,
    /// Objects that were announced because a thread waits for them, and that nobody allocated in the document.
    announced: FxHashSet<ObjectId>,
    counted: CountedDocument,
    /// What the document's samples say of each site as it is named by them.
    sampled: FxHashMap<ShareKey, Sampled>,
    /// The same, outside of the part of the trace that counts.
    sampled_outside: FxHashMap<ShareKey, Sampled>,
    shares: FxHashMap<ShareKey, Sampled>,
    shares_outside: FxHashMap<ShareKey, Sampled>,
    accounts: Accounts,
    /// What samples of the document say where nothing is counted.
    alone: AloneDocument,
    estimates: Estimates,
    /// Which of the sampled objects live.
    living: LiveSamples,
    /// When the document's collections ended.
    collections: Vec<Time>,
    /// Objects that died behind the part of the trace that counts.
    survivors: Vec<LiveObject>,
    facts: Facts,
    clock: Clock,
    /// When the document begins.
    document: Option<Time>,
    snapshots: Snapshots,
    /// What was sampled since counts were written last, and the time of the last of it.
    pending: FxHashMap<ShareKey, Sampled>,
    pending_until: Time,
    recorder: Option<Recorder>,
}

impl AllocationStats {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Statistics of a part of the trace, or with what happens when.
    pub fn of(scope: &Scope) -> Self {
        let recorder = scope.over_time.then(|| Recorder::of(FEW));
        AllocationStats { clock: Clock::of(scope), recorder, ..Self::default() }
    }

    /// Statistics with what happens when, in as many slices as a picture can show.
    pub fn in_many_slices() -> Self {
        AllocationStats { recorder: Some(Recorder::of(MANY)), ..Self::default() }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        self.clock.note(element);
        let redefined = match element {
            Element::ObjAlloc(alloc) => return self.allocated(alloc),
            Element::ObjFree(free) => return self.freed(free),
            Element::GcStart(start) => {
                return self.recorder.iter_mut().for_each(|recorder| recorder.collection_began(start.time));
            }
            Element::GcFinish(finish) => return self.collected(finish.time, finish.used_space),
            Element::MonContendedEnter(event) => return self.monitor(event.object),
            Element::MonWait(event) => return self.monitor(event.object),
            Element::MonStillOwned(event) => return self.monitor(event.object),
            Element::MonitorUsage(event) => return self.monitor(event.object),
            Element::ThreadInfo(event) => return event.object.into_iter().for_each(|object| self.monitor(object)),
            Element::AllocCount(count) => return self.counted(count),
            Element::AllocSample(sample) => return self.sampled(sample),
            Element::LiveSample(sample) => return self.lives(sample),
            Element::AgentCreate(agent) => {
                return self.alone.is_counting =
                    agent.agent_parameters.split(',').any(|option| option == "heap=counts");
            }
            Element::ThreadEnd(end) => return self.counted.thread_ended(end.thread),
            Element::LiveCount(count) => return self.living(count),
            Element::TraceStart(start) => return self.document = Some(start.time),
            Element::ThreadCount(count) => {
                let thread = self.symbols.thread(count.thread);
                return self.accounts.insert(thread, count);
            }
            Element::ClassDef(_) | Element::MethodDef(_) => self.symbols.define_code(element),
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name)
            }
            Element::StackDef(stack) => self.define_stack(stack),
            _ => false,
        };
        if redefined {
            self.shortcut.clear();
        }
    }

    /// Ends a document. What is alive stays alive; all ids lose their meaning, for the next document has its own.
    pub fn end_document(&mut self) {
        self.facts.documents += 1;
        let mut collections = std::mem::take(&mut self.collections);
        collections.sort_unstable();
        for object in self.live.drain().chain(std::mem::take(&mut self.survivors)) {
            if self.clock.position(object.allocated) != Position::Inside {
                continue;
            }
            let age = age(&collections, object.allocated);
            self.cells[object.cell.0 as usize].totals.survived(object.bytes, age);
        }
        self.end_alone();
        self.living.end_document();
        self.end_samples();
        let sampled = std::mem::take(&mut self.sampled);
        let sampled = self.of_counted_sites(sampled);
        let outside = std::mem::take(&mut self.sampled_outside);
        for (key, sampled) in self.of_counted_sites(outside) {
            self.shares_outside.entry(key).or_default().add(&sampled);
        }
        let spreads = sampled.iter().map(|(key, sampled)| (key.cell, sampled.bytes));
        if let Some(estimates) = self.counted.take_estimates(spreads) {
            for (cell, bytes, variance) in estimates.cells {
                self.cells[cell.0 as usize].totals.estimated(bytes, Some(variance));
            }
            if estimates.unmatched > 0 {
                self.facts.count("callers.unmatched", None, estimates.unmatched);
            }
        }
        for (key, sampled) in sampled {
            self.shares.entry(key).or_default().add(&sampled);
        }
        for (cell, source, count) in self.counted.take_sites() {
            self.allocated[cell.0 as usize].add(count.amount);
            if let Some(bytes) = count.estimate {
                self.cells[cell.0 as usize].totals.estimated(bytes, None);
            }
            if source.is_some() {
                let (objects, bytes) = &mut self.facts.counted_by_vm;
                *objects = objects.saturating_add(count.amount.objects);
                *bytes = bytes.saturating_add(count.amount.bytes);
            }
        }
        for (cell, amount) in self.counted.take_living() {
            self.cells[cell.0 as usize].totals.living(amount);
        }
        self.snapshots.end_document();
        self.document = None;
        self.recorder.iter_mut().for_each(Recorder::end_document);
        self.announced.clear();
        self.stacks.end_document();
        self.shortcut.clear();
        self.symbols.end_document();
    }

    /// The statistics of the documents that ended.
    pub fn finish(mut self) -> AllocationReport {
        let accounts = (!self.clock.is_window()).then_some(&self.accounts);
        self.estimates.enter(&self.cells, &mut self.allocated, accounts);
        if !self.estimates.is_empty() {
            let scale = |cell: CellIndex| self.estimates.scale(self.cells[cell.0 as usize].thread);
            self.living.scale(scale);
            self.recorder.iter_mut().for_each(|recorder| recorder.scale(scale));
        }
        // What a walk of the heap has counted needs no samples.
        if self.facts.live_counts == 0 {
            self.living.iter().for_each(|(cell, living)| self.cells[cell.0 as usize].totals.lives(living));
        }
        for (cell, &amount) in self.cells.iter_mut().zip(&self.allocated) {
            cell.totals.allocated(amount);
        }
        self.facts.undefined_ids += self.symbols.undefined();
        self.recorder.iter_mut().for_each(|recorder| recorder.finish(self.clock.part()));
        if self.clock.is_window() {
            let is_counted = self.facts.allocations == 0 && self.facts.site_counts > 0;
            let counted = self.snapshots.counted().filter(|_| is_counted).map(|counted| (counted.from, counted.to));
            let (begin, end) = counted.unwrap_or(self.clock.part());
            (self.facts.begin, self.facts.end) = (Some(begin), Some(end));
        }
        AllocationReport {
            symbols: self.symbols,
            stacks: self.stacks,
            cells: self.cells,
            shares: Shares::new(self.shares, self.shares_outside),
            restricted: FxHashSet::default(),
            is_selected: false,
            accounts: self.accounts,
            estimates: self.estimates,
            living: self.living,
            facts: self.facts,
            clock: self.clock,
            snapshots: self.snapshots,
            recorder: self.recorder,
        }
    }

    fn allocated(&mut self, alloc: &ObjAlloc) {
        let key = AllocKey::of(alloc);
        let cell = match key.and_then(|key| self.shortcut.get(&key)) {
            Some(&cell) => cell,
            None => {
                let cell = self.cell(alloc);
                self.shortcut.extend(key.map(|key| (key, cell)));
                cell
            }
        };
        let place = self.clock.position(alloc.time);
        if place == Position::Inside {
            self.allocated[cell.0 as usize].add(Amount { objects: 1, bytes: alloc.size });
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.allocated(cell, place, alloc.time, self.clock.part().0, alloc.size);
        }
        let object = LiveObject { cell, bytes: alloc.size, allocated: alloc.time };
        if let Some(older) = self.live.insert(alloc.obj_id, object) {
            self.facts.reused_ids += 1;
            self.died(older, alloc.time);
        }
        self.announced.remove(&alloc.obj_id);
    }

    fn cell(&mut self, alloc: &ObjAlloc) -> CellIndex {
        let class = self.symbols.class(alloc.class);
        let thread = alloc.thread.map(|thread| self.symbols.thread(thread));
        let stack = alloc.stack.map(|stack| self.stack(stack));
        let site = match (alloc.method, stack) {
            (Some(method), _) => Some(self.symbols.site(method, alloc.line.and_then(line))),
            (None, Some(stack)) => self.stacks.frames(stack).first().copied(),
            (None, None) => None,
        };
        self.cell_of((class, thread, site, stack))
    }

    /// The stack behind an id; an undefined id gets an empty one.
    fn stack(&mut self, id: StackId) -> StackIndex {
        if let Some(stack) = self.stacks.get(id) {
            return stack;
        }
        self.facts.undefined_ids += 1;
        self.stacks.define(id, Vec::new());
        self.stacks.get(id).expect("it has just been defined")
    }

    fn cell_of(&mut self, key: CellKey) -> CellIndex {
        let (class, thread, site, stack) = key;
        *self.cell_index.entry(key).or_insert_with(|| {
            self.cells.push(Cell { class, thread, site, stack, totals: ObjectTotals::default() });
            self.allocated.push(Amount::default());
            CellIndex(u32::try_from(self.cells.len() - 1).expect("fewer than 2^32 combinations of names"))
        })
    }

    /// Takes an object back that was counted, but is in the trace only because a thread waits for it: such ones are announced
    /// like an allocation, without the thread.
    fn monitor(&mut self, object: ObjectId) {
        let is_announced = |cell: &CellIndex| self.cells[cell.0 as usize].thread.is_none();
        if self.live.cell(object).filter(is_announced).is_none() {
            return;
        }
        if let Some(LiveObject { cell, bytes, allocated }) = self.live.remove(object) {
            let place = self.clock.position(allocated);
            if place == Position::Inside {
                self.allocated[cell.0 as usize].remove(Amount { objects: 1, bytes });
            }
            self.recorder.iter_mut().for_each(|recorder| recorder.take_back(cell, place, allocated, bytes));
            self.facts.allocations -= 1;
            self.facts.monitors += 1;
            self.announced.insert(object);
        }
    }

    fn freed(&mut self, free: &ObjFree) {
        if self.announced.remove(&free.object) {
            self.facts.frees -= 1;
        } else if let Some(object) = self.live.remove(free.object) {
            self.died(object, free.time);
        } else {
            self.facts.unknown_frees += 1;
        }
    }

    fn died(&mut self, object: LiveObject, time: Time) {
        let place = self.clock.position(time);
        if place == Position::After && self.clock.position(object.allocated) == Position::Inside {
            self.survivors.push(object);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.died(object.cell, place, time, self.clock.part().0, object.bytes);
        }
    }

    fn collected(&mut self, time: Time, used_space: Option<u64>) {
        self.recorder.iter_mut().for_each(|recorder| recorder.collection_ended(time, used_space));
        match self.clock.position(time) {
            Position::Inside => self.collections.push(time),
            Position::Before | Position::After => self.facts.collections -= 1,
        }
    }

    /// Remembers the frames of a stack; says whether its id meant another stack before.
    fn define_stack(&mut self, stack: &StackDef<'_>) -> bool {
        self.stacks.define(stack.stack_id, self.symbols.sites(&stack.frames))
    }
}

/// A source line as the trace gives it; 0 and negative numbers stand for "unknown" and "native".
fn line(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&line| line > 0)
}

/// How many collections an object survived that was allocated at a time and is alive: those that ended strictly later, as TPTP's
/// views count. `collections` is sorted.
fn age(collections: &[Time], allocated: Time) -> u32 {
    let before = collections.partition_point(|&end| end <= allocated);
    u32::try_from(collections.len() - before).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_do_not_count_as_survived() {
        let collections = [Time(10), Time(20), Time(20), Time(30)];
        assert_eq!(age(&collections, Time(9)), 4);
        assert_eq!(age(&collections, Time(10)), 3);
        assert_eq!(age(&collections, Time(20)), 1);
        assert_eq!(age(&collections, Time(30)), 0);
    }

    #[test]
    fn an_undefined_stack_changes_no_numbers_but_its_own() {
        let mut stats = AllocationStats::new();
        for (id, stack) in [(1, None), (2, None), (3, Some(StackId(9)))] {
            stats.element(&Element::ObjAlloc(ObjAlloc {
                thread: None,
                is_array: None,
                size: 16,
                obj_id: ObjectId(id),
                class: trace::ids::ClassId(1),
                method: None,
                line: None,
                stack,
                time: Time(1),
            }));
        }
        stats.end_document();
        let report = stats.finish();
        let sum = report.sum(|_| true);
        assert_eq!((sum.total(), sum.total_bytes(), sum.live()), (3, 48, 3));
        assert_eq!(report.facts().undefined_ids, 2);
    }

    #[test]
    fn lines_below_one_are_unknown() {
        assert_eq!(line(7), Some(7));
        assert_eq!((line(0), line(-1), line(i64::MAX)), (None, None, None));
    }
}
