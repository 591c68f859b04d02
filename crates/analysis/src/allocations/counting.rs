//! Takes in what a document counts: sites, samples, what is alive.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{ClassId, MethodId};
use trace::model::{AllocCount, AllocSample, LiveCount};
use trace::time::Time;

use super::amount::Amount;
use super::live::CellIndex;
use super::shares::{Sampled, ShareKey};
use super::{AllocationStats, line};
use crate::window::Position;

impl AllocationStats {
    /// Takes in the count of a site.
    pub(super) fn counted(&mut self, count: &AllocCount) {
        let document = self.document.unwrap_or(self.clock.origin());
        if let Some(interval) = self.snapshots.written(count.time, document, &self.clock) {
            if self.snapshots.position() == Position::Inside {
                self.recorder.iter_mut().for_each(|recorder| recorder.written(interval));
            }
            self.place_samples(interval.to, self.snapshots.position());
        }
        let cell = self.site_cell(count.class, count.method, count.line);
        let place = self.snapshots.position();
        let more = self.counted.site(cell, count, place);
        if place == Position::Inside {
            self.recorder.iter_mut().for_each(|recorder| recorder.counted(cell, count.time, more));
        }
    }

    /// Takes in what was sampled. Samples stand behind the counts of their time; those of a thread that ends are older than the next
    /// counts, to which they belong.
    pub(super) fn sampled(&mut self, sample: &AllocSample) {
        if self.are_samples_alone() {
            return self.sampled_alone(sample);
        }
        let cell = self.site_cell(sample.class, sample.method, sample.line);
        let stack = sample.stack.map(|stack| self.stack(stack));
        let thread = sample.thread.map(|thread| self.symbols.thread(thread));
        let more = self.counted.sample(sample);
        let key = ShareKey { cell, stack, thread };
        if self.snapshots.has_written(sample.time) {
            self.place_sample(key, sample.time, self.snapshots.position(), &more);
        } else {
            self.pending.entry(key).or_default().add(&more);
            self.pending_until = self.pending_until.max(sample.time);
        }
    }

    /// Takes in the living instances of a class.
    pub(super) fn living(&mut self, count: &LiveCount) {
        let class = self.symbols.class(count.class);
        let cell = self.cell_of((class, None, None, None));
        match self.clock.position(count.time) {
            Position::Inside => self.counted.living(cell, count),
            Position::Before | Position::After => self.facts.live_counts -= 1,
        }
        let living = Amount { objects: count.instances, bytes: count.bytes };
        self.recorder.iter_mut().for_each(|recorder| recorder.walked(cell, count.time, living));
    }

    /// No counts follow in the document: what was sampled since the last ones counts if its time does.
    pub(super) fn end_samples(&mut self) {
        self.place_samples(self.pending_until, self.clock.position(self.pending_until));
        self.pending_until = Time(0);
    }

    /// What was sampled by now belongs to the counts of a time.
    fn place_samples(&mut self, time: Time, place: Position) {
        for (key, more) in std::mem::take(&mut self.pending) {
            self.place_sample(key, time, place, &more);
        }
    }

    fn place_sample(&mut self, key: ShareKey, time: Time, place: Position, more: &Sampled) {
        if place != Position::Inside {
            self.sampled_outside.entry(key).or_default().add(more);
        } else {
            self.sampled.entry(key).or_default().add(more);
            if self.snapshots.has_written(time) {
                self.recorder.iter_mut().for_each(|recorder| recorder.sampled(key, time, more));
            }
        }
    }

    /// What samples of the document say of the sites that are counted. A method that allocates for its caller is counted where it is called,
    /// or, where that cannot be rewritten, in the method itself: so where nothing is counted at the site of a sample, it is one of the
    /// innermost frame at which something is.
    pub(super) fn of_counted_sites(&self, sampled: FxHashMap<ShareKey, Sampled>) -> Vec<(ShareKey, Sampled)> {
        let counted = if sampled.is_empty() { FxHashSet::default() } else { self.counted.counted_cells() };
        let site = |key: ShareKey| {
            let frames = key.stack.map_or(&[][..], |stack| self.stacks.frames(stack));
            let class = self.cells[key.cell.0 as usize].class;
            let cells = frames.iter().filter_map(|&site| self.cell_index.get(&(class, None, Some(site), None)));
            [&key.cell].into_iter().chain(cells).copied().find(|cell| counted.contains(cell)).unwrap_or(key.cell)
        };
        sampled.into_iter().map(|(key, sampled)| (ShareKey { cell: site(key), ..key }, sampled)).collect()
    }

    /// The cell of a site that is counted, on whichever thread.
    fn site_cell(&mut self, class: ClassId, method: Option<MethodId>, number: Option<i64>) -> CellIndex {
        let class = self.symbols.class(class);
        let site = method.map(|method| self.symbols.site(method, number.and_then(line)));
        self.cell_of((class, None, site, None))
    }
}
