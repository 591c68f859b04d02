//! Times of events: read from the monotonic clock, shown as wall-clock time.
//!
//! The two clocks are related once, at start, so that times in a trace never jump when the system's clock is set.

use std::time::{SystemTime, UNIX_EPOCH};

use trace::time::Time;

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Now; 23 ns.
    pub fn now() -> Ticks {
        // It exists on every Linux.
        Ticks(nanos_of(libc::CLOCK_MONOTONIC).unwrap_or(0))
    }
}

/// What a clock shows, in nanoseconds; `None` if there is no such clock, as of a thread that has ended.
#[inline]
pub fn nanos_of(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime writes to `time`, which is ours.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time that the current thread has had.
pub fn thread_cpu_nanos() -> u64 {
    // It exists on every Linux.
    nanos_of(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// A time as clocks on the wall show it, in the local time zone.
pub fn local(time: Time) -> libc::tm {
    // SAFETY: all zero is a valid `tm`, and localtime_r reads the one and fills the other. The type of seconds has a name of its own on
    // each system.
    unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        libc::localtime_r(&((time.0 / 1_000_000_000) as _), &mut local);
        local
    }
}

/// The relation between the two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    offset: u64,
}

impl Clock {
    /// Relates the clocks as they stand now.
    pub fn start() -> Clock {
        let ticks = Ticks::now();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { offset: (wall.as_nanos() as u64).wrapping_sub(ticks.0) }
    }

    /// The wall-clock time of these ticks.
    pub fn time(self, ticks: Ticks) -> Time {
        Time(ticks.0.wrapping_add(self.offset))
    }
}
