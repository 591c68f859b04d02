//! Bounds the time that is spent on what makes other threads stop.

use std::sync::atomic::{AtomicU64, Ordering};

use agent_base::clock::Ticks;

/// All threads together may spend one part in this many of the time.
const SHARE: u64 = 50;
/// What may be saved while nothing is spent: enough for a burst.
const MAX_SAVED_NANOS: u64 = 50_000_000;

/// Nanoseconds spent so far, and those that may be.
pub(crate) struct TimeBudget {
    start: Ticks,
    /// What each nanosecond of the asking thread costs.
    price: u64,
    /// What was spent, and what was not used in time.
    spent: AtomicU64,
    skipped: AtomicU64,
}

impl TimeBudget {
    /// A budget where each nanosecond that a thread waits for its answer costs all threads together `price`.
    pub(crate) fn new(start: Ticks, price: u64) -> TimeBudget {
        TimeBudget { start, price, spent: AtomicU64::new(0), skipped: AtomicU64::new(0) }
    }

    /// Runs `body` and counts its time, unless too much was spent lately; then it is counted as skipped.
    pub(crate) fn spend<T>(&self, now: Ticks, body: impl FnOnce() -> T) -> Option<T> {
        let earned = now.0.saturating_sub(self.start.0) / SHARE + MAX_SAVED_NANOS;
        let spent = self.spent.load(Ordering::Relaxed);
        if spent >= earned {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if earned - spent > MAX_SAVED_NANOS {
            // Another thread may have changed it meanwhile; the difference is small.
            let _ = self.spent.compare_exchange(spent, earned - MAX_SAVED_NANOS, Ordering::Relaxed, Ordering::Relaxed);
        }
        let result = body();
        self.spent.fetch_add(self.price * Ticks::now().0.saturating_sub(now.0), Ordering::Relaxed);
        Some(result)
    }

    /// How often `spend` did nothing.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_a_share() {
        let start = Ticks::now();
        let budget = TimeBudget::new(start, 1);
        let mut done = 0;
        let busy = || std::thread::sleep(std::time::Duration::from_millis(15));
        for _ in 0..100 {
            done += u32::from(budget.spend(Ticks::now(), busy).is_some());
        }
        // 15 ms each out of 50 ms, and hardly any more.
        assert!((1..=6).contains(&done), "{done}");
        assert_eq!(budget.skipped(), 100 - u64::from(done));
        let later = Ticks(start.0 + 1_000_000_000_000);
        assert!(budget.spend(later, || ()).is_some());
        let saved = (later.0 - start.0) / SHARE + MAX_SAVED_NANOS - budget.spent.load(Ordering::Relaxed);
        assert!(saved <= MAX_SAVED_NANOS, "{saved}");
    }
}
