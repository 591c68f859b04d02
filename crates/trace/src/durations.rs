//! Durations in slots: sixteen for each doubling, so that a slot is at most a sixteenth of its durations wide.

use std::fmt::Write as _;
use std::ops::Range;

use crate::time::Nanos;

/// Slots of each doubling, as a power of two.
const BITS: u32 = 4;

/// A slot of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DurationSlot(u16);

impl DurationSlot {
    /// How many there are.
    pub const COUNT: usize = ((64 - BITS + 1) << BITS) as usize;

    /// The slot of a duration.
    pub const fn of(duration: Nanos) -> DurationSlot {
        let Some(power) = duration.0.checked_ilog2() else { return DurationSlot(0) };
        match power.checked_sub(BITS) {
            // A slot for each nanosecond.
            None => DurationSlot(duration.0 as u16),
            Some(shift) => DurationSlot(((shift << BITS) + (duration.0 >> shift) as u32) as u16),
        }
    }

    /// The slot with that number, if there is one.
    pub fn new(number: usize) -> Option<DurationSlot> {
        (number < DurationSlot::COUNT).then_some(DurationSlot(number as u16))
    }

    /// Its number, below [`COUNT`](Self::COUNT).
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// Its shortest and its longest duration.
    pub fn bounds(self) -> (Nanos, Nanos) {
        let Range { start, end } = self.range();
        (Nanos(start as u64), Nanos((end - 1) as u64))
    }

    fn range(self) -> Range<u128> {
        let number = u128::from(self.0);
        let shift = (number >> BITS).saturating_sub(1);
        let first = number - (shift << BITS);
        first << shift..(first + 1) << shift
    }
}

/// Writes how many durations are in each slot, as a trace has it.
pub fn write(counts: impl IntoIterator<Item = (DurationSlot, u64)>) -> String {
    let mut text = String::new();
    for (slot, count) in counts {
        let separator = if text.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{}:{count}", slot.0);
    }
    text
}

/// Reads what [`write`](fn@write) writes; what is none is left out.
pub fn read(text: &str) -> impl Iterator<Item = (DurationSlot, u64)> {
    text.split_ascii_whitespace().filter_map(|part| {
        let (slot, count) = part.split_once(':')?;
        Some((DurationSlot::new(slot.parse().ok()?)?, count.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_of_the_range_have_slots() {
        assert_eq!(DurationSlot::of(Nanos(0)).bounds(), (Nanos(0), Nanos(0)));
        let last = DurationSlot::of(Nanos(u64::MAX));
        assert_eq!(last.number(), DurationSlot::COUNT - 1);
        assert_eq!(last.bounds().1, Nanos(u64::MAX));
        assert_eq!(DurationSlot::new(DurationSlot::COUNT), None);
    }

    #[test]
    fn counts_are_read_as_they_were_written() {
        let counts = [(DurationSlot::of(Nanos(7)), 2), (DurationSlot::of(Nanos(1_000_000)), 1)];
        assert_eq!(read(&write(counts)).collect::<Vec<_>>(), counts);
        assert_eq!(read("a:1 5 99999:3 5:x 6:2 -1:2").collect::<Vec<_>>(), [(DurationSlot(6), 2)]);
    }

    proptest! {
        #[test]
        fn a_slot_holds_its_durations(nanos: u64) {
            let slot = DurationSlot::of(Nanos(nanos));
            let (shortest, longest) = slot.bounds();
            prop_assert!(shortest.0 <= nanos && nanos <= longest.0);
            prop_assert!(longest.0 - shortest.0 <= nanos / 16);
            prop_assert_eq!(DurationSlot::of(longest), slot);
        }
    }
}
