//! How often an object is sampled: as often as was asked for, unless that costs too much.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// CPU time that samples may take between two ticks.
const BUDGET_NANOS: u64 = 10_000_000;

/// The interval between two samples.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes that were asked for.
    wanted: u32,
    /// Bytes at present: `wanted`, or that doubled a few times.
    now: AtomicU32,
    longest: AtomicU32,
    /// CPU time that samples have taken since the last tick or change.
    spent_nanos: AtomicU64,
}

impl Pace {
    pub(super) fn new(wanted: u32) -> Pace {
        Pace { wanted, now: AtomicU32::new(wanted), longest: AtomicU32::new(wanted), spent_nanos: AtomicU64::new(0) }
    }

    /// Bytes between two samples, at present.
    pub(super) fn interval(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// The most bytes there ever were.
    pub(super) fn longest(&self) -> u32 {
        self.longest.load(Ordering::Relaxed)
    }

    /// Counts the time that a sample took; returns the interval to be set if it changes.
    pub(super) fn spend(&self, nanos: u64) -> Option<u32> {
        let before = self.spent_nanos.fetch_add(nanos, Ordering::Relaxed);
        // One thread sees the budget exceeded first.
        let exceeds = before < BUDGET_NANOS && before + nanos >= BUDGET_NANOS;
        if !exceeds {
            return None;
        }
        let longer = self.interval().checked_mul(2).filter(|&bytes| bytes <= i32::MAX as u32)?;
        self.spent_nanos.store(0, Ordering::Relaxed);
        self.longest.fetch_max(longer, Ordering::Relaxed);
        self.now.store(longer, Ordering::Relaxed);
        Some(longer)
    }

    /// A tick, each second and after each collection; returns the interval to be set if it changes.
    pub(super) fn tick(&self) -> Option<u32> {
        let spent = self.spent_nanos.swap(0, Ordering::Relaxed);
        let now = self.interval();
        if now == self.wanted || spent > BUDGET_NANOS / 4 {
            return None;
        }
        let shorter = (now / 2).max(self.wanted);
        self.now.store(shorter, Ordering::Relaxed);
        Some(shorter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rare_where_they_cost_too_much_and_come_back() {
        let pace = Pace::new(1000);
        assert_eq!((pace.spend(BUDGET_NANOS - 1), pace.interval()), (None, 1000));
        assert_eq!((pace.spend(1), pace.interval()), (Some(2000), 2000));
        assert_eq!(pace.spend(BUDGET_NANOS + 5), Some(4000));
        assert_eq!(pace.spend(BUDGET_NANOS / 2), None);
        assert_eq!(pace.tick(), None);
        assert_eq!(pace.spend(BUDGET_NANOS / 8), None);
        assert_eq!((pace.tick(), pace.tick(), pace.tick()), (Some(2000), Some(1000), None));
        assert_eq!((pace.interval(), pace.longest()), (1000, 4000));
    }

    #[test]
    fn the_interval_stays_within_what_the_vm_takes() {
        let pace = Pace::new(1 << 30);
        assert_eq!((pace.spend(BUDGET_NANOS), pace.interval()), (None, 1 << 30));
    }
}
