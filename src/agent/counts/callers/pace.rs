//! How often an object is sampled: as often as was asked for, unless that costs too much.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::lock;

/// CPU time that samples may take in a [`PERIOD`].
const BUDGET_NANOS: u64 = 10_000_000;
/// The interval becomes shorter at most once in it.
const PERIOD: Duration = Duration::from_secs(1);

/// The interval between two samples.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes that were asked for.
    wanted: u32,
    /// Bytes at present: `wanted`, or that doubled a few times.
    now: AtomicU32,
    longest: AtomicU32,
    /// CPU time that samples have taken since the period began or the interval became longer.
    spent_nanos: AtomicU64,
    /// When the period began. Held while the interval changes, so that the VM gets all changes in their order.
    period: Mutex<Instant>,
}

impl Pace {
    pub(super) fn new(wanted: u32) -> Pace {
        Pace {
            wanted,
            now: AtomicU32::new(wanted),
            longest: AtomicU32::new(wanted),
            spent_nanos: AtomicU64::new(0),
            period: Mutex::new(Instant::now()),
        }
    }

    /// Bytes between two samples, at present.
    pub(super) fn interval(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// The most bytes there ever were.
    pub(super) fn longest(&self) -> u32 {
        self.longest.load(Ordering::Relaxed)
    }

    /// Counts the time that a sample took; `set` gets the interval if it changes.
    pub(super) fn spend(&self, nanos: u64, set: impl FnOnce(u32)) {
        let before = self.spent_nanos.fetch_add(nanos, Ordering::Relaxed);
        // One thread sees the budget exceeded first.
        if before >= BUDGET_NANOS || before + nanos < BUDGET_NANOS {
            return;
        }
        let _period = lock(&self.period);
        let Some(longer) = self.interval().checked_mul(2).filter(|&bytes| bytes <= i32::MAX as u32) else { return };
        self.spent_nanos.store(0, Ordering::Relaxed);
        self.longest.fetch_max(longer, Ordering::Relaxed);
        self.now.store(longer, Ordering::Relaxed);
        set(longer);
    }

    /// Begins a new period if the last one is over; `set` gets the interval if it changes. Called now and then.
    pub(super) fn tick(&self, time: Instant, set: impl FnOnce(u32)) {
        let mut period = lock(&self.period);
        if time.saturating_duration_since(*period) < PERIOD {
            return;
        }
        *period = time;
        let spent = self.spent_nanos.swap(0, Ordering::Relaxed);
        let now = self.interval();
        if now > self.wanted && spent <= BUDGET_NANOS / 4 {
            let shorter = (now / 2).max(self.wanted);
            self.now.store(shorter, Ordering::Relaxed);
            set(shorter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spend(pace: &Pace, nanos: u64) -> Option<u32> {
        let mut changed = None;
        pace.spend(nanos, |bytes| changed = Some(bytes));
        changed
    }

    fn tick(pace: &Pace, time: Instant) -> Option<u32> {
        let mut changed = None;
        pace.tick(time, |bytes| changed = Some(bytes));
        changed
    }

    #[test]
    fn samples_become_rare_where_they_cost_too_much_and_come_back() {
        let pace = Pace::new(1000);
        let start = Instant::now();
        let after = |periods| start + PERIOD * periods;
        assert_eq!((spend(&pace, BUDGET_NANOS - 1), pace.interval()), (None, 1000));
        assert_eq!((spend(&pace, 1), pace.interval()), (Some(2000), 2000));
        assert_eq!(spend(&pace, BUDGET_NANOS + 5), Some(4000));
        assert_eq!(spend(&pace, BUDGET_NANOS / 2), None);
        assert_eq!(tick(&pace, after(1)), None);
        assert_eq!(spend(&pace, BUDGET_NANOS / 8), None);
        let ticks = [tick(&pace, after(2)), tick(&pace, after(3)), tick(&pace, after(4))];
        assert_eq!(ticks, [Some(2000), Some(1000), None]);
        assert_eq!((pace.interval(), pace.longest()), (1000, 4000));
    }

    /// Collections tick too.
    #[test]
    fn a_period_lasts_its_time_however_often_it_ticks() {
        let pace = Pace::new(1000);
        let start = Instant::now();
        assert_eq!(spend(&pace, BUDGET_NANOS), Some(2000));
        for _ in 0..10 {
            assert_eq!(tick(&pace, start + PERIOD / 2), None);
            let spent = spend(&pace, BUDGET_NANOS / 10);
            assert!(spent.is_none_or(|bytes| bytes == 4000), "{spent:?}");
        }
        assert_eq!(pace.interval(), 4000);
    }

    #[test]
    fn the_interval_stays_within_what_the_vm_takes() {
        let pace = Pace::new(1 << 30);
        assert_eq!((spend(&pace, BUDGET_NANOS), pace.interval()), (None, 1 << 30));
    }
}
