//! What is added up of the requests of one entry point, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

use agent_base::clock::Ticks;
use trace::durations::DurationSlot;
use trace::time::Nanos;

/// So many requests of each entry point are recorded one by one, whatever they take.
pub(super) const FIRST: u64 = 1000;

/// The logarithm of one request is counted in such parts: a sum has room for 4 million million requests.
const LOG_UNIT: f64 = 65_536.0;

/// A request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// In the order in which they began, from 1 on.
    pub(super) number: u64,
    pub(super) begun: Ticks,
    pub(super) took: Nanos,
    /// CPU time of its thread.
    pub(super) cpu: Nanos,
    /// How long its thread was ready and had no processor, if that was read.
    pub(super) ready: Option<Nanos>,
    /// What its thread allocated, if the VM says so.
    pub(super) bytes: Option<u64>,
    pub(super) failed: bool,
    /// It was handed over, and may go on on other threads.
    pub(super) handed_over: bool,
}

/// Sums since they were taken last, and what is needed to choose the requests that are recorded one by one.
pub(super) struct Statistics {
    begun: AtomicU64,
    ended: AtomicU64,
    /// The sum of the logarithms of what all took, as `LOG_UNIT` says.
    log_sum: AtomicU64,
    /// When the first began.
    first: AtomicU64,
    sums: Sums<AtomicU64>,
    slots: Box<[AtomicU64]>,
    /// The last second in which one ended, and the most microseconds that one took in it.
    slowest: AtomicU64,
}

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums<T> {
    pub(super) requests: T,
    pub(super) failures: T,
    pub(super) handovers: T,
    pub(super) took: T,
    /// Of how many `bytes` is the sum.
    pub(super) measured: T,
    pub(super) cpu: T,
    pub(super) bytes: T,
}

/// What was added up, and how many requests took how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) sums: Sums<u64>,
    pub(super) durations: Vec<(DurationSlot, u64)>,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            log_sum: AtomicU64::new(0),
            first: AtomicU64::new(0),
            sums: Sums::default(),
            slots: (0..DurationSlot::COUNT).map(|_| AtomicU64::new(0)).collect(),
            slowest: AtomicU64::new(0),
        }
    }
}

impl Statistics {
    /// A request begins; returns its number.
    pub(super) fn begin(&self, now: Ticks) -> u64 {
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        if number == 1 {
            self.first.store(now.0, Ordering::Relaxed);
        }
        number
    }

    /// How many have begun.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// How many have begun and not ended.
    pub(super) fn open(&self) -> u64 {
        self.begun().saturating_sub(self.ended.load(Ordering::Relaxed))
    }

    /// How many have ended, and the sum of the logarithms to base 2 of how many nanoseconds they took.
    pub(super) fn ended(&self) -> (u64, f64) {
        (self.ended.load(Ordering::Relaxed), self.log_sum.load(Ordering::Relaxed) as f64 / LOG_UNIT)
    }

    /// When the first began; `None` before that.
    pub(super) fn first(&self) -> Option<Ticks> {
        Some(Ticks(self.first.load(Ordering::Relaxed))).filter(|first| first.0 > 0)
    }

    /// Adds a request that has ended; true if it is to be recorded.
    pub(super) fn add(&self, ended: &Ended) -> bool {
        let add = |sum: &AtomicU64, value: u64| sum.fetch_add(value, Ordering::Relaxed);
        let Sums { requests, failures, handovers, took, measured, cpu, bytes } = &self.sums;
        add(&self.ended, 1);
        add(&self.log_sum, ((ended.took.0.max(1) as f64).log2() * LOG_UNIT) as u64);
        add(requests, 1);
        add(took, ended.took.0);
        add(cpu, ended.cpu.0);
        add(&self.slots[DurationSlot::of(ended.took).number()], 1);
        for (sum, is_one) in [(failures, ended.failed), (handovers, ended.handed_over)] {
            if is_one {
                add(sum, 1);
            }
        }
        if let Some(allocated) = ended.bytes {
            add(measured, 1);
            add(bytes, allocated);
        }
        self.is_slowest(ended) || ended.number <= FIRST
    }

    /// Whether it took longer than all before it in the second in which it ended.
    fn is_slowest(&self, ended: &Ended) -> bool {
        let second = ended.begun.0.saturating_add(ended.took.0) / 1_000_000_000;
        let micros = (ended.took.0 / 1000).min(u32::MAX.into());
        let this = second << 32 | micros;
        self.slowest.fetch_max(this, Ordering::Relaxed) < this
    }

    /// What was added up since this was called last; `None` if there was no request.
    pub(super) fn take(&self) -> Option<Taken> {
        let take = |sum: &AtomicU64| sum.swap(0, Ordering::Relaxed);
        let Sums { requests, failures, handovers, took, measured, cpu, bytes } = &self.sums;
        if requests.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let sums = Sums {
            requests: take(requests),
            failures: take(failures),
            handovers: take(handovers),
            took: take(took),
            measured: take(measured),
            cpu: take(cpu),
            bytes: take(bytes),
        };
        let slots = self.slots.iter().enumerate();
        let counts = slots.filter_map(|(slot, count)| Some((DurationSlot::new(slot)?, take(count))));
        Some(Taken { sums, durations: counts.filter(|&(_, count)| count > 0).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn request(number: u64, begun: u64, took: u64) -> Ended {
        let (begun, took) = (Ticks(begun), Nanos(took));
        Ended {
            number,
            begun,
            took,
            cpu: Nanos(took.0 / 2),
            ready: None,
            bytes: Some(100),
            failed: number == 2,
            handed_over: number < 3,
        }
    }

    #[test]
    fn the_first_and_the_slowest_of_each_second_are_recorded() {
        let statistics = Statistics::default();
        assert!(statistics.add(&request(FIRST, 1, 1)));
        let late = FIRST + 1;
        assert!(statistics.add(&request(late, SECOND, 5_000)), "the first of its second");
        assert!(!statistics.add(&request(late, SECOND + 10_000, 4_000)));
        assert!(!statistics.add(&request(late, SECOND + 20_000, 5_000)));
        assert!(statistics.add(&request(late, SECOND + 30_000, 6_000)));
        assert!(statistics.add(&request(late, 2 * SECOND, 1_000)), "another second");
        assert!(!statistics.add(&request(late, SECOND, 900_000)), "one that is late does not bring the second back");
    }

    #[test]
    fn what_is_taken_is_gone() {
        let statistics = Statistics::default();
        assert_eq!(statistics.first(), None);
        assert_eq!([10, 20].map(|now| statistics.begin(Ticks(now))), [1, 2]);
        assert_eq!((statistics.first(), statistics.open()), (Some(Ticks(10)), 2));
        statistics.add(&request(1, 10, 40));
        statistics.add(&request(2, 20, 40));
        assert_eq!(statistics.open(), 0);
        let sums = Sums { requests: 2, failures: 1, handovers: 2, took: 80, measured: 2, cpu: 40, bytes: 200 };
        assert_eq!(statistics.take(), Some(Taken { sums, durations: vec![(DurationSlot::of(Nanos(40)), 2)] }));
        assert_eq!(statistics.take(), None);
    }
}
