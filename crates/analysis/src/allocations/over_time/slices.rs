//! The numbers of each slice of time: of the whole trace, and of the rows of a table.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::recorder::{Recorder, Sum};
use crate::allocations::cells::CellIndex;
use crate::allocations::naming::SiteNames;
use crate::allocations::report::AllocationReport;
use crate::allocations::rows::{By, Row, Subject};
use crate::allocations::totals::Amount;
use crate::window::Position;

/// A trace, slice by slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverTime {
    /// In their order, without a gap. None where only counts or samples are in the trace, and no two times of writing lie in the part of the trace
    /// that counts.
    pub slices: Vec<Slice>,
    /// Slices end when counts or samples were written; otherwise all but the last have one length.
    pub in_steps: bool,
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
    /// What was alive at its end, whenever it was allocated. Of counts and samples: what the last look in it found; `None` if there was
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
    /// What was alive at the end of each slice; `None` of counts and samples.
    pub live: Option<Vec<Amount>>,
}

impl AllocationReport {
    /// What was allocated and alive when, of all objects whose class name passes the filter, and the collections; `None` if it was not
    /// [asked for](crate::allocations::Scope::over_time).
    pub fn over_time(&self, class_filter: impl Fn(&str) -> bool) -> Option<OverTime> {
        let recorder = self.recorder.as_ref()?;
        let in_steps = self.is_in_steps();
        let borders = self.borders(recorder);
        if borders.is_empty() {
            return Some(OverTime { slices: Vec::new(), in_steps });
        }
        let mut sum = Sum::of(borders.len());
        self.breakdown.pieces_of_all(|_| true, &class_filter).for_each(|part| sum.add(recorder, in_steps, &part));
        let passes = |index: CellIndex| {
            class_filter(self.cells().class(self.cells().cell(index)))
                && (!self.is_selected || self.cells().totals(index).total() > 0)
        };
        let live: Vec<Option<Amount>> = match in_steps {
            // What is alive is known by class only.
            true if self.is_selected && self.is_counted() => vec![None; borders.len()],
            true => found_alive(recorder, &borders, passes),
            false => sum.live().into_iter().map(Some).collect(),
        };
        let knows_collections = !in_steps || !recorder.collections().is_empty();
        let amounts = sum.allocated().into_iter().zip(live);
        let slices = borders.iter().zip(amounts).map(|(&(begin, end), (allocated, live))| Slice {
            begin,
            end,
            allocated,
            live,
            used_bytes: None,
            collections: knows_collections.then_some(0),
            pauses: knows_collections.then_some(Nanos(0)),
        });
        let mut over_time = OverTime { slices: slices.collect(), in_steps };
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
        rows.sort_by_key(|row| (Reverse(row.totals.total_bytes()), row.subject));
        rows.truncate(top);
        let (in_steps, slices) = (self.is_in_steps(), self.borders(recorder).len());
        let mut sums: FxHashMap<Subject<'_>, Sum> = rows.iter().map(|row| (row.subject, Sum::of(slices))).collect();
        for part in self.breakdown.pieces_of_all(self.is_whole(by, names), class_filter) {
            if let Some(sum) = sums.get_mut(&self.subject(by, names, &part)) {
                sum.add(recorder, in_steps, &part);
            }
        }
        let rows = rows.into_iter().filter_map(|row| {
            let sum = sums.get(&row.subject)?;
            Some(RowOverTime { row, allocated: sum.allocated(), live: (!in_steps).then(|| sum.live()) })
        });
        rows.collect()
    }

    /// When each slice is, of those that [`Entry::changes`](crate::allocations::Entry::changes) names: its beginning, or where counts
    /// were written the time of that. None if it was not asked for.
    pub fn slice_times(&self) -> Vec<Time> {
        let borders = self.recorder.as_ref().map_or_else(Vec::new, |recorder| self.borders(recorder));
        borders.into_iter().map(|(begin, end)| if self.is_in_steps() { end } else { begin }).collect()
    }

    /// From when to when each slice reaches.
    fn borders(&self, recorder: &Recorder) -> Vec<(Time, Time)> {
        recorder.axis(self.is_in_steps()).map_or_else(Vec::new, |axis| axis.slices(self.clock.part().1))
    }

    /// Adds the collections to slices that have none yet: those in the part of the trace that counts.
    fn add_collections(&self, recorder: &Recorder, slices: &mut [Slice]) {
        let in_steps = self.is_in_steps();
        let Some(axis) = recorder.axis(in_steps) else { return };
        let mut latest = vec![Time(0); slices.len()];
        for collection in recorder.collections() {
            let at = usize::from(axis.find(collection.end).0).min(slices.len() - 1);
            let slice = &mut slices[at];
            // Others are behind the last counts, or before the first.
            let is_inside = slice.begin <= collection.end && collection.end <= slice.end;
            if !is_inside || !in_steps && self.clock.position(collection.end) != Position::Inside {
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
}

/// What the last walk of the heap in each slice found, in the cells that pass.
fn found_alive(
    recorder: &Recorder,
    borders: &[(Time, Time)],
    passes: impl Fn(CellIndex) -> bool,
) -> Vec<Option<Amount>> {
    let mut living: Vec<Option<(Time, Amount)>> = vec![None; borders.len()];
    // The last look comes right after the last numbers were written, long before further ones would be.
    let last = borders.last().map(|&(begin, end)| (end, Time(end.0.saturating_add(end.since(begin).0 / 4))));
    let slice = |time: Time| {
        let inside = borders.iter().position(|&(begin, end)| begin < time && time <= end);
        inside.or_else(|| last.is_some_and(|(end, most)| end < time && time <= most).then_some(borders.len() - 1))
    };
    for &(time, cell, found) in recorder.walks() {
        let Some(living) = slice(time).map(|at| &mut living[at]) else { continue };
        let found = if passes(cell) { found } else { Amount::default() };
        match living {
            Some((walked, sum)) if *walked == time => sum.add(found),
            Some((walked, _)) if *walked > time => {}
            _ => *living = Some((time, found)),
        }
    }
    living.into_iter().map(|living| living.map(|(_, amount)| amount)).collect()
}
