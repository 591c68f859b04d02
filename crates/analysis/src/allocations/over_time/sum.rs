//! Adds up parts of cells, slice by slice.

use super::Recorder;
use super::series::{Change, Number, Share};
use crate::allocations::amount::Amount;
use crate::allocations::parts::Part;
use crate::allocations::shares::ShareKey;

/// Parts of cells that are added up, by slice.
#[derive(Clone)]
pub(in crate::allocations) struct Sum {
    before: Change,
    exact: Vec<Change>,
    estimated: Vec<Share>,
}

impl Sum {
    pub(in crate::allocations) fn of(slices: usize) -> Sum {
        Sum {
            before: Change::default(),
            exact: vec![Change::default(); slices],
            estimated: vec![Share::default(); slices],
        }
    }

    pub(in crate::allocations) fn add(&mut self, recorder: &Recorder, in_steps: bool, part: &Part<'_>) {
        let slices = self.exact.len();
        if !in_steps {
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
        let (mut own, mut all) = (vec![Share::default(); slices], vec![Share::default(); slices]);
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

    pub(in crate::allocations) fn allocated(&self) -> Vec<Amount> {
        let slices = self.exact.iter().zip(&self.estimated);
        let allocated = slices.map(|(exact, estimated)| {
            let mut amount = exact.allocated;
            amount.add(Amount { objects: estimated.objects.round() as u64, bytes: estimated.bytes.round() as u64 });
            amount
        });
        allocated.collect()
    }

    /// What is alive at the end of each slice.
    pub(in crate::allocations) fn live(&self) -> Vec<Amount> {
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
