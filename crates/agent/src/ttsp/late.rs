//! Threads that have not stopped while the VM waits for them, and the stops to which they belong.

use trace::time::Nanos;

use super::line::Stop;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use hotspot::walk::Frame;

/// A stop is slow, and a thread late, from this on.
pub(super) const SLOW: Nanos = Nanos(1_000_000);
/// So many are kept until the log says how long their stop took.
const MOST: usize = 4096;

/// A thread that had not stopped when it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LateThread {
    pub(crate) thread: ThreadIndex,
    /// When it was seen; the same for all threads of one look.
    pub(crate) time: Ticks,
    /// How long after the stop began.
    pub(crate) late: Nanos,
    /// Its Java frames, or why they were not found.
    pub(crate) frames: Result<Box<[Frame]>, &'static str>,
    /// What it executed, if it answered.
    pub(crate) pc: Option<usize>,
}

/// Those of which it is not known yet how late they were.
#[derive(Debug, Default)]
pub(super) struct LateThreads {
    seen: Vec<LateThread>,
    /// Those for which there was no room.
    left_out: u64,
}

impl LateThreads {
    pub(super) fn add(&mut self, late: LateThread) {
        if self.seen.len() < MOST {
            self.seen.push(late);
        } else {
            self.left_out += 1;
        }
    }

    /// How many were left out since the last call.
    pub(super) fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    /// Those that were late for that stop, with how late they were. Earlier ones belong to no stop: their thread had stopped by
    /// the time that it was seen.
    pub(super) fn take(&mut self, stop: &Stop) -> Vec<LateThread> {
        let stopped = Ticks(stop.begin.0 + stop.sync.0);
        let end = Ticks(stop.begin.0 + stop.total.0);
        let (of_stop, later): (Vec<_>, Vec<_>) = self.seen.drain(..).partition(|late| late.time <= end);
        self.seen = later;
        let is_late = |late: &LateThread| stop.begin <= late.time && late.time <= stopped && stop.sync >= SLOW;
        let with_time = |late: LateThread| LateThread { late: Nanos(late.time.0 - stop.begin.0), ..late };
        of_stop.into_iter().filter(is_late).map(with_time).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(time: u64) -> LateThread {
        LateThread { thread: ThreadIndex(1), time: Ticks(time), late: Nanos(0), frames: Err("notSent"), pc: None }
    }

    fn stop(begin: u64, sync: u64, total: u64) -> Stop {
        Stop { operation: "Cleanup".into(), begin: Ticks(begin), sync: Nanos(sync), total: Nanos(total) }
    }

    #[test]
    fn a_thread_belongs_to_the_stop_that_it_delayed() {
        let mut threads = LateThreads::default();
        for time in [5, 1_000_010, 2_000_000, 3_000_009, 3_500_000, 9_000_000] {
            threads.add(seen(time));
        }
        // From 10 on, all threads had stopped at 3,000,010.
        let late = threads.take(&stop(10, 3_000_000, 4_000_000));
        assert_eq!(late.iter().map(|late| late.late.0).collect::<Vec<_>>(), [1_000_000, 1_999_990, 2_999_999]);
        assert_eq!(threads.seen, [seen(9_000_000)]);
        // Nobody is late for a stop that was quick.
        assert_eq!(threads.take(&stop(8_999_999, SLOW.0 - 1, 2_000_000)), []);
        assert_eq!(threads.seen, []);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut threads = LateThreads::default();
        (0..MOST as u64 + 3).for_each(|time| threads.add(seen(time)));
        assert_eq!((threads.take_left_out(), threads.take_left_out()), (3, 0));
    }
}
