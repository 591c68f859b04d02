//! How many requests there were, and how long they took.

use std::collections::BTreeMap;

use trace::durations::{self, DurationSlot};
use trace::model::RequestCount;
use trace::time::Nanos;

/// So many parts of the time are kept; of more, two become one.
const MOST_MOMENTS: usize = 512;

/// Durations in slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(BTreeMap<DurationSlot, u64>);

impl Durations {
    pub(super) fn add(&mut self, slots: impl Iterator<Item = (DurationSlot, u64)>) {
        for (slot, count) in slots {
            let sum = self.0.entry(slot).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    fn merge(&mut self, other: &Durations) {
        self.add(other.0.iter().map(|(&slot, &count)| (slot, count)));
    }

    /// Which duration so large a share of all did not exceed: the longest of its slot, so at most a sixteenth too long.
    pub fn percentile(&self, share: f64) -> Option<Nanos> {
        let all = self.0.values().fold(0_u64, |sum, &count| sum.saturating_add(count));
        let rank = ((share * all as f64).ceil() as u64).clamp(1, all.max(1));
        let mut below = 0_u64;
        let slot = self.0.iter().find(|&(_, &count)| {
            below = below.saturating_add(count);
            below >= rank
        });
        slot.map(|(slot, _)| slot.bounds().1)
    }

    /// The slot of the longest.
    pub(super) fn last(&self) -> Option<DurationSlot> {
        self.0.last_key_value().map(|(&slot, _)| slot)
    }
}

/// Sums of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many.
    pub requests: u64,
    /// Those that an exception ended.
    pub failures: u64,
    /// Those that were handed over (`startAsync`): what went on on other threads or after the call is in no sum.
    pub handovers: u64,
    /// How long they took in all.
    pub took: Nanos,
    /// Of how many CPU time and bytes are known.
    pub measured: u64,
    /// CPU time of these.
    pub cpu: Nanos,
    /// Bytes that these allocated.
    pub bytes: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.failures, other.failures),
            (&mut self.handovers, other.handovers),
            (&mut self.took.0, other.took.0),
            (&mut self.measured, other.measured),
            (&mut self.cpu.0, other.cpu.0),
            (&mut self.bytes, other.bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Requests that ended in a part of the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// From when, after the beginning of the trace ...
    pub from: Nanos,
    /// ... until when.
    pub until: Nanos,
    /// How many, and their sums.
    pub sums: Sums,
    /// How long they took.
    pub durations: Durations,
}

/// All requests of an entry point.
#[derive(Clone, Debug)]
pub(super) struct Latency {
    pub(super) whole: Moment,
    pub(super) moments: Vec<Moment>,
    /// So many elements of the trace are in each moment, and so many in the last.
    stride: u64,
    in_last: u64,
}

impl Latency {
    /// Of nothing that ended before `from`.
    pub(super) fn since(from: Nanos) -> Latency {
        let whole = Moment { from, until: from, ..Moment::default() };
        Latency { whole, moments: Vec::new(), stride: 1, in_last: 0 }
    }

    /// What ended until a time since the last one.
    pub(super) fn add(&mut self, count: &RequestCount<'_>, until: Nanos) {
        let sums = Sums {
            requests: count.requests,
            failures: count.failures.unwrap_or(0),
            handovers: count.handovers.unwrap_or(0),
            took: count.took,
            measured: count.measured.unwrap_or(0),
            cpu: count.cpu.unwrap_or_default(),
            bytes: count.bytes.unwrap_or(0),
        };
        let mut durations = Durations::default();
        durations.add(durations::read(&count.durations));
        let from = self.whole.until;
        let until = until.max(from);
        let add = |moment: &mut Moment| {
            moment.until = until;
            moment.sums.add(&sums);
            moment.durations.merge(&durations);
        };
        add(&mut self.whole);
        if self.in_last == self.stride || self.moments.is_empty() {
            self.moments.push(Moment { from, ..Moment::default() });
            self.in_last = 0;
        }
        self.in_last += 1;
        self.moments.last_mut().into_iter().for_each(add);
        if self.moments.len() > MOST_MOMENTS {
            self.join();
        }
    }

    /// Makes one moment of two.
    fn join(&mut self) {
        let moments = std::mem::take(&mut self.moments);
        for (at, moment) in moments.into_iter().enumerate() {
            match self.moments.last_mut().filter(|_| at % 2 == 1) {
                Some(first) => {
                    first.until = moment.until;
                    first.sums.add(&moment.sums);
                    first.durations.merge(&moment.durations);
                }
                None => self.moments.push(moment),
            }
        }
        // Their number was odd, so the last one, which has just begun, stays alone.
        self.stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trace::time::Time;

    use super::*;

    fn count(requests: u64, durations: &str) -> RequestCount<'_> {
        RequestCount {
            entry: 1,
            time: Time(0),
            requests,
            failures: Some(1),
            handovers: Some(2),
            took: Nanos(10),
            measured: None,
            cpu: None,
            bytes: None,
            durations: durations.into(),
        }
    }

    #[test]
    fn time_is_kept_in_parts_of_which_none_is_lost() {
        let mut latency = Latency::since(Nanos(5));
        for second in 1..=5000 {
            latency.add(&count(2, "10:1 20:1"), Nanos(5 + second));
        }
        assert!((MOST_MOMENTS / 2..=MOST_MOMENTS).contains(&latency.moments.len()));
        let mut at = Nanos(5);
        for moment in &latency.moments {
            assert_eq!(moment.from, at);
            assert_eq!(moment.sums.requests, 2 * (moment.until.0 - moment.from.0));
            at = moment.until;
        }
        assert_eq!((at, latency.whole.until), (Nanos(5005), Nanos(5005)));
        let Sums { requests, failures, handovers, .. } = latency.whole.sums;
        assert_eq!((requests, failures, handovers), (10_000, 5000, 10_000));
    }

    proptest! {
        #[test]
        fn percentiles_are_a_sixteenth_too_long_at_most(mut durations in proptest::collection::vec(0_u64..1 << 40, 1..300), share in 0.01_f64..1.0) {
            let mut slots = Durations::default();
            slots.add(durations.iter().map(|&nanos| (DurationSlot::of(Nanos(nanos)), 1)));
            durations.sort_unstable();
            let rank = ((share * durations.len() as f64).ceil() as usize).max(1);
            let exact = durations[rank - 1];
            let found = slots.percentile(share).expect("there are some").0;
            prop_assert!(found >= exact && found - exact <= exact / 16, "{} {}", found, exact);
        }
    }
}
