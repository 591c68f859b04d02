//! Gathers what happens when, and adds it up.

use rustc_hash::FxHashMap;
use trace::time::Time;

use super::axis::{Axis, Most, Slot};
use super::series::{Change, Number, Series, Share};
use crate::allocations::breakdown::Part;
use crate::allocations::cells::CellIndex;
use crate::allocations::intervals::Borders;
use crate::allocations::samples::{Sampled, ShareKey};
use crate::allocations::totals::Amount;
use crate::window::{Clock, Position};

/// A stop-the-world collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collection {
    pub(super) begin: Option<Time>,
    pub(super) end: Time,
    pub(super) used_bytes: Option<u64>,
}

/// Gathers what happens when.
#[derive(Clone, Debug)]
pub(in crate::allocations) struct Recorder {
    most: Most,
    objects: Option<Track>,
    /// What objects were allocated or died before the part that counts.
    before: FxHashMap<CellIndex, Change>,
    counts: Option<Track>,
    /// What samples say of each counted site, and of its parts.
    sampled: FxHashMap<CellIndex, Series<Share>>,
    shares: FxHashMap<ShareKey, Series<Share>>,
    collection_begun: Option<Time>,
    collections: Vec<Collection>,
    /// What looks at the heap found, each at its time.
    walks: Vec<(Time, CellIndex, Amount)>,
}

/// Slices, and the numbers of each cell.
#[derive(Clone, Debug)]
struct Track {
    axis: Axis,
    /// By cell.
    cells: Vec<Series<Change>>,
}

impl Track {
    fn new(axis: Axis) -> Self {
        Track { axis, cells: Vec::new() }
    }

    fn change(&mut self, cell: CellIndex, slot: Slot, change: impl FnOnce(&mut Change)) {
        let at = cell.0 as usize;
        if self.cells.len() <= at {
            self.cells.resize_with(at + 1, Series::default);
        }
        self.cells[at].change(&self.axis, slot, change);
    }

    /// What a cell has in the slices in which it has anything.
    fn cell(&self, cell: CellIndex, slices: usize) -> impl Iterator<Item = (usize, Change)> {
        self.cells.get(cell.0 as usize).into_iter().flat_map(move |series| series.iter(&self.axis, slices))
    }
}

impl Recorder {
    /// A recorder of nothing yet.
    pub(in crate::allocations) fn of(most: Most) -> Recorder {
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

    fn objects(&mut self, clock: &Clock) -> &mut Track {
        self.objects.get_or_insert_with(|| Track::new(Axis::even(clock.part().0, self.most)))
    }

    /// An object was allocated, died, or is taken back at a time.
    pub(in crate::allocations) fn change(
        &mut self,
        clock: &Clock,
        cell: CellIndex,
        time: Time,
        change: impl FnOnce(&mut Change),
    ) {
        match clock.position(time) {
            Position::Before => change(self.before.entry(cell).or_default()),
            Position::Inside => {
                let track = self.objects(clock);
                let slot = track.axis.slot(time);
                track.change(cell, slot, change);
            }
            Position::After => {}
        }
    }

    /// More was counted at a site, which was written at a time: the end of an interval that counts, if that is new.
    pub(in crate::allocations) fn counted(
        &mut self,
        interval: Option<Borders>,
        cell: CellIndex,
        time: Time,
        more: Amount,
    ) {
        if let Some(interval) = interval {
            let track = self.counts.get_or_insert_with(|| Track::new(Axis::written(interval.from, self.most)));
            track.axis.slot(interval.to);
        }
        if let Some(track) = self.counts.as_mut().filter(|_| more != Amount::default()) {
            track.change(cell, track.axis.find(time), |change| change.allocated.add(more));
        }
    }

    /// Samples belong to the counts of a time.
    pub(in crate::allocations) fn sampled(&mut self, key: ShareKey, time: Time, more: &Sampled) {
        let Some(Track { axis, .. }) = &self.counts else { return };
        let slot = axis.find(time);
        let share = Share { objects: more.instances, bytes: more.bytes.weight };
        for series in [self.sampled.entry(key.cell).or_default(), self.shares.entry(key).or_default()] {
            series.change(axis, slot, |sum| sum.add(share));
        }
    }

    /// That part of what samples of a share stand for was not counted, and has a cell of its own.
    pub(in crate::allocations) fn uncounted(&mut self, key: &ShareKey, part: f64, cell: CellIndex) {
        let (Some(series), Some(track)) = (self.shares.remove(key), &mut self.counts) else { return };
        let slots: Vec<(Slot, Share)> = series.slots(&track.axis).collect();
        for (slot, Share { objects, bytes }) in slots {
            let amount = Amount { objects: (objects * part).round() as u64, bytes: (bytes * part).round() as u64 };
            track.change(cell, slot, |change| change.allocated.add(amount));
        }
    }

    pub(in crate::allocations) fn collection_began(&mut self, time: Time) {
        self.collection_begun = Some(time);
    }

    pub(in crate::allocations) fn collection_ended(&mut self, end: Time, used_bytes: Option<u64>) {
        let begin = self.collection_begun.take();
        self.collections.push(Collection { begin, end, used_bytes });
    }

    /// A look at the heap found objects.
    pub(in crate::allocations) fn walked(&mut self, cell: CellIndex, time: Time, living: Amount) {
        self.walks.push((time, cell, living));
    }

    /// Ends a document: its objects stay alive, but no collection of it can end.
    pub(in crate::allocations) fn end_document(&mut self) {
        self.collection_begun = None;
    }

    /// The trace ends.
    pub(in crate::allocations) fn finish(&mut self, clock: &Clock) {
        self.objects(clock).axis.slot(clock.part().1);
    }

    /// Multiplies what is known by counts, samples and looks.
    pub(in crate::allocations) fn scale(&mut self, scale: impl Fn(CellIndex) -> f64) {
        let cells = self.counts.iter_mut().flat_map(|track| &mut track.cells);
        for (cell, series) in (0..).map(CellIndex).zip(cells) {
            let scale = scale(cell);
            series.change_all(|change| change.allocated = change.allocated.scaled(scale));
        }
        self.walks.iter_mut().for_each(|(_, cell, found)| *found = found.scaled(scale(*cell)));
    }

    /// What is in a cell is not to be shown.
    pub(in crate::allocations) fn forget(&mut self, cell: CellIndex) {
        self.before.remove(&cell);
        let tracks = self.objects.iter_mut().chain(&mut self.counts);
        tracks.filter_map(|track| track.cells.get_mut(cell.0 as usize)).for_each(|series| *series = Series::default());
    }

    fn track(&self, in_steps: bool) -> Option<&Track> {
        if in_steps { self.counts.as_ref() } else { self.objects.as_ref() }
    }

    /// The slices of objects, or of what is counted.
    pub(super) fn axis(&self, in_steps: bool) -> Option<&Axis> {
        self.track(in_steps).map(|track| &track.axis)
    }

    pub(super) fn collections(&self) -> &[Collection] {
        &self.collections
    }

    pub(super) fn walks(&self) -> &[(Time, CellIndex, Amount)] {
        &self.walks
    }

    /// What was allocated of a part, and died, in the slices in which anything did; none if the recorder does not know it.
    pub(in crate::allocations) fn changes(
        &self,
        in_steps: bool,
        part: &Part<'_>,
        slices: usize,
    ) -> Vec<(usize, [Amount; 2])> {
        let Some(track) = self.track(in_steps).filter(|_| slices > 0) else { return Vec::new() };
        let mut changes: Vec<(usize, [Amount; 2])> = if in_steps && part.share.is_some() {
            let mut sum = Sum::of(slices);
            sum.add(self, true, part);
            sum.allocated().into_iter().map(|allocated| [allocated, Amount::default()]).enumerate().collect()
        } else {
            track.cell(part.index, slices).map(|(at, change)| (at, [change.allocated, change.died])).collect()
        };
        changes.retain(|(_, amounts)| *amounts != [Amount::default(); 2]);
        changes
    }
}

/// Parts of cells that are added up, by slice.
#[derive(Clone)]
pub(super) struct Sum {
    before: Change,
    exact: Vec<Change>,
    estimated: Vec<Share>,
}

impl Sum {
    pub(super) fn of(slices: usize) -> Sum {
        Sum {
            before: Change::default(),
            exact: vec![Change::default(); slices],
            estimated: vec![Share::default(); slices],
        }
    }

    pub(super) fn add(&mut self, recorder: &Recorder, in_steps: bool, part: &Part<'_>) {
        let Some(track) = recorder.track(in_steps) else { return };
        let slices = self.exact.len();
        let changes = track.cell(part.index, slices);
        let Some(share) = part.share.filter(|_| in_steps) else {
            changes.for_each(|(at, change)| self.exact[at].add(change));
            self.before.add(recorder.before.get(&part.index).copied().unwrap_or_default());
            return;
        };
        let key = ShareKey { cell: part.index, stack: part.cell.stack, thread: part.cell.thread };
        let by_slice = |series: Option<&Series<Share>>| {
            let mut sums = vec![Share::default(); slices];
            let shares = series.into_iter().flat_map(|series| series.iter(&track.axis, slices));
            shares.for_each(|(at, share)| sums[at].add(share));
            sums
        };
        let (own, all) = (by_slice(recorder.shares.get(&key)), by_slice(recorder.sampled.get(&part.index)));
        for (at, change) in changes {
            let Amount { objects, bytes } = change.allocated;
            let numbers = |share: Share| [share.objects, share.bytes];
            let [objects, bytes] = share.of_slice([objects as f64, bytes as f64], numbers(own[at]), numbers(all[at]));
            self.estimated[at].add(Share { objects, bytes });
        }
    }

    /// What was allocated in each slice.
    pub(super) fn allocated(&self) -> Vec<Amount> {
        let slices = self.exact.iter().zip(&self.estimated);
        let allocated = slices.map(|(exact, estimated)| {
            let mut amount = exact.allocated;
            amount.add(Amount { objects: estimated.objects.round() as u64, bytes: estimated.bytes.round() as u64 });
            amount
        });
        allocated.collect()
    }

    /// What is alive at the end of each slice.
    pub(super) fn live(&self) -> Vec<Amount> {
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
