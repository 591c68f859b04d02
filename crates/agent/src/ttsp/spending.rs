//! What watching costs, and how often the thread wakes therefore.
//!
//! It may take a hundredth of a processor: its own CPU time, that of the threads that it asks, and what each wake-up takes of whoever
//! ran before. Where that is used up, the time between two wake-ups becomes as much longer.

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trace::time::Nanos;

use super::late::SLOW;
use crate::pace::{NANOS_PER_SECOND, Pace};
use agent_base::clock::thread_cpu_nanos;

/// For tests: nanoseconds of CPU time in each second, instead of a hundredth of a processor.
const VARIABLE: &str = "MARTINI_TTSP_BUDGET";
/// A wake-up or a signal takes as much of others, beside what the clocks of threads show: an interrupt, two switches, caches. (On a
/// virtual machine a thread on the same processor did 5 to 16 us less of its work for each.)
const OF_OTHERS: Nanos = Nanos(20_000);
/// Intervals are microseconds here.
const MICRO: u64 = 1_000;
const USUAL: u32 = (SLOW.0 / MICRO) as u32;
/// The longest interval: a second.
const LONGEST: u32 = 1_000_000;

/// What was spent, and the interval that follows from it.
pub(super) struct Spending {
    pace: Pace,
    /// Nanoseconds that were spent.
    spent: AtomicU64,
    /// For how many nanoseconds the interval was longer than usual.
    widened: AtomicU64,
}

impl Spending {
    /// Nothing yet.
    pub(super) fn new() -> Spending {
        let budget = env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(NANOS_PER_SECOND);
        Spending::with(budget, Instant::now())
    }

    fn with(nanos_per_second: u32, now: Instant) -> Spending {
        let pace = Pace::new(now, nanos_per_second, LONGEST);
        pace.want(USUAL, now, |_| ());
        Spending { pace, spent: AtomicU64::new(0), widened: AtomicU64::new(0) }
    }

    /// The least time between two wake-ups.
    pub(super) fn interval(&self) -> Nanos {
        Nanos(u64::from(self.pace.interval()) * MICRO)
    }

    /// Whether it is longer than usual.
    pub(super) fn is_widened(&self) -> bool {
        self.pace.interval() > USUAL
    }

    /// The longest that there was.
    pub(super) fn longest(&self) -> Nanos {
        Nanos(u64::from(self.pace.longest()) * MICRO)
    }

    /// For how long it was longer than usual.
    pub(super) fn widened(&self) -> Nanos {
        Nanos(self.widened.load(Ordering::Relaxed))
    }

    /// What was spent, in all.
    pub(super) fn spent(&self) -> Nanos {
        Nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Pays for so many wake-ups and signals and that much CPU time of threads, after so much time.
    fn pay(&self, times: u64, cpu: Nanos, passed: Duration, now: Instant) {
        let nanos = cpu.0 + times * OF_OTHERS.0;
        self.spent.fetch_add(nanos, Ordering::Relaxed);
        if self.is_widened() {
            self.widened.fetch_add(passed.as_nanos() as u64, Ordering::Relaxed);
        }
        self.pace.spend(self.pace.interval(), nanos, || now, |_| ());
        self.pace.tick(now, |_| ());
    }
}

/// What one thread has paid so far.
pub(super) struct Purse {
    cpu: u64,
    time: Instant,
}

impl Purse {
    /// Of the current thread, from now on.
    pub(super) fn new() -> Purse {
        Purse { cpu: thread_cpu_nanos(), time: Instant::now() }
    }

    /// Pays for a wake-up of the current thread, and what it made others do.
    pub(super) fn pay(&mut self, spending: &Spending, asked: Asked) {
        let (before, now) = (std::mem::replace(self, Purse::new()), Instant::now());
        let cpu = Nanos(self.cpu.saturating_sub(before.cpu) + asked.cpu.0);
        spending.pay(1 + asked.signals, cpu, now.duration_since(before.time), now);
    }
}

/// What others were made to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Signals that were sent.
    pub(super) signals: u64,
    /// CPU time of their handlers.
    pub(super) cpu: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Wakes for so many seconds, as often as it may, but not more often than each `rest`; each time takes so much CPU time.
    fn wake(budget: u32, seconds: u32, rest: Duration, cpu: Nanos) -> (Spending, f64) {
        let start = Instant::now();
        let spending = Spending::with(budget, start);
        let (mut time, mut last_half) = (start, 0);
        while time < start + SECOND * seconds {
            let passed = rest.max(Duration::from_nanos(spending.interval().0));
            time += passed;
            spending.pay(1, cpu, passed, time);
            if time < start + SECOND * seconds / 2 {
                last_half = spending.spent().0;
            }
        }
        let spent = spending.spent().0 - last_half;
        (spending, spent as f64 / (f64::from(seconds) / 2.0))
    }

    #[test]
    fn what_is_cheap_is_done_as_often_as_it_is_wanted() {
        // Some stops in a second, each with two wake-ups.
        let (spending, per_second) = wake(NANOS_PER_SECOND, 60, Duration::from_millis(10), Nanos(20_000));
        assert_eq!((spending.longest(), spending.widened(), spending.is_widened()), (SLOW, Nanos(0), false));
        assert!(per_second < f64::from(NANOS_PER_SECOND), "{per_second}");
    }

    #[test]
    fn watching_takes_no_more_than_its_budget_however_often_threads_stop_and_whatever_a_look_costs() {
        for budget in [NANOS_PER_SECOND, NANOS_PER_SECOND / 10] {
            for cpu in [Nanos(15_000), Nanos(150_000), Nanos(1_500_000)] {
                let (spending, per_second) = wake(budget, 120, Duration::ZERO, cpu);
                assert!(spending.longest() > SLOW && spending.widened() > Nanos(0));
                // What is too dear for the longest interval is so often by no choice.
                let least = (cpu.0 + OF_OTHERS.0) as f64;
                assert!(per_second < 1.1 * f64::from(budget).max(least), "{budget} {cpu:?}: {per_second}");
            }
        }
    }

    #[test]
    fn it_comes_back_and_what_was_widened_stays_known() {
        let start = Instant::now();
        let spending = Spending::with(NANOS_PER_SECOND, start);
        let mut time = start;
        for _ in 0..1000 {
            time += Duration::from_millis(1);
            spending.pay(1, Nanos(100_000), Duration::from_millis(1), time);
        }
        let (longest, widened) = (spending.longest(), spending.widened());
        assert!(spending.is_widened() && longest > SLOW && widened > Nanos(0));
        for _ in 0..60 {
            time += SECOND;
            spending.pay(1, Nanos(10_000), SECOND, time);
        }
        assert_eq!((spending.is_widened(), spending.interval(), spending.longest()), (false, SLOW, longest));
        assert!(spending.widened() > widened);
    }

    #[test]
    fn signals_and_their_handlers_are_paid_for() {
        let spending = Spending::with(NANOS_PER_SECOND, Instant::now());
        spending.pay(1 + 3, Nanos(7), Duration::ZERO, Instant::now());
        assert_eq!(spending.spent(), Nanos(4 * OF_OTHERS.0 + 7));
    }
}
