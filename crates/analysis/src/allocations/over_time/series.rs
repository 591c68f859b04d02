//! Numbers by slice. Most groups of objects are allocated in few slices, so only those are kept: memory grows no faster than the
//! trace.

use super::axis::{Axis, Slot};
use crate::allocations::totals::Amount;

/// What is added up by slice.
pub(super) trait Number: Copy + Default {
    fn add(&mut self, other: Self);
}

/// Objects that were allocated, and those that died.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::allocations) struct Change {
    pub(in crate::allocations) allocated: Amount,
    pub(in crate::allocations) died: Amount,
}

impl Number for Change {
    fn add(&mut self, other: Self) {
        self.allocated.add(other.allocated);
        self.died.add(other.died);
    }
}

/// What samples stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) objects: f64,
    pub(super) bytes: f64,
}

impl Number for Share {
    fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

/// Numbers of some slices.
#[derive(Clone, Debug, Default)]
pub(super) struct Series<N> {
    /// In the order of their slices.
    slots: Vec<(Slot, N)>,
    halvings: u32,
}

impl<N: Number> Series<N> {
    /// Changes what a slice has, which the axis has by now.
    pub(super) fn change(&mut self, axis: &Axis, slot: Slot, change: impl FnOnce(&mut N)) {
        self.halve(axis);
        let at = match self.slots.last() {
            Some((last, _)) if *last == slot => self.slots.len() - 1,
            Some((last, _)) if *last > slot => self.slots.partition_point(|&(before, _)| before < slot),
            _ => self.slots.len(),
        };
        if self.slots.get(at).is_none_or(|&(found, _)| found != slot) {
            self.slots.insert(at, (slot, N::default()));
        }
        change(&mut self.slots[at].1);
    }

    /// Changes what each slice has.
    pub(super) fn change_all(&mut self, mut change: impl FnMut(&mut N)) {
        self.slots.iter_mut().for_each(|(_, number)| change(number));
    }

    /// The slices that have something, by the axis as it is at last, of which only some may be there.
    pub(super) fn iter(&self, axis: &Axis, slices: usize) -> impl Iterator<Item = (usize, N)> {
        self.slots(axis).map(move |(slot, number)| (usize::from(slot.0).min(slices - 1), number))
    }

    /// What each slice of the axis as it is has.
    pub(super) fn slots(&self, axis: &Axis) -> impl Iterator<Item = (Slot, N)> {
        let halvings = axis.halvings() - self.halvings;
        self.slots.iter().map(move |(slot, number)| (slot.halved(halvings), *number))
    }

    fn halve(&mut self, axis: &Axis) {
        let times = axis.halvings() - self.halvings;
        if times == 0 {
            return;
        }
        self.halvings = axis.halvings();
        self.slots.iter_mut().for_each(|(slot, _)| *slot = slot.halved(times));
        self.slots.dedup_by(|(slot, number), (before, sum)| {
            let is_same = slot == before;
            if is_same {
                sum.add(*number);
            }
            is_same
        });
    }
}
