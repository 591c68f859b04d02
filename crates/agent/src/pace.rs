//! How often something is sampled or looked at: as often as was asked for, unless that costs too much.
//!
//! Samples are paid from a credit of CPU time, which grows with the time of the run and is limited. Where it is used up the interval
//! becomes as much longer as their cost has exceeded what they may cost. An interval is in interval, or in whatever its owner counts.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_base::mutex::Mutex;

/// CPU time that samples may take in a second: a hundredth of a processor.
pub(crate) const NANOS_PER_SECOND: u32 = 10_000_000;
/// The interval becomes shorter at most once in it.
const PERIOD: Duration = Duration::from_secs(1);
/// The interval becomes so many times as long at once, at most.
const MOST_AT_ONCE: u32 = 4;

/// The interval between two samples.
#[derive(Debug)]
pub(crate) struct Pace {
    /// CPU time that samples may take in a second.
    per_second: i64,
    /// The longest interval that there may be.
    most: u32,
    /// What is asked for.
    wanted: AtomicU32,
    /// The present one: `wanted`, or that doubled a few times.
    now: AtomicU32,
    longest: AtomicU32,
    credit: AtomicI64,
    /// CPU time that samples have taken since the interval changed.
    spent: AtomicU64,
    /// Held while the interval changes, so that the VM gets all changes in their order.
    times: Mutex<Times>,
}

#[derive(Debug)]
struct Times {
    /// When the credit grew last.
    paid: Instant,
    /// When the interval changed last.
    changed: Instant,
}

impl Pace {
    /// Nothing is asked for yet. Samples may take so many nanoseconds of CPU time in a second.
    pub(crate) fn new(now: Instant, nanos_per_second: u32, most: u32) -> Pace {
        let per_second = i64::from(nanos_per_second);
        Pace {
            per_second,
            most,
            wanted: AtomicU32::new(most),
            now: AtomicU32::new(most),
            longest: AtomicU32::new(0),
            credit: AtomicI64::new(2 * per_second),
            spent: AtomicU64::new(0),
            times: Mutex::new(Times { paid: now, changed: now }),
        }
    }

    /// The most that is saved up, and what there is at first: at the start of a program each stack is a new one, which costs more.
    fn most_credit(&self) -> i64 {
        2 * self.per_second
    }

    /// When so much more has been spent than there was, it is looked at again what samples cost.
    fn step(&self) -> i64 {
        (self.per_second / 2).max(1)
    }

    /// The interval at present.
    pub(crate) fn interval(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// The longest there ever was; 0 before the first `want`.
    pub(crate) fn longest(&self) -> u32 {
        self.longest.load(Ordering::Relaxed)
    }

    /// An interval is asked for; `set` gets it if it is another than before. What it costs is judged anew.
    pub(crate) fn want(&self, interval: u32, time: Instant, set: impl FnOnce(u32)) {
        let mut times = self.times.lock();
        if self.wanted.swap(interval, Ordering::Relaxed) != interval {
            self.set_interval(&mut times, time, interval, set);
        }
    }

    fn wanted(&self) -> u32 {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Takes the CPU time of a sample, which was chosen with that interval, from the credit; `set` gets the interval if it changes. What
    /// samples cost that were chosen with another interval says nothing of the present one.
    pub(crate) fn spend(&self, chosen_with: u32, nanos: u64, time: impl FnOnce() -> Instant, set: impl FnOnce(u32)) {
        let before = self.credit.fetch_sub(nanos as i64, Ordering::Relaxed);
        if chosen_with != self.interval() {
            return;
        }
        self.spent.fetch_add(nanos, Ordering::Relaxed);
        let after = before.saturating_sub(nanos as i64);
        // One thread sees it first.
        if after < 0 && before.div_euclid(self.step()) > after.div_euclid(self.step()) {
            let mut times = self.times.lock();
            let time = time();
            let factor = self.times_too_dear(&times, time).ceil();
            if factor > 1.0 {
                self.change(&mut times, time, (factor as u32).min(MOST_AT_ONCE).next_power_of_two(), set);
            }
        }
    }

    /// What samples have cost since the interval changed, in terms of what they may cost.
    fn times_too_dear(&self, times: &Times, time: Instant) -> f64 {
        let nanos = time.saturating_duration_since(times.changed).as_nanos() as f64;
        let may_cost = nanos * self.per_second as f64 / PERIOD.as_nanos() as f64;
        self.spent.load(Ordering::Relaxed) as f64 / may_cost.max(1.0)
    }

    /// Lets the credit grow, and changes the interval if there is none, or more than enough. Called now and then.
    pub(crate) fn tick(&self, time: Instant, set: impl FnOnce(u32)) {
        let mut times = self.times.lock();
        let passed = time.saturating_duration_since(times.paid);
        if passed < PERIOD {
            return;
        }
        times.paid = time;
        let earned = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX).saturating_mul(self.per_second) / 1000;
        let before = self.credit.load(Ordering::Relaxed);
        let credit = before.saturating_add(earned).min(self.most_credit());
        self.credit.fetch_add(credit.saturating_sub(before), Ordering::Relaxed);
        let times_too_dear = self.times_too_dear(&times, time);
        if credit < 0 && times_too_dear > 1.0 {
            self.change(&mut times, time, 2, set);
        } else if credit >= 0 && times_too_dear < 0.5 && self.interval() > self.wanted() {
            // Twice as many do not cost too much.
            let shorter = (self.interval() / 2).max(self.wanted());
            self.set_interval(&mut times, time, shorter, set);
        }
    }

    /// Makes the interval so many times as long, if it may be.
    fn change(&self, times: &mut Times, time: Instant, factor: u32, set: impl FnOnce(u32)) {
        let longer = self.interval().saturating_mul(factor).min(self.most);
        if longer > self.interval() {
            self.set_interval(times, time, longer, set);
        }
    }

    fn set_interval(&self, times: &mut Times, time: Instant, interval: u32, set: impl FnOnce(u32)) {
        times.changed = time;
        self.spent.store(0, Ordering::Relaxed);
        self.longest.fetch_max(interval, Ordering::Relaxed);
        self.now.store(interval, Ordering::Relaxed);
        set(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;
    const MOST: u32 = i32::MAX as u32;

    fn wanting(bytes: u32, start: Instant) -> Pace {
        let pace = Pace::new(start, NANOS_PER_SECOND, MOST);
        pace.want(bytes, start, |_| ());
        pace
    }

    /// A pace, and when it began.
    fn pace() -> (Pace, Instant) {
        let start = Instant::now();
        (wanting(1000, start), start)
    }

    fn spend(pace: &Pace, millis: u64, time: Instant) -> Option<u32> {
        let mut changed = None;
        pace.spend(pace.interval(), millis * MILLI, || time, |bytes| changed = Some(bytes));
        changed
    }

    fn tick(pace: &Pace, time: Instant) -> Option<u32> {
        let mut changed = None;
        pace.tick(time, |bytes| changed = Some(bytes));
        changed
    }

    #[test]
    fn samples_become_as_rare_as_they_are_too_dear_and_come_back() {
        let (pace, start) = pace();
        let after = |seconds| start + PERIOD * seconds;
        assert_eq!((spend(&pace, 20, after(0)), pace.interval()), (None, 1000));
        // 21 ms in six tenths of a second are more than three times too much.
        assert_eq!(spend(&pace, 1, start + PERIOD * 6 / 10), Some(4000));
        assert_eq!(spend(&pace, 2, start + PERIOD * 6 / 10), None);
        assert_eq!(tick(&pace, after(1)), None);
        let ticks = [tick(&pace, after(2)), tick(&pace, after(3)), tick(&pace, after(4))];
        assert_eq!(ticks, [Some(2000), Some(1000), None]);
        assert_eq!((pace.interval(), pace.longest()), (1000, 4000));
    }

    #[test]
    fn what_is_still_too_dear_becomes_rarer_at_once() {
        let (pace, start) = pace();
        assert_eq!(spend(&pace, 100, start + PERIOD), Some(4000));
        assert_eq!(spend(&pace, 1, start + PERIOD * 11 / 10), None);
        assert_eq!(spend(&pace, 5, start + PERIOD * 11 / 10), Some(16_000));
        // It is in debt, but no longer too dear.
        assert_eq!(tick(&pace, start + PERIOD * 2), None);
    }

    #[test]
    fn the_cost_stays_below_a_hundredth_however_much_is_allocated() {
        for bytes_per_nano in [0.01, 0.1, 1.0] {
            let start = Instant::now();
            let pace = wanting(1 << 14, start);
            let mut spent = 0;
            for millis in 0..20_000_u32 {
                let time = start + Duration::from_millis(millis.into());
                // So many samples of 10 us in a millisecond.
                let samples = (1e6 * bytes_per_nano / f64::from(pace.interval())).ceil() as u64;
                spent += samples * 10_000;
                pace.spend(pace.interval(), samples * 10_000, || time, |_| ());
                pace.tick(time, |_| ());
            }
            assert!(spent < 20 * 10 * MILLI + 80 * MILLI, "{bytes_per_nano}: {spent}");
        }
    }

    #[test]
    fn another_interval_is_taken_at_once_and_judged_anew() {
        let (pace, start) = pace();
        let want = |bytes, time| {
            let mut changed = None;
            pace.want(bytes, time, |bytes| changed = Some(bytes));
            changed
        };
        assert_eq!(spend(&pace, 21, start + PERIOD), Some(4000));
        assert_eq!(want(1000, start + PERIOD), None);
        assert_eq!((want(500, start + PERIOD), pace.interval(), pace.longest()), (Some(500), 500, 4000));
        // It costs too much again, and goes back to what was asked for last.
        assert_eq!(spend(&pace, 30, start + PERIOD * 3 / 2), Some(2000));
        let ticks: Vec<_> = (2..9).map(|second| tick(&pace, start + PERIOD * second)).collect();
        assert_eq!(ticks.into_iter().flatten().collect::<Vec<_>>(), [1000, 500]);
    }

    /// A thousand threads may each have a sample coming that was chosen before.
    #[test]
    fn samples_of_an_earlier_interval_do_not_make_the_present_one_longer() {
        let (pace, start) = pace();
        assert_eq!(spend(&pace, 21, start + PERIOD), Some(4000));
        for _ in 0..100 {
            pace.spend(1000, 10 * MILLI, || start + PERIOD, |bytes| panic!("{bytes}"));
        }
        assert_eq!(tick(&pace, start + PERIOD), None);
        assert_eq!(pace.interval(), 4000);
        // They are paid for, and it becomes no shorter until then.
        assert_eq!(tick(&pace, start + PERIOD * 2), None);
        assert_eq!(spend(&pace, 50, start + PERIOD * 2), Some(16_000));
    }

    /// Collections tick too.
    #[test]
    fn a_period_lasts_its_time_however_often_it_ticks() {
        let (pace, start) = pace();
        assert_eq!(spend(&pace, 21, start + PERIOD * 3 / 4), Some(4000));
        for _ in 0..10 {
            assert_eq!(tick(&pace, start + PERIOD * 3 / 4), None);
        }
        assert_eq!(pace.interval(), 4000);
    }

    #[test]
    fn the_interval_stays_within_its_bound() {
        let start = Instant::now();
        let pace = wanting(1 << 30, start);
        assert_eq!((spend(&pace, 21, start), pace.interval()), (Some(MOST), MOST));
        assert_eq!(spend(&pace, 1, start), None);
        assert_eq!(tick(&pace, start), None);
    }
}
