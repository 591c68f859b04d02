//! When a snapshot is written while the program runs.

use std::time::{Duration, Instant};

use agent_base::clock::thread_cpu_nanos;

/// Parts of the first `every` after which the first one is written: a JVM that is killed early leaves numbers, too.
pub const FIRST_PART: u32 = 4;

/// When what was counted so far is written: at first after ever longer parts of `every`, then each `every`, later after a tenth of the
/// time run so far, so that the trace of a long run stays small; not before a hundred times what the last one took, as with many
/// threads.
#[derive(Debug)]
pub struct Schedule {
    every: Duration,
    begun: Instant,
    last: Instant,
    /// CPU time that the last one took.
    took: Duration,
}

impl Schedule {
    /// None at all if `every` is 0.
    pub fn begin(every: Duration, now: Instant) -> Option<Schedule> {
        (every > Duration::ZERO).then_some(Schedule { every, begun: now, last: now, took: Duration::ZERO })
    }

    fn next(&self) -> Instant {
        let age = self.last - self.begun;
        let usual = age.clamp(self.every / FIRST_PART, self.every);
        // The first takes longest, since all its names are new: the next is not to be late for that.
        let longest_work = if age < self.every { Duration::ZERO } else { self.took * 100 };
        self.last + usual.max(age / 10).max(longest_work)
    }

    /// Whether the next one is due, which begins now.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now >= self.next();
        if is_due {
            self.last = now;
        }
        is_due
    }

    /// Makes it, which costs the current thread CPU time.
    pub fn make(&mut self, make: impl FnOnce()) {
        let begin = thread_cpu_nanos();
        make();
        self.took = Duration::from_nanos(thread_cpu_nanos().saturating_sub(begin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_reported_less_often() {
        let (minute, begin) = (Duration::from_secs(60), Instant::now());
        assert!(Schedule::begin(Duration::ZERO, begin).is_none());
        let mut schedule = Schedule::begin(minute, begin).expect("a schedule");
        for part in [4, 2, 1] {
            assert!(!schedule.is_due(begin + minute / part - TICK));
            assert!(schedule.is_due(begin + minute / part) && !schedule.is_due(begin + minute / part));
        }
        // One that takes a second is followed by the next after a hundred.
        schedule.took = Duration::from_secs(1);
        assert!(!schedule.is_due(begin + minute * 2) && schedule.is_due(begin + minute + schedule.took * 100));
        schedule = Schedule { last: begin + minute, took: Duration::ZERO, ..schedule };
        let week = 7 * 24 * 60;
        let written = (2..week).filter(|&at| schedule.is_due(begin + minute * at)).count();
        assert!((60..100).contains(&written), "{written} in a week");
        // No more than a tenth of the run is lost at any time.
        assert!(schedule.next() <= begin + minute * week * 11 / 10);
    }

    const TICK: Duration = Duration::from_nanos(1);
}
