//! What happens in each slice besides allocations: collections, and walks of the heap.

use trace::time::{Nanos, Time};

use super::axis::Axis;
use super::{Recorder, Track};
use crate::allocations::amount::Amount;
use crate::allocations::live::CellIndex;

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

impl Recorder {
    /// From when to when each slice reaches, of objects or of what is counted.
    pub(in crate::allocations) fn borders(&self, in_steps: bool, until: Time) -> Vec<(Time, Time)> {
        self.axis(in_steps).map_or_else(Vec::new, |axis| axis.slices(until))
    }

    fn axis(&self, in_steps: bool) -> Option<&Axis> {
        match in_steps {
            true => self.counts.as_ref().map(|Track { axis, .. }| axis),
            false => self.objects.as_ref().map(|Track { axis, .. }| axis),
        }
    }

    /// Whether collections are recorded.
    pub(in crate::allocations) fn knows_collections(&self, in_steps: bool) -> bool {
        !in_steps || !self.collections.is_empty()
    }

    /// Adds the collections to slices that have none yet: those in the part of the trace that counts.
    pub(in crate::allocations) fn add_collections(
        &self,
        in_steps: bool,
        slices: &mut [Slice],
        is_in_part: impl Fn(Time) -> bool,
    ) {
        let Some(axis) = self.axis(in_steps) else { return };
        let mut latest = vec![Time(0); slices.len()];
        for collection in &self.collections {
            let at = usize::from(axis.find(collection.end).0).min(slices.len() - 1);
            let slice = &mut slices[at];
            // Others are behind the last counts, or before the first.
            let is_inside = slice.begin <= collection.end && collection.end <= slice.end;
            if !is_inside || !in_steps && !is_in_part(collection.end) {
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

    /// What the last walk of the heap in each slice found, in the cells that pass.
    pub(in crate::allocations) fn found_alive(
        &self,
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
        for &(time, cell, found) in &self.walks {
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
}
