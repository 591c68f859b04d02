//! The numbers of each slice: of the whole trace, and of the rows of a table.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::axis::{Axis, SLICES};
use super::series::{Change, Number, Share};
use super::{Recorder, Track};
use crate::allocations::naming::SiteNames;
use crate::allocations::parts::Part;
use crate::allocations::report::{AllocationReport, By, Row, Subject};
use crate::allocations::scope::Place;
use crate::allocations::shares::ShareKey;
use crate::allocations::totals::Amount;

/// A trace, slice by slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverTime {
    /// In their order, without a gap. None where only counts are in the trace, and no two times of writing lie in the part of the trace
    /// that counts.
    pub slices: Vec<Slice>,
    /// Slices end when counts were written; otherwise all but the last have one length.
    pub is_counted: bool,
}

/// What happened in a slice of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// When it begins.
    pub begin: Time,
    /// When it ends.
    pub end: Time,
    /// What was allocated in it.
    pub allocated: Amount,
    /// What was alive at its end, whenever it was allocated. Of counts: what the last walk of the heap in it found; `None` if there was
    /// none.
    pub live: Option<Amount>,
    /// Bytes in use after the last collection that ended in it, if the trace says.
    pub used_bytes: Option<u64>,
    /// Stop-the-world collections that ended in it; `None` if the trace has counts and no collection, and so may not record them.
    pub collections: Option<u64>,
    /// How long they took; `None` if the beginning of one is not known.
    pub pauses: Option<Nanos>,
}

/// A row of a table, slice by slice.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOverTime<'a> {
    /// Its numbers in all. If its bytes have an error, those of the slices are estimates too: each slice is spread by its own samples, if
    /// it has some of the site.
    pub row: Row<'a>,
    /// What was allocated in each slice.
    pub allocated: Vec<Amount>,
    /// What was alive at the end of each slice; `None` of counts.
    pub live: Option<Vec<Amount>>,
}

/// Parts of cells that are added up, by slice.
#[derive(Clone)]
struct Sum {
    before: Change,
    exact: Vec<Change>,
    estimated: Vec<Share>,
}

impl Sum {
    fn of(slices: usize) -> Sum {
        Sum {
            before: Change::default(),
            exact: vec![Change::default(); slices],
            estimated: vec![Share::default(); slices],
        }
    }

    fn add(&mut self, recorder: &Recorder, is_counted: bool, part: &Part<'_>) {
        let slices = self.exact.len();
        if !is_counted {
            let Some(objects) = &recorder.objects else { return };
            objects.cell(part.index, slices).for_each(|(at, change)| self.exact[at].add(change));
            self.before.add(recorder.before.get(&part.index).copied().unwrap_or_default());
            return;
        }
        let Some(counts) = &recorder.counts else { return };
        let Some((sampled, whole)) = part.share else {
            counts.cell(part.index, slices).for_each(|(at, amount)| self.exact[at].allocated.add(amount));
            return;
        };
        let key = ShareKey { cell: part.index, stack: part.stack, thread: part.thread };
        let (mut own, mut all) = ([Share::default(); SLICES], [Share::default(); SLICES]);
        for (series, sums) in [(recorder.shares.get(&key), &mut own), (recorder.sampled.get(&part.index), &mut all)] {
            for (at, share) in series.into_iter().flat_map(|series| series.iter(&counts.axis, slices)) {
                sums[at].add(share);
            }
        }
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        for (at, amount) in counts.cell(part.index, slices) {
            let (bytes, objects) = match all[at].bytes > 0.0 {
                true => (ratio(own[at].bytes, all[at].bytes), ratio(own[at].objects, all[at].objects)),
                false => (ratio(sampled.bytes.weight, whole.bytes.weight), ratio(sampled.instances, whole.instances)),
            };
            let share = Share { objects: amount.objects as f64 * objects, bytes: amount.bytes as f64 * bytes };
            self.estimated[at].add(share);
        }
    }

    fn allocated(&self) -> Vec<Amount> {
        let slices = self.exact.iter().zip(&self.estimated);
        let allocated = slices.map(|(exact, estimated)| {
            let mut amount = exact.allocated;
            amount.add(Amount { objects: estimated.objects.round() as u64, bytes: estimated.bytes.round() as u64 });
            amount
        });
        allocated.collect()
    }

    /// What is alive at the end of each slice.
    fn live(&self) -> Vec<Amount> {
        let mut sum = self.before;
        let live = self.exact.iter().map(|&change| {
            sum.add(change);
            let mut live = sum.allocated;
            live.remove(sum.died);
            live
        });
        live.collect()
    }
}

impl AllocationReport {
    /// What was allocated and alive when, of all objects whose class name passes the filter, and the collections; `None` if it was not
    /// [asked for](super::super::Scope::over_time).
    pub fn over_time(&self, class_filter: impl Fn(&str) -> bool) -> Option<OverTime> {
        let recorder = self.recorder.as_ref()?;
        let (is_counted, borders) = (self.is_counted(), self.borders(recorder));
        if borders.is_empty() {
            return Some(OverTime { slices: Vec::new(), is_counted });
        }
        let mut sum = Sum::of(borders.len());
        self.pieces_of_all(true, &class_filter).for_each(|part| sum.add(recorder, is_counted, &part));
        let live = match is_counted {
            true => self.walked(recorder, &borders, class_filter),
            false => sum.live().into_iter().map(Some).collect(),
        };
        let amounts = sum.allocated().into_iter().zip(live);
        let slices = borders.iter().zip(amounts).map(|(&(begin, end), (allocated, live))| Slice {
            begin,
            end,
            allocated,
            live,
            used_bytes: None,
            collections: (!is_counted || !recorder.collections.is_empty()).then_some(0),
            pauses: (!is_counted || !recorder.collections.is_empty()).then_some(Nanos(0)),
        });
        let mut over_time = OverTime { slices: slices.collect(), is_counted };
        self.add_collections(recorder, &mut over_time.slices);
        Some(over_time)
    }

    /// The rows of a table, the largest first and no more than some, slice by slice; none if it was not asked for.
    pub fn rows_over_time(
        &self,
        by: By,
        names: &SiteNames,
        class_filter: impl Fn(&str) -> bool,
        top: usize,
    ) -> Vec<RowOverTime<'_>> {
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let mut rows = self.rows_named(by, names, &class_filter);
        rows.retain(|row| row.totals.total() > 0);
        rows.sort_by(|a, b| {
            let bytes = |row: &Row<'_>| Reverse(row.totals.total_bytes());
            bytes(a).cmp(&bytes(b)).then_with(|| a.subject.cmp(&b.subject))
        });
        rows.truncate(top);
        let (is_counted, slices) = (self.is_counted(), self.borders(recorder).len());
        let mut sums: FxHashMap<Subject<'_>, Sum> = rows.iter().map(|row| (row.subject, Sum::of(slices))).collect();
        for part in self.pieces_of_all(Self::is_exact(by, names), class_filter) {
            if let Some(sum) = sums.get_mut(&self.subject(by, names, &part)) {
                sum.add(recorder, is_counted, &part);
            }
        }
        let rows = rows.into_iter().filter_map(|row| {
            let sum = sums.get(&row.subject)?;
            Some(RowOverTime { row, allocated: sum.allocated(), live: (!is_counted).then(|| sum.live()) })
        });
        rows.collect()
    }

    /// From when to when each slice reaches.
    fn borders(&self, recorder: &Recorder) -> Vec<(Time, Time)> {
        self.axis(recorder).map_or_else(Vec::new, |axis| axis.slices(self.clock.part().1))
    }

    fn axis<'r>(&self, recorder: &'r Recorder) -> Option<&'r Axis> {
        match self.is_counted() {
            true => recorder.counts.as_ref().map(|Track { axis, .. }| axis),
            false => recorder.objects.as_ref().map(|Track { axis, .. }| axis),
        }
    }

    fn add_collections(&self, recorder: &Recorder, slices: &mut [Slice]) {
        let Some(axis) = self.axis(recorder) else { return };
        let mut latest = vec![Time(0); slices.len()];
        for collection in &recorder.collections {
            let at = usize::from(axis.find(collection.end).0).min(slices.len() - 1);
            let slice = &mut slices[at];
            // Behind the last counts, or outside of the part of the trace that counts.
            if collection.end > slice.end || collection.end < slice.begin || !self.is_in_part(collection.end) {
                continue;
            }
            slice.collections = slice.collections.map(|collections| collections + 1);
            let pause = collection.begin.map(|begin| collection.end.since(begin));
            slice.pauses = slice.pauses.zip(pause).map(|(sum, pause)| Nanos(sum.0.saturating_add(pause.0)));
            if let Some(used) = collection.used_bytes.filter(|_| collection.end >= latest[at]) {
                (slice.used_bytes, latest[at]) = (Some(used), collection.end);
            }
        }
    }

    fn is_in_part(&self, time: Time) -> bool {
        self.is_counted() || self.clock.place(time) == Place::Inside
    }

    /// What the last walk of the heap in each slice found.
    fn walked(
        &self,
        recorder: &Recorder,
        borders: &[(Time, Time)],
        class_filter: impl Fn(&str) -> bool,
    ) -> Vec<Option<Amount>> {
        let mut living: Vec<Option<(Time, Amount)>> = vec![None; borders.len()];
        // What is alive is known by class only.
        let walks = if self.is_restricted { &[][..] } else { &recorder.walks[..] };
        let slice = |time: Time| borders.iter().position(|&(begin, end)| begin < time && time <= end);
        for &(time, cell, found) in walks {
            let Some(living) = slice(time).map(|at| &mut living[at]) else { continue };
            let passes = class_filter(self.class(self.cells[cell.0 as usize].class));
            let found = if passes { found } else { Amount::default() };
            match living {
                Some((walked, sum)) if *walked == time => sum.add(found),
                Some((walked, _)) if *walked > time => {}
                _ => *living = Some((time, found)),
            }
        }
        living.into_iter().map(|living| living.map(|(_, amount)| amount)).collect()
    }
}
