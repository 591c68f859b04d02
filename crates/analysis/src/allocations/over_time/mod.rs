//! When objects are allocated, and what is alive at which time: numbers by slices of the trace, read once.
//!
//! Objects of which each one is in the trace fall into slices of equal length. Counts say only how much was allocated between two
//! times of writing, so there a slice reaches from one such time to another: nothing is spread evenly over it.

mod axis;
mod series;
mod slices;
mod sum;

use rustc_hash::FxHashMap;
use trace::time::Time;

pub use slices::{OverTime, Slice};
pub(super) use sum::Sum;

use super::amount::Amount;
use super::live::CellIndex;
use super::parts::Part;
use super::shares::{Sampled, ShareKey};
use super::snapshots::Borders;
use crate::window::Position;
pub(super) use axis::{FEW, MANY, Most};

use axis::Axis;
use series::{Change, Series, Share};

/// A stop-the-world collection.
#[derive(Clone, Copy, Debug)]
struct Collection {
    begin: Option<Time>,
    end: Time,
    used_bytes: Option<u64>,
}

/// Gathers what happens when.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    most: Most,
    objects: Option<Track<Change>>,
    /// What objects were allocated or died before the part that counts.
    before: FxHashMap<CellIndex, Change>,
    counts: Option<Track<Amount>>,
    /// What samples say of each cell, and of its parts.
    sampled: FxHashMap<CellIndex, Series<Share>>,
    shares: FxHashMap<ShareKey, Series<Share>>,
    collection_begun: Option<Time>,
    collections: Vec<Collection>,
    /// What walks of the heap found, each at its time.
    walks: Vec<(Time, CellIndex, Amount)>,
}

/// Slices, and the numbers of each cell.
#[derive(Clone, Debug)]
struct Track<N> {
    axis: Axis,
    /// By cell.
    cells: Vec<Series<N>>,
}

impl<N: series::Number> Track<N> {
    fn new(axis: Axis) -> Self {
        Track { axis, cells: Vec::new() }
    }

    fn add(&mut self, cell: CellIndex, time: Time, number: N) {
        let slot = self.axis.slot(time);
        series(&mut self.cells, cell).add(&self.axis, slot, number);
    }

    fn cell(&self, cell: CellIndex, slices: usize) -> impl Iterator<Item = (usize, N)> {
        self.cells.get(cell.0 as usize).into_iter().flat_map(move |series| series.iter(&self.axis, slices))
    }
}

fn series<N: series::Number>(cells: &mut Vec<Series<N>>, cell: CellIndex) -> &mut Series<N> {
    let at = cell.0 as usize;
    if cells.len() <= at {
        cells.resize_with(at + 1, Series::default);
    }
    &mut cells[at]
}

impl Recorder {
    /// A recorder of nothing yet.
    pub(super) fn of(most: Most) -> Recorder {
        Recorder {
            most,
            objects: None,
            before: FxHashMap::default(),
            counts: None,
            sampled: FxHashMap::default(),
            shares: FxHashMap::default(),
            collection_begun: None,
            collections: Vec::new(),
            walks: Vec::new(),
        }
    }

    /// What was allocated of a part, and died, in the slices in which anything did; none if the recorder does not know it.
    pub(super) fn changes(&self, in_steps: bool, part: &Part<'_>, slices: usize) -> Vec<(usize, [Amount; 2])> {
        if slices == 0 {
            return Vec::new();
        }
        let mut changes: Vec<(usize, [Amount; 2])> = match (in_steps, part.share) {
            (false, _) => {
                let track = self.objects.iter().flat_map(|track| track.cell(part.index, slices));
                track.map(|(at, change)| (at, [change.allocated, change.died])).collect()
            }
            (true, None) => {
                let track = self.counts.iter().flat_map(|track| track.cell(part.index, slices));
                track.map(|(at, allocated)| (at, [allocated, Amount::default()])).collect()
            }
            (true, Some(_)) => {
                let mut sum = Sum::of(slices);
                sum.add(self, true, part);
                let amounts = sum.allocated().into_iter().enumerate();
                amounts.map(|(at, allocated)| (at, [allocated, Amount::default()])).collect()
            }
        };
        changes.retain(|(_, amounts)| *amounts != [Amount::default(); 2]);
        changes
    }

    /// An object was allocated, in the part that counts or elsewhere, which begins at a time.
    pub(super) fn allocated(&mut self, cell: CellIndex, place: Position, time: Time, begin: Time, bytes: u64) {
        let change = Change { allocated: Amount { objects: 1, bytes }, ..Change::default() };
        self.change(cell, place, time, begin, change);
    }

    /// An object died.
    pub(super) fn died(&mut self, cell: CellIndex, place: Position, time: Time, begin: Time, bytes: u64) {
        let change = Change { died: Amount { objects: 1, bytes }, ..Change::default() };
        self.change(cell, place, time, begin, change);
    }

    fn change(&mut self, cell: CellIndex, place: Position, time: Time, begin: Time, change: Change) {
        match place {
            Position::Before => series::Number::add(self.before.entry(cell).or_default(), change),
            Position::Inside => {
                self.objects.get_or_insert_with(|| Track::new(Axis::even(begin, self.most))).add(cell, time, change)
            }
            Position::After => {}
        }
    }

    /// Takes back that an object was allocated.
    pub(super) fn take_back(&mut self, cell: CellIndex, place: Position, time: Time, bytes: u64) {
        let amount = Amount { objects: 1, bytes };
        match (place, &mut self.objects) {
            (Position::Before, _) => self.before.entry(cell).or_default().allocated.remove(amount),
            (Position::Inside, Some(Track { axis, cells })) => {
                let slot = axis.find(time);
                series(cells, cell).change(axis, slot, |change| change.allocated.remove(amount));
            }
            _ => {}
        }
    }

    /// Counts were written at the end of an interval that counts.
    pub(super) fn written(&mut self, interval: Borders) {
        self.counts.get_or_insert_with(|| Track::new(Axis::written(interval.from, self.most))).axis.slot(interval.to);
    }

    /// More was counted at a site, which was written at a time.
    pub(super) fn counted(&mut self, cell: CellIndex, time: Time, more: Amount) {
        if let Some(Track { axis, cells }) = &mut self.counts
            && more != Amount::default()
        {
            let slot = axis.find(time);
            series(cells, cell).add(axis, slot, more);
        }
    }

    /// Samples belong to the counts of a time.
    pub(super) fn sampled(&mut self, key: ShareKey, time: Time, more: &Sampled) {
        let Some(Track { axis, .. }) = &mut self.counts else { return };
        let slot = axis.find(time);
        let share = Share { objects: more.instances, bytes: more.bytes.weight };
        self.sampled.entry(key.cell).or_default().add(axis, slot, share);
        self.shares.entry(key).or_default().add(axis, slot, share);
    }

    pub(super) fn collection_began(&mut self, time: Time) {
        self.collection_begun = Some(time);
    }

    pub(super) fn collection_ended(&mut self, end: Time, used_bytes: Option<u64>) {
        let begin = self.collection_begun.take();
        self.collections.push(Collection { begin, end, used_bytes });
    }

    /// A walk of the heap found objects.
    pub(super) fn walked(&mut self, cell: CellIndex, time: Time, living: Amount) {
        self.walks.push((time, cell, living));
    }

    /// The part of the trace that counts reaches from one time to another.
    pub(super) fn finish(&mut self, (begin, end): (Time, Time)) {
        self.objects.get_or_insert_with(|| Track::new(Axis::even(begin, self.most))).axis.slot(end);
    }

    /// Multiplies what is known by counts, samples and walks.
    pub(super) fn scale(&mut self, scale: impl Fn(CellIndex) -> f64) {
        let cells = self.counts.iter_mut().flat_map(|track| &mut track.cells);
        for (cell, series) in (0..).map(CellIndex).zip(cells) {
            let scale = scale(cell);
            series.change_all(|amount| *amount = amount.scaled(scale));
        }
        self.walks.iter_mut().for_each(|(_, cell, found)| *found = found.scaled(scale(*cell)));
    }

    /// What is in a cell is not to be shown.
    pub(super) fn forget(&mut self, cell: CellIndex) {
        let at = cell.0 as usize;
        self.before.remove(&cell);
        self.objects
            .iter_mut()
            .filter_map(|track| track.cells.get_mut(at))
            .for_each(|series| *series = Series::default());
        self.counts
            .iter_mut()
            .filter_map(|track| track.cells.get_mut(at))
            .for_each(|series| *series = Series::default());
    }

    /// Ends a document: its objects stay alive, but no collection of it can end.
    pub(super) fn end_document(&mut self) {
        self.collection_begun = None;
    }
}
