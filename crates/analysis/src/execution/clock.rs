//! The time of a thread, made of times that may run back.
//!
//! Old profilers read clocks of 4 ms, and each processor its own: an event may be some milliseconds earlier than the one before it. It then
//! counts as one at the same time, so that nothing lasts less than 0 and nothing counts twice. A clock that is set back by more goes on from
//! there; or nothing more would be counted until it is as late again.

use trace::time::{Nanos, Time};

use super::faults::Faults;

/// What is further back than this is a clock that was set back.
const MOST_JITTER: Nanos = Nanos(1_000_000_000);

/// The clock of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadClock {
    /// The latest event; `None` before the first.
    last: Option<Time>,
    /// How long the thread has been seen.
    now: Nanos,
}

impl ThreadClock {
    /// How long the thread has been seen.
    pub(super) fn now(&self) -> Nanos {
        self.now
    }

    /// Takes in the time of an event.
    pub(super) fn advance(&mut self, time: Time, faults: &mut Faults) {
        if time == Time(0) {
            faults.without_time += 1;
            return;
        }
        if let Some(last) = self.last.filter(|&last| time < last) {
            let back = last.since(time);
            faults.backwards += 1;
            faults.furthest_back = faults.furthest_back.max(back);
            if back > MOST_JITTER {
                faults.set_back += 1;
                self.last = Some(time);
            }
        }
        self.reach(time);
    }

    /// Takes in a time that is known to be no earlier than the last event, if it is.
    pub(super) fn reach(&mut self, time: Time) {
        let last = *self.last.get_or_insert(time);
        self.now = Nanos(self.now.0.saturating_add(time.since(last).0));
        self.last = Some(last.max(time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_steps_back_do_not_count_and_large_ones_set_the_clock() {
        let (mut clock, mut faults) = (ThreadClock::default(), Faults::default());
        let second = 1_000_000_000;
        for (time, now) in [
            (50 * second, 0),
            (50 * second + 10, 10),
            (50 * second + 4, 10),
            (50 * second + 12, 12),
            (0, 12),
            (20 * second, 12),
            (20 * second + 5, 17),
        ] {
            clock.advance(Time(time), &mut faults);
            assert_eq!(clock.now(), Nanos(now), "{time}");
        }
        let expected = Faults {
            backwards: 2,
            furthest_back: Nanos(30 * second + 12),
            set_back: 1,
            without_time: 1,
            ..Faults::default()
        };
        assert_eq!(faults, expected);
    }
}
