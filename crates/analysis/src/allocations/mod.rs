//! Heap statistics: what was allocated, what is alive, how old it is, and where it came from.
//!
//! [`AllocationStats`] reads a trace once, and hands each element to the part that knows its kind: single objects, counts of sites,
//! samples, looks at what lives. All of them add to `cells`. The columns are those of TPTP's memory views. Memory grows with the
//! objects that are alive at one time and with the names in the trace, not with the trace.

mod breakdown;
mod cells;
mod counts;
mod division;
mod intervals;
mod looks;
mod naming;
mod objects;
mod over_time;
mod report;
mod rows;
mod samples;
mod sources;
mod stacks;
mod totals;

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::model::{AllocCount, AllocSample, Element, LiveCount, LiveSample, ObjAlloc, ObjFree, ThreadCount};
use trace::time::Time;

pub use crate::facts::{Count, Facts, Origin};
pub use crate::location::Location;
pub use crate::window::{Scope, time_of};
pub use cells::ThreadSubject;
pub use naming::{Naming, SiteNames};
pub use over_time::{OverTime, RowOverTime, Slice};
pub use report::{Account, AllocationReport, CountedPart, PartOfTrace};
pub use rows::{By, Inside, Line, Row, Subject};
pub use stacks::Entry;
pub use totals::{Amount, ObjectTotals};

use crate::symbols::ThreadIndex;
use crate::window::{Clock, Position};
use breakdown::Breakdown;
use cells::{CellIds, CellIndex, Cells};
use counts::Counts;
use intervals::{Borders, Intervals};
use looks::LastLook;
use objects::{Freed, LiveObject, Objects};
use over_time::{FEW, MANY, MINUTES, Recorder};
use samples::{ByShare, Sampled, Samples, ShareKey, Shares, add_all};
use sources::Sources;
use totals::{Known, Living};

/// Gathers the statistics of a trace, element by element.
#[derive(Clone, Debug, Default)]
pub struct AllocationStats {
    document: Document,
    cells: Cells,
    facts: Facts,
    clock: Clock,
    intervals: Intervals,
    /// What samples say of sites that are counted: in the part of the trace that counts, and elsewhere.
    inside: ByShare,
    outside: ByShare,
    /// What they say where nothing is counted.
    sources: Sources,
    /// The sampled objects that live.
    sampled_living: FxHashMap<CellIndex, Living>,
    /// The last account of each thread.
    accounts: FxHashMap<ThreadIndex, ThreadCount>,
    recorder: Option<Recorder>,
}

/// What is known of the document that is read, and forgotten with its ids.
#[derive(Clone, Debug, Default)]
struct Document {
    begin: Option<Time>,
    /// Its agent counts sites, to which its samples belong.
    is_counting: bool,
    objects: Objects,
    counts: Counts,
    samples: Samples,
    /// The last walk of the heap, and the last look at the sampled objects.
    walk: LastLook,
    look: LastLook,
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

    /// Statistics with what happens in each minute of the clock; of a trace of more than 256 minutes, in two, four, eight ... of them.
    pub fn by_minute() -> Self {
        AllocationStats { recorder: Some(Recorder::of(MINUTES)), ..Self::default() }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        self.clock.note(element);
        match element {
            Element::ObjAlloc(alloc) => self.allocated(alloc),
            Element::ObjFree(free) => self.freed(free),
            Element::GcStart(start) => {
                self.recorder.iter_mut().for_each(|recorder| recorder.collection_began(start.time));
            }
            Element::GcFinish(finish) => self.collected(finish.time, finish.used_space),
            Element::MonContendedEnter(event) => self.waited_for(event.object),
            Element::MonWait(event) => self.waited_for(event.object),
            Element::MonStillOwned(event) => self.waited_for(event.object),
            Element::MonitorUsage(event) => self.waited_for(event.object),
            Element::ThreadInfo(event) => event.object.into_iter().for_each(|object| self.waited_for(object)),
            Element::AllocCount(count) => self.counted(count),
            Element::AllocSample(sample) => self.sampled(sample),
            Element::LiveSample(sample) => self.looked(sample),
            Element::LiveCount(count) => self.walked(count),
            Element::AgentCreate(agent) => {
                let mut options = agent.agent_parameters.split(',');
                self.document.is_counting = options.any(|option| option == "heap=counts");
            }
            Element::ThreadEnd(end) => self.document.samples.thread_ended(end.thread),
            Element::TraceStart(start) => self.document.begin = Some(start.time),
            Element::ThreadCount(count) => _ = self.accounts.insert(self.cells.thread_of(count.thread), count.clone()),
            _ => self.cells.define(element),
        }
    }

    /// Ends a document. All ids lose their meaning, for the next document has its own.
    pub fn end_document(&mut self) {
        self.facts.documents += 1;
        let Document { mut objects, counts, samples, mut walk, mut look, .. } = std::mem::take(&mut self.document);
        for (LiveObject { cell, bytes, .. }, age) in objects.end_document(&self.clock) {
            self.cells.totals_mut(cell).living.add_aged(Amount { objects: 1, bytes }, age, 1);
        }
        walk.end_document().for_each(|(cell, found)| self.cells.totals_mut(cell).living.add(&found));
        look.end_document().for_each(|(cell, found)| _ = self.sampled_living.insert(cell, found));
        self.end_counts(&counts, samples);
        self.intervals.end_document();
        self.recorder.iter_mut().for_each(Recorder::end_document);
        self.cells.end_document();
    }

    /// The statistics of the documents that ended.
    pub fn finish(mut self) -> AllocationReport {
        let accounts = if self.clock.is_window() { &FxHashMap::default() } else { &self.accounts };
        self.sources.enter(&mut self.cells, accounts);
        if !self.sources.is_empty() {
            let scale = |cell: CellIndex| self.sources.scale(self.cells.cell(cell));
            self.sampled_living.iter_mut().for_each(|(&cell, living)| living.scale(scale(cell)));
            self.recorder.iter_mut().for_each(|recorder| recorder.scale(scale));
        }
        // What a walk of the heap has counted needs no samples.
        if self.facts.live_counts == 0 {
            self.sampled_living.iter().for_each(|(&cell, living)| self.cells.totals_mut(cell).living.add(living));
        }
        let excess = self.excess();
        self.facts.undefined_ids += self.cells.undefined();
        self.recorder.iter_mut().for_each(|recorder| recorder.finish(&self.clock));
        if self.clock.is_window() {
            let is_counted = self.facts.allocations == 0 && self.facts.site_counts > 0;
            let counted = self.intervals.counted().filter(|_| is_counted).map(|counted| (counted.from, counted.to));
            let (begin, end) = counted.unwrap_or(self.clock.part());
            (self.facts.begin, self.facts.end) = (Some(begin), Some(end));
        }
        AllocationReport {
            breakdown: Breakdown::new(
                self.cells,
                Shares::new(self.inside, self.outside),
                self.sources,
                excess,
                self.facts
                    .counts
                    .iter()
                    .filter(|count| count.key == "callers.unmatched")
                    .map(|count| count.value)
                    .sum(),
            ),
            is_selected: false,
            accounts: self.accounts,
            sampled_living: self.sampled_living,
            facts: self.facts,
            clock: self.clock,
            intervals: self.intervals,
            recorder: self.recorder,
        }
    }

    /// How many bytes were executed beyond what the JVM accounts; `None` where they cannot be compared.
    fn excess(&self) -> Option<f64> {
        let is_whole = !self.clock.is_window() && !self.facts.is_filtered && self.facts.ended == self.facts.documents;
        let mut accounts = self.accounts.values().filter(|_| is_whole).peekable();
        accounts.peek()?;
        accounts.map(|account| Some(account.bytes as f64 - account.vm_bytes? as f64)).sum()
    }

    fn allocated(&mut self, alloc: &ObjAlloc) {
        let &ObjAlloc { class, thread, method, line, stack, obj_id, size, time, .. } = alloc;
        let cell = self.cells.of_object(CellIds { class, thread, method, line, stack });
        let amount = Amount { objects: 1, bytes: size };
        if self.clock.position(time) == Position::Inside {
            self.cells.totals_mut(cell).allocated.add(amount);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.change(&self.clock, cell, time, |change| change.allocated.add(amount));
        }
        let object = LiveObject { cell, bytes: size, allocated: time };
        if let Some(older) = self.document.objects.allocated(obj_id, object) {
            self.facts.reused_ids += 1;
            self.died(older, time);
        }
    }

    /// Takes an object back that was counted, but is in the trace only because a thread waits for it: such ones are announced
    /// like an allocation, without the thread.
    fn waited_for(&mut self, object: ObjectId) {
        let is_announced = |cell: CellIndex| self.cells.cell(cell).thread.is_none();
        let Some(object) = self.document.objects.waited_for(object, is_announced) else { return };
        let LiveObject { cell, bytes, allocated } = object;
        let amount = Amount { objects: 1, bytes };
        if self.clock.position(allocated) == Position::Inside {
            self.cells.totals_mut(cell).allocated.remove(amount);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.change(&self.clock, cell, allocated, |change| change.allocated.remove(amount));
        }
        self.facts.allocations -= 1;
        self.facts.monitors += 1;
    }

    fn freed(&mut self, free: &ObjFree) {
        match self.document.objects.freed(free.object) {
            Freed::Object(object) => self.died(object, free.time),
            Freed::Announced => self.facts.frees -= 1,
            Freed::Unknown => self.facts.unknown_frees += 1,
        }
    }

    fn died(&mut self, object: LiveObject, time: Time) {
        self.document.objects.died(object, time, &self.clock);
        let amount = Amount { objects: 1, bytes: object.bytes };
        if let Some(recorder) = &mut self.recorder {
            recorder.change(&self.clock, object.cell, time, |change| change.died.add(amount));
        }
    }

    fn collected(&mut self, time: Time, used_space: Option<u64>) {
        self.recorder.iter_mut().for_each(|recorder| recorder.collection_ended(time, used_space));
        match self.clock.position(time) {
            Position::Inside => self.document.objects.collected(time),
            Position::Before | Position::After => self.facts.collections -= 1,
        }
    }

    /// Takes in the count of a site.
    fn counted(&mut self, count: &AllocCount) {
        let &AllocCount { class, method, line, time, .. } = count;
        let ids = CellIds { class, thread: None, method, line, stack: None };
        let cell = self.cells.of(ids);
        let begin = self.document.begin.unwrap_or(self.clock.origin());
        let interval = self.intervals.written(time, begin, &self.clock);
        let position = self.intervals.position();
        let more = self.document.counts.site(cell, ids, count, position);
        if position == Position::Inside {
            self.recorder.iter_mut().for_each(|recorder| recorder.counted(interval, cell, time, more));
        }
        if let Some(interval) = interval {
            for (key, more) in self.document.samples.take_pending() {
                self.sampled_until(interval.to, key, position, &more);
            }
        }
    }

    /// Takes in what was sampled. Samples stand behind the counts of their time; those of a thread that ends are older than the next
    /// counts, to which they belong.
    fn sampled(&mut self, sample: &AllocSample) {
        let &AllocSample { class, thread, method, line, stack, time, .. } = sample;
        let ids = CellIds { class, thread, method, line, stack };
        let more = self.document.samples.more(ids, sample);
        if !self.document.is_counting && self.document.counts.is_empty() {
            let cell = self.cells.of(ids);
            return self.sampled_alone(cell, time, &more);
        }
        let cell = self.cells.of(CellIds { thread: None, stack: None, ..ids });
        let stack = stack.map(|stack| self.cells.stack(stack));
        let key = ShareKey { cell, stack, thread: thread.map(|thread| self.cells.thread_of(thread)) };
        if self.intervals.has_written(time) {
            self.sampled_until(time, key, self.intervals.position(), &more);
        } else {
            self.document.samples.wait(key, time, &more);
        }
    }

    /// Takes in samples that belong to the counts of a time.
    fn sampled_until(&mut self, time: Time, key: ShareKey, position: Position, more: &Sampled) {
        self.document.samples.add(key, position, more);
        if position == Position::Inside {
            self.recorder.iter_mut().for_each(|recorder| recorder.sampled(key, time, more));
        }
    }

    /// Takes in what was sampled where nothing is counted.
    fn sampled_alone(&mut self, cell: CellIndex, time: Time, more: &Sampled) {
        let before = self.document.samples.written_alone(time);
        if self.clock.position(time) != Position::Inside {
            return;
        }
        self.document.samples.alone.entry(cell).or_default().add(more);
        if let Some(recorder) = &mut self.recorder {
            let from = before.or(self.document.begin).unwrap_or(time).min(time);
            let interval = before.is_none_or(|before| before < time).then_some(Borders { from, to: time });
            let amount = Amount { objects: more.instances.round() as u64, bytes: more.bytes.weight.round() as u64 };
            recorder.counted(interval, cell, time, amount);
        }
    }

    /// Ends the counts and the samples of a document.
    fn end_counts(&mut self, counts: &Counts, mut samples: Samples) {
        for (cell, source, count) in counts.iter() {
            let totals = self.cells.totals_mut(cell);
            totals.allocated.add(count.amount);
            count.estimate.into_iter().for_each(|bytes| totals.estimated(bytes, None));
            if source.is_some() {
                let (objects, bytes) = &mut self.facts.counted_by_vm;
                *objects = objects.saturating_add(count.amount.objects);
                *bytes = bytes.saturating_add(count.amount.bytes);
            }
        }
        // No counts follow: what was sampled since the last ones counts if its time does.
        let position = self.clock.position(samples.pending_until());
        samples.take_pending().into_iter().for_each(|(key, more)| samples.add(key, position, &more));
        for (cell, sampled) in std::mem::take(&mut samples.alone) {
            if counts.is_empty() {
                self.sources.add(cell, &sampled);
                continue;
            }
            // Nobody said that sites are counted, but they are.
            let own = self.cells.cell(cell);
            let key = ShareKey { cell: self.cells.of_site(own), stack: own.stack, thread: own.thread };
            samples.add(key, Position::Inside, &sampled);
        }
        let [mut inside, outside] =
            [samples.inside, samples.outside].map(|samples| counts.by_site(samples, &self.cells));
        if let Some(estimates) = counts.estimates(inside.iter().map(|(key, sampled)| (key.cell, sampled.bytes))) {
            for (cell, bytes, variance) in estimates.cells {
                self.cells.totals_mut(cell).estimated(bytes, Some(variance));
            }
            let unmatched = inside.extract_if(.., |(key, _)| estimates.unmatched.contains(&key.cell)).collect();
            let mut bytes: u64 = 0;
            for (key, sampled, part) in counts.uncounted(unmatched, &self.cells) {
                let cell = self.cells.uncounted(key.of(self.cells.cell(key.cell)));
                bytes = bytes.saturating_add(sampled.amount().bytes);
                self.sources.add_uncounted(cell, &sampled);
                self.recorder.iter_mut().for_each(|recorder| recorder.uncounted(&key, part, cell));
            }
            if bytes > 0 {
                self.facts.count("callers.unmatched", None, bytes);
            }
        }
        add_all(&mut self.inside, inside);
        add_all(&mut self.outside, outside);
    }

    /// Takes in which of the sampled objects live.
    fn looked(&mut self, sample: &LiveSample) {
        let &LiveSample { class, thread, method, line, stack, time, .. } = sample;
        let cell = self.cells.of(CellIds { class, thread, method, line, stack });
        let amount = Amount { objects: sample.instances, bytes: sample.bytes };
        if self.clock.position(time) == Position::Inside
            && let Some(found) = self.document.look.found(cell, time)
        {
            let age = u32::try_from(sample.age).unwrap_or(u32::MAX);
            let variance = (sample.error as f64).powi(2);
            found.add_sampled(&Known { amount, samples: sample.samples, variance }, age);
        }
        self.recorder.iter_mut().for_each(|recorder| recorder.walked(cell, time, amount));
    }

    /// Takes in the living instances of a class.
    fn walked(&mut self, count: &LiveCount) {
        let ids = CellIds { class: count.class, thread: None, method: None, line: None, stack: None };
        let (cell, amount) = (self.cells.of(ids), Amount { objects: count.instances, bytes: count.bytes });
        match self.clock.position(count.time) {
            // Two classes of one name share a cell.
            Position::Inside => {
                let found = self.document.walk.found(cell, count.time);
                found.into_iter().for_each(|found| found.all.amount.add(amount));
            }
            Position::Before | Position::After => self.facts.live_counts -= 1,
        }
        self.recorder.iter_mut().for_each(|recorder| recorder.walked(cell, count.time, amount));
    }
}

#[cfg(test)]
mod tests {
    use trace::ids::StackId;

    use super::*;

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
}
