//! Heap statistics: what was allocated, what is alive, how old it is, and where it came from.
//!
//! The columns are those of TPTP's memory views. Memory grows with the objects that are alive at one time
//! and with the names in the trace, not with the trace.

mod accounts;
mod counted;
mod lines;
mod live;
mod naming;
mod parts;
mod paths;
mod report;
mod shares;
mod subject;
mod totals;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ClassId, MethodId, ObjectId, StackId};
use trace::model::{AllocSample, Element, ObjAlloc, StackDef};
use trace::time::Time;

pub use crate::facts::{Count, Facts, Origin};
pub use crate::location::Location;
pub use accounts::{Account, ThreadSubject};
pub use lines::{Inside, Line};
pub use naming::{Naming, SiteNames};
pub use report::{AllocationReport, By, Row};
pub use subject::Subject;
use totals::Amount;
pub use totals::ObjectTotals;

use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};
use accounts::Accounts;
use counted::CountedDocument;
use live::{CellIndex, LiveObject, LiveObjects};
use parts::Cell;
use shares::{Sampled, ShareKey, Shares};

/// What an object is counted under.
type CellKey = (ClassIndex, Option<ThreadIndex>, Option<SiteIndex>, Option<StackIndex>);

/// What an `objAlloc` says about that, in the ids of the document. Small, so that the ways to the cells of a large program stay in
/// the processor's cache; ids that do not fit are looked up one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AllocKey {
    class: u32,
    thread: u32,
    method: u32,
    line: u32,
    stack: u32,
}

impl AllocKey {
    fn of(alloc: &ObjAlloc) -> Option<Self> {
        /// Stands for "absent".
        const NONE: u64 = u32::MAX as u64;
        let pack = |value: Option<u64>| match value {
            None => Some(u32::MAX),
            Some(NONE) => None,
            Some(value) => u32::try_from(value).ok(),
        };
        Some(AllocKey {
            class: pack(Some(alloc.class.0))?,
            thread: pack(alloc.thread.map(|thread| thread.0))?,
            method: pack(alloc.method.map(|method| method.0))?,
            line: pack(alloc.line.and_then(line).map(u64::from))?,
            stack: pack(alloc.stack.map(|stack| stack.0))?,
        })
    }
}

/// Gathers the statistics of a trace, element by element.
#[derive(Debug, Default)]
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
    shares: FxHashMap<ShareKey, Sampled>,
    accounts: Accounts,
    /// When the document's collections ended.
    collections: Vec<Time>,
    facts: Facts,
}

impl AllocationStats {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        let redefined = match element {
            Element::ObjAlloc(alloc) => return self.allocated(alloc),
            Element::ObjFree(free) => return self.freed(free.object),
            Element::GcFinish(finish) => return self.collections.push(finish.time),
            Element::MonContendedEnter(event) => return self.monitor(event.object),
            Element::MonWait(event) => return self.monitor(event.object),
            Element::MonStillOwned(event) => return self.monitor(event.object),
            Element::MonitorUsage(event) => return self.monitor(event.object),
            Element::ThreadInfo(event) => return event.object.into_iter().for_each(|object| self.monitor(object)),
            Element::AllocCount(count) => {
                let cell = self.site_cell(count.class, count.method, count.line);
                return self.counted.site(cell, count);
            }
            Element::AllocSample(sample) => return self.sampled(sample),
            Element::ThreadEnd(end) => return self.counted.thread_ended(end.thread),
            Element::LiveCount(count) => {
                let class = self.symbols.class(count.class);
                let cell = self.cell_of((class, None, None, None));
                return self.counted.living(cell, count);
            }
            Element::ThreadCount(count) => {
                let thread = self.symbols.thread(count.thread);
                return self.accounts.insert(thread, count);
            }
            Element::ClassDef(class) => {
                let source = class.source_name.as_deref().unwrap_or("");
                let is_redefined = self.symbols.define_class(class.class_id, &class.name, source);
                if let Some(module) = &class.module {
                    self.symbols.define_module(class.class_id, module);
                }
                is_redefined
            }
            Element::MethodDef(method) => {
                self.symbols.define_method(method.method_id, method.class, &method.name, &method.signature)
            }
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
        for object in self.live.drain() {
            let age = age(&collections, object.allocated);
            self.cells[object.cell.0 as usize].totals.survived(object.bytes, age);
        }
        if let Some(estimates) = self.counted.take_estimates() {
            for (cell, bytes, variance) in estimates.cells {
                self.cells[cell.0 as usize].totals.estimated(bytes, Some(variance));
            }
            if estimates.unmatched > 0 {
                self.facts.count("callers.unmatched", None, estimates.unmatched);
            }
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
        self.announced.clear();
        self.stacks.end_document();
        self.shortcut.clear();
        self.symbols.end_document();
    }

    /// The statistics of the documents that ended.
    pub fn finish(mut self) -> AllocationReport {
        for (cell, &amount) in self.cells.iter_mut().zip(&self.allocated) {
            cell.totals.allocated(amount);
        }
        self.facts.undefined_ids += self.symbols.undefined();
        AllocationReport {
            symbols: self.symbols,
            stacks: self.stacks,
            cells: self.cells,
            shares: Shares::new(self.shares),
            restricted: FxHashSet::default(),
            accounts: self.accounts,
            facts: self.facts,
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
        self.allocated[cell.0 as usize].add(Amount { objects: 1, bytes: alloc.size });
        let object = LiveObject { cell, bytes: alloc.size, allocated: alloc.time };
        if self.live.insert(alloc.obj_id, object).is_some() {
            self.facts.reused_ids += 1;
        }
        self.announced.remove(&alloc.obj_id);
    }

    /// The cell of a site that is counted, on whichever thread.
    fn site_cell(&mut self, class: ClassId, method: Option<MethodId>, number: Option<i64>) -> CellIndex {
        let class = self.symbols.class(class);
        let site = method.map(|method| self.symbols.site(method, number.and_then(line)));
        self.cell_of((class, None, site, None))
    }

    fn sampled(&mut self, sample: &AllocSample) {
        let cell = self.site_cell(sample.class, sample.method, sample.line);
        let stack = sample.stack.map(|stack| self.stack(stack));
        let thread = sample.thread.map(|thread| self.symbols.thread(thread));
        let more = self.counted.sample(cell, sample);
        self.shares.entry(ShareKey { cell, stack, thread }).or_default().add(&more);
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
        if let Some(LiveObject { cell, bytes, .. }) = self.live.remove(object) {
            self.allocated[cell.0 as usize].remove(Amount { objects: 1, bytes });
            self.facts.allocations -= 1;
            self.facts.monitors += 1;
            self.announced.insert(object);
        }
    }

    fn freed(&mut self, object: ObjectId) {
        if self.announced.remove(&object) {
            self.facts.frees -= 1;
        } else if self.live.remove(object).is_none() {
            self.facts.unknown_frees += 1;
        }
    }

    /// Remembers the frames of a stack; says whether its id meant another stack before.
    fn define_stack(&mut self, stack: &StackDef<'_>) -> bool {
        let frames = stack.frames.0.iter().map(|frame| self.symbols.site(frame.method, line(frame.line.into())));
        self.stacks.define(stack.stack_id, frames.collect())
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
