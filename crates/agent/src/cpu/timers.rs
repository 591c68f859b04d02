//! Timers that run with a thread's CPU time, and the clocks that they run with.

use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;

use super::signal::SignalValue;
use agent_base::clock;
use agent_base::signals::own::OwnSignal;

/// The clock of a thread's CPU time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuClock(libc::clockid_t);

impl CpuClock {
    /// Of the whole process.
    pub(crate) const PROCESS: CpuClock = CpuClock(libc::CLOCK_PROCESS_CPUTIME_ID);

    /// Of a thread of this process, as Linux numbers such clocks (`MAKE_THREAD_CPUCLOCK`).
    pub(crate) fn of(tid: libc::pid_t) -> CpuClock {
        const PER_THREAD_SCHEDULED: libc::clockid_t = 4 | 2;
        CpuClock((!tid << 3) | PER_THREAD_SCHEDULED)
    }

    /// Nanoseconds; `None` if the thread has ended.
    pub(crate) fn nanos(self) -> Option<u64> {
        clock::nanos_of(self.0)
    }
}

/// A timer of one thread; it ends when it is dropped.
pub(super) struct Timer(libc::timer_t);

// SAFETY: any thread of the process may end a timer.
unsafe impl Send for Timer {}

impl Timer {
    /// A timer that sends `signal` with `value` to the thread after `first` nanoseconds of its CPU time, and from then on each
    /// `interval`.
    ///
    /// # Errors
    /// The system has no more timers, or forbids them, or the thread has ended.
    pub(super) fn start(
        tid: libc::pid_t,
        signal: OwnSignal,
        value: SignalValue,
        first: u64,
        interval: u64,
    ) -> io::Result<Timer> {
        // SAFETY: all-zero is a valid sigevent and timer.
        let (mut event, mut timer): (libc::sigevent, libc::timer_t) = unsafe { (zeroed(), null_mut()) };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = tid;
        event.sigev_signo = signal.number();
        event.sigev_value.sival_ptr = value.as_pointer();
        let setting = libc::itimerspec { it_interval: timespec(interval), it_value: timespec(first.max(1)) };
        // SAFETY: the calls read and write what they are given.
        unsafe {
            if libc::timer_create(CpuClock::of(tid).0, &mut event, &mut timer) != 0 {
                return Err(io::Error::last_os_error());
            }
            let timer = Timer(timer);
            match libc::timer_settime(timer.0, 0, &setting, null_mut()) {
                0 => Ok(timer),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made by `start`, and ended once.
        unsafe { libc::timer_delete(self.0) };
    }
}

fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

/// Starts or, with 0, ends the timer that runs with the CPU time of all threads together. Its signal, `SIGPROF`, goes to one of those
/// that run.
pub(super) fn set_process_timer(interval: u64) -> bool {
    let micros = (interval / 1000).max(u64::from(interval > 0));
    let time = libc::timeval { tv_sec: (micros / 1_000_000) as i64, tv_usec: (micros % 1_000_000) as i64 };
    let setting = libc::itimerval { it_interval: time, it_value: time };
    // SAFETY: the call reads `setting`.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &setting, null_mut()) == 0 }
}

/// Nanoseconds between two looks of the system at CPU timers: no timer fires more often.
pub(super) fn tick_nanos() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_getres writes to `time`.
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Signals that may wait at a time, which bounds timers: each of them has room for one.
pub(super) fn pending_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: getrlimit writes to `limit`.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_SIGPENDING, &mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
