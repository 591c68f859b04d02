//! Waits that were seen by looks at intervals, and how far their sums may be off.
//!
//! A look that sees a wait stands for the interval to the next look. So a wait that is seen by `n` looks counts `n` intervals, and may be
//! too long or too short by one; one that is shorter than an interval is seen by chance, and stands for those that were not. Either way
//! the variance of the sum is at most the square of the interval for each wait that was seen. Waits for one lock that were first seen by
//! the same look began together, and are off together.

use trace::time::{Nanos, Time};

/// Fewer looks say nothing: of ten the error is 60 %.
const LEAST_LOOKS: u64 = 10;
/// Standard errors that 95 % of all sums are not off by.
const CONFIDENCE: f64 = 1.96;

/// How a wait was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    interval: Nanos,
    /// Of the sum of the waits, by this one: square nanoseconds.
    variance: f64,
}

impl Seen {
    /// By looks so far apart; so many waits for the same lock were first seen by the same look before.
    pub(super) fn new(interval: Nanos, before: u32) -> Seen {
        let one = interval.0 as f64 * interval.0 as f64;
        Seen { interval, variance: one * f64::from(2 * before + 1) }
    }

    /// What a wait of that length adds.
    pub(super) fn looks(self, length: Nanos) -> Looks {
        let looks = length.0.saturating_add(self.interval.0 / 2).checked_div(self.interval.0).unwrap_or(0).max(1);
        Looks { waits: 1, looks, total: length, variance: self.variance }
    }
}

/// Looks that saw waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    /// The waits.
    waits: u64,
    looks: u64,
    total: Nanos,
    variance: f64,
}

impl Looks {
    pub(super) fn merge(&mut self, other: Looks) {
        self.waits += other.waits;
        self.looks += other.looks;
        self.total = Nanos(self.total.0.saturating_add(other.total.0));
        self.variance += other.variance;
    }

    /// What they say of a sum; `None` if there were none.
    pub(super) fn estimate(self) -> Option<Estimate> {
        let error = Nanos((CONFIDENCE * self.variance.sqrt()) as u64);
        let Looks { waits, looks, total, .. } = self;
        (looks > 0).then_some(Estimate { waits, looks, total, error })
    }
}

/// What is estimated of a sum of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How many of the waits were seen by looks at intervals; the others are exact.
    pub waits: u64,
    /// How many looks saw them.
    pub looks: u64,
    /// Their time in all.
    pub total: Nanos,
    /// How far that may be off, with a confidence of 95 %.
    pub error: Nanos,
}

impl Estimate {
    /// Whether so many looks say anything.
    pub fn is_enough(&self) -> bool {
        self.looks >= LEAST_LOOKS
    }
}

/// When waits for a lock were first seen last, and how many of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstSeen(Option<(Time, u32)>);

impl FirstSeen {
    /// One more. How many were before, at the same time.
    pub(super) fn add(&mut self, time: Time) -> u32 {
        let before = self.0.filter(|(then, _)| *then == time).map_or(0, |(_, waits)| waits);
        self.0 = Some((time, before.saturating_add(1)));
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn one_long_wait_is_known_to_an_interval_and_many_short_ones_are_not() {
        let seen = Seen::new(Nanos(10 * MILLI), 0);
        let long = seen.looks(Nanos(1000 * MILLI)).estimate().unwrap();
        assert_eq!((long.looks, long.error.0.div_ceil(MILLI)), (100, 20));
        let mut short = Looks::default();
        (0..100).for_each(|_| short.merge(seen.looks(Nanos(9 * MILLI))));
        let short = short.estimate().unwrap();
        assert_eq!((short.waits, short.looks, short.error.0.div_ceil(MILLI)), (100, 100, 196));
        assert!(short.is_enough() && !seen.looks(Nanos(90 * MILLI)).estimate().unwrap().is_enough());
        assert!(Looks::default().estimate().is_none());
    }

    #[test]
    fn waits_that_began_together_are_off_together() {
        let (mut first, mut together) = (FirstSeen::default(), Looks::default());
        for _ in 0..9 {
            together.merge(Seen::new(Nanos(10 * MILLI), first.add(Time(1))).looks(Nanos(10 * MILLI)));
        }
        assert_eq!(together.estimate().unwrap().error.0.div_ceil(MILLI), 177);
        assert_eq!((first.add(Time(2)), first.add(Time(2)), first.add(Time(1))), (0, 1, 0));
    }

    /// Looks at random at waits of any length find their sum, within the error that they claim.
    #[test]
    fn the_error_is_what_looks_are_off_by() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut inside, runs) = (0, 200);
        for _ in 0..runs {
            let (mut sum, mut found, mut looks) = (0, 0, Looks::default());
            let mut wait = (0, 0);
            let (mut last, mut time) = (None::<(u64, Nanos)>, 0);
            while time < 2_000 * MILLI {
                let interval = 5 * MILLI + next(10 * MILLI);
                time += interval;
                // The waits up to here.
                while wait.1 < time {
                    sum += wait.1 - wait.0;
                    let begin = wait.1 + next(20 * MILLI);
                    wait = (begin, begin + next(15 * MILLI));
                }
                let is_same = last.is_some_and(|(begin, _)| begin == wait.0);
                if !is_same && let Some((_, length)) = last.take() {
                    found += length.0;
                    looks.merge(Seen::new(Nanos(10 * MILLI), 0).looks(length));
                }
                if wait.0 <= time {
                    let before = last.map_or(0, |(_, length)| length.0);
                    last = Some((wait.0, Nanos(before + 10 * MILLI)));
                }
            }
            let error = looks.estimate().map_or(0, |estimate| estimate.error.0);
            inside += u32::from(sum.abs_diff(found) <= error);
        }
        assert!(inside * 100 >= runs * 90, "{inside} of {runs}");
    }
}
