//! Slices of time. How long a trace is is known at its end only, so they grow: when there are too many, each two become one.

use trace::time::Time;

/// How many slices there are at most, which is even, and how long they are if that is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::allocations) struct Most {
    slices: usize,
    width: u64,
    /// The first begins with a minute of the clock.
    at_minutes: bool,
}

/// Enough for what is read as text.
pub(in crate::allocations) const FEW: Most = Most { slices: 64, width: FIRST_WIDTH, at_minutes: false };
/// Enough for what is seen as a picture. A [`Slot`] has no more.
pub(in crate::allocations) const MANY: Most = Most { slices: 256, ..FEW };
/// Minutes of the clock; of a trace of more than 256 minutes two, four, eight ... are one.
pub(in crate::allocations) const MINUTES: Most = Most { width: MINUTE, at_minutes: true, ..MANY };

const MINUTE: u64 = 60_000_000_000;

/// Nanoseconds of a slice at first: a second halved nine times, so that those of longer traces have a round length.
const FIRST_WIDTH: u64 = 1_953_125;

/// Number of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(pub(super) u8);

impl Slot {
    /// Its number after each two slices have become one, so many times.
    pub(super) fn halved(self, times: u32) -> Slot {
        Slot(self.0.checked_shr(times).unwrap_or(0))
    }
}

/// Where slices begin and end.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    begin: Time,
    borders: Borders,
    most: usize,
    halvings: u32,
}

#[derive(Clone, Debug)]
enum Borders {
    /// All of one length.
    Even(u64),
    /// Each ends when counts were written.
    Written(Vec<Time>),
}

impl Axis {
    /// Slices of one length.
    pub(super) fn even(begin: Time, most: Most) -> Axis {
        let late = if most.at_minutes { begin.0 % MINUTE } else { 0 };
        Axis { begin: Time(begin.0 - late), borders: Borders::Even(most.width), most: most.slices, halvings: 0 }
    }

    /// Slices from one time at which counts were written to the next.
    pub(super) fn written(begin: Time, most: Most) -> Axis {
        Axis { begin, borders: Borders::Written(Vec::new()), most: most.slices, halvings: 0 }
    }

    /// How often each two slices have become one.
    pub(super) fn halvings(&self) -> u32 {
        self.halvings
    }

    /// The slice of a time. One behind the last slice makes the axis longer: counts were written then.
    pub(super) fn slot(&mut self, time: Time) -> Slot {
        match &mut self.borders {
            Borders::Even(width) => {
                let since = time.since(self.begin).0;
                while since / *width >= self.most as u64 {
                    *width *= 2;
                    self.halvings += 1;
                }
            }
            Borders::Written(ends) if ends.last().is_none_or(|&last| last < time) => {
                if ends.len() == self.most {
                    *ends = ends.chunks_exact(2).map(|pair| pair[1]).collect();
                    self.halvings += 1;
                }
                ends.push(time);
            }
            Borders::Written(_) => {}
        }
        self.find(time)
    }

    /// The slice of a time; the last one if it is behind all of them.
    pub(super) fn find(&self, time: Time) -> Slot {
        let at = match &self.borders {
            Borders::Even(width) => usize::try_from(time.since(self.begin).0 / width).unwrap_or(self.most),
            Borders::Written(ends) => ends.partition_point(|&end| end < time).min(ends.len().saturating_sub(1)),
        };
        Slot(at.min(self.most - 1) as u8)
    }

    /// The slices until a time, one at least if they are of one length: from when to when.
    pub(super) fn slices(&self, until: Time) -> Vec<(Time, Time)> {
        let mut from = self.begin;
        let slice = |end: Time| (std::mem::replace(&mut from, end), end);
        match &self.borders {
            Borders::Even(width) => {
                let count = until.since(self.begin).0.div_ceil(*width).clamp(1, self.most as u64);
                let end = |slice: u64| Time(self.begin.0.saturating_add(slice.saturating_mul(*width)));
                (1..=count)
                    .map(|slice| if slice == count { until.max(self.begin) } else { end(slice) })
                    .map(slice)
                    .collect()
            }
            Borders::Written(ends) => ends.iter().copied().map(slice).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_slice_has_the_times_between_its_borders(
            mut times in proptest::collection::vec(prop_oneof![0_u64..1 << 36, any::<u64>()], 1..300),
            is_even in any::<bool>(),
            most in prop_oneof![Just(FEW), Just(MANY), Just(MINUTES)],
        ) {
            times.sort_unstable();
            let begin = Time(times[0]);
            let mut axis = if is_even { Axis::even(begin, most) } else { Axis::written(begin, most) };
            let slots: Vec<(Slot, u32)> = times.iter().map(|&time| (axis.slot(Time(time)), axis.halvings())).collect();
            let slices = axis.slices(Time(times[times.len() - 1]));
            prop_assert!((1..=most.slices).contains(&slices.len()));
            prop_assert!(slices.windows(2).all(|pair| pair[0].1 == pair[1].0 && pair[0].0 <= pair[0].1));
            for (&time, (slot, halvings)) in times.iter().zip(slots) {
                let slot = slot.halved(axis.halvings() - halvings);
                prop_assert_eq!(slot, axis.find(Time(time)));
                let last = slices.len() - 1;
                let (from, to) = slices[usize::from(slot.0).min(last)];
                let inside = if is_even { from.0 <= time && (time < to.0 || to == slices[last].1) } else { time <= to.0 };
                prop_assert!(inside, "{} in {:?}..{:?}", time, from, to);
            }
        }
    }

    #[test]
    fn minutes_are_those_of_the_clock() {
        let mut axis = Axis::even(Time(90_000_000_000), MINUTES);
        let slots = [90, 119, 120, 600].map(|second| axis.slot(Time(second * 1_000_000_000)).0);
        assert_eq!(slots, [0, 0, 1, 9]);
        assert_eq!(axis.slices(Time(600_000_000_000))[1], (Time(120_000_000_000), Time(180_000_000_000)));
    }

    #[test]
    fn slices_of_long_traces_have_round_lengths() {
        let mut axis = Axis::even(Time(0), FEW);
        axis.slot(Time(40_000_000_000));
        let slices = axis.slices(Time(40_000_000_000));
        assert_eq!(
            (slices.len(), slices[0], slices[39]),
            (40, (Time(0), Time(1_000_000_000)), (Time(39_000_000_000), Time(40_000_000_000)))
        );
    }
}
