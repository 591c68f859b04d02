//! The threads of the process, and their timers.
//!
//! Threads that run Java come and go by their events; all others are found in `/proc/self/task`. A thread that is there twice in a
//! row and runs no Java is taken for one of the others: one that is about to become a Java thread, or was one until a moment ago, has
//! too little time for that.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashSet;

use super::handler::Handled;
use super::non_java_threads::NonJavaThreads;
use super::signal::{self, Purpose, SignalValue};
use super::tasks::{self, NewTask, TaskRef, VmThread};
use super::timers::{CpuClock, Timer, pending_limit, set_process_timer};
use super::who::Who;
use agent_base::clock::Ticks;
use agent_base::message::message;
use agent_base::native_thread;
use agent_base::random::Random;
use agent_base::signals::own::OwnSignal;

/// Threads that are looked at each time, whether they run or not.
const LOOKS: usize = 16;

/// What a thread leaves behind that is not sampled any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) who: Who,
    /// Nanoseconds of CPU time while it was sampled.
    pub(crate) cpu: u64,
    /// Intervals of which there is no signal: the system looks at timers only now and then, and the thread ended before, or it blocked
    /// the signal.
    pub(crate) undelivered: u64,
    /// Intervals for whose samples there was no memory.
    pub(crate) unwritten: u64,
    pub(crate) time: Ticks,
    /// Whether the thread has ended.
    pub(crate) has_ended: bool,
}

/// How CPU time is measured out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timing {
    /// Not at all.
    Off,
    /// A timer for each thread.
    Threads,
    /// One for the process.
    Process,
}

struct Entry {
    task: TaskRef,
    who: Who,
    /// With the CPU time after which it fires first.
    timer: Option<(Timer, u64)>,
    /// Its CPU time when it was entered, and when it was looked at last.
    begun: u64,
    clock: u64,
    /// The number of the last scan that found it.
    scan: u64,
}

/// All of them.
pub(super) struct Registry {
    handled: &'static Handled,
    signal: OwnSignal,
    /// Nanoseconds of CPU time between two samples; 0 if that is not sampled.
    interval: u64,
    timing: Timing,
    entries: BTreeMap<libc::pid_t, Entry>,
    free: Vec<u16>,
    /// Places that were ever taken.
    used: u16,
    scans: u64,
    /// Threads that the last scan found and nobody knows.
    strange: FxHashSet<libc::pid_t>,
    /// The thread that was looked at last.
    looked: libc::pid_t,
    pub(super) others: NonJavaThreads,
    left: Vec<Left>,
    /// Intervals of threads for which there was no room in `left`.
    pub(super) left_out: u64,
    /// CPU time of the threads that are not in the registry any more.
    pub(super) seen: u64,
    pub(super) agent: u64,
    random: Random,
    is_closed: bool,
}

impl Registry {
    /// No thread yet.
    pub(super) fn new(
        handled: &'static Handled,
        signal: OwnSignal,
        interval: Option<u64>,
        others: NonJavaThreads,
    ) -> Registry {
        Registry {
            handled,
            signal,
            interval: interval.unwrap_or(0),
            timing: if interval.is_some() { Timing::Threads } else { Timing::Off },
            entries: BTreeMap::new(),
            free: Vec::new(),
            used: 0,
            scans: 0,
            strange: FxHashSet::default(),
            looked: 0,
            others,
            left: Vec::new(),
            left_out: 0,
            seen: 0,
            agent: 0,
            random: Random::anywhere(),
            is_closed: false,
        }
    }

    /// Where a thread is in the table of the signal handler.
    pub(super) fn task(&self, tid: libc::pid_t) -> Option<TaskRef> {
        self.entries.get(&tid).map(|entry| entry.task)
    }

    /// A thread is sampled from now on. What it was known as before has ended.
    pub(super) fn add(&mut self, tid: libc::pid_t, who: Who, vm: Option<VmThread>) {
        self.remove(tid);
        let now = Ticks::now();
        let Some(begun) = CpuClock::of(tid).nanos().filter(|_| !self.is_closed) else { return };
        let index = self.free.pop().unwrap_or(self.used);
        // Without room its time counts as not seen.
        let Some(task) = self.handled.tasks.take(index, NewTask { tid, who, vm, now: now.0 }) else { return };
        self.used = self.used.max(index + 1);
        let mut entry = Entry { task, who, timer: None, begun, clock: begun, scan: self.scans };
        if self.timing == Timing::Threads && who != Who::Agent {
            match self.timer(tid, task) {
                Ok(timer) => entry.timer = Some(timer),
                // It has ended meanwhile.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ESRCH)) => {}
                Err(error) => self.fall_back(&error),
            }
        }
        self.entries.insert(tid, entry);
    }

    fn timer(&mut self, tid: libc::pid_t, task: TaskRef) -> io::Result<(Timer, u64)> {
        // At random, so that what runs for less than an interval has its share.
        let first = 1 + self.random.below(self.interval);
        let timer = Timer::start(tid, self.signal, SignalValue::new(task, Purpose::Cpu), first, self.interval)?;
        Ok((timer, first))
    }

    /// The system gives no timer for a thread: one for all of them takes their place.
    fn fall_back(&mut self, error: &io::Error) {
        self.entries.values_mut().for_each(|entry| entry.timer = None);
        let is_limit = error.raw_os_error() == Some(libc::EAGAIN);
        let limit = pending_limit()
            .filter(|_| is_limit)
            .map(|limit| format!(" (each needs a pending signal, and the limit is {limit}: see ulimit -i)"));
        let why = format!("{error}{}", limit.unwrap_or_default());
        let starts = self.signal.number() == libc::SIGPROF && set_process_timer(self.interval);
        self.handled.by_process.store(starts, Ordering::Relaxed);
        self.timing = if starts { Timing::Process } else { Timing::Off };
        if starts {
            message(&format!(
                "cannot create a timer per thread: {why}; one process timer is used instead, so the split of CPU time \
                 among threads is estimated"
            ));
        } else {
            message(&format!("CPU sampling stopped: cannot create a timer per thread: {why}"));
        }
    }

    /// Whether the timer of the process is used.
    pub(super) fn is_by_process(&self) -> bool {
        self.timing == Timing::Process
    }

    /// The current thread, which runs Java, is about to end.
    pub(super) fn remove(&mut self, tid: libc::pid_t) {
        if let Some(entry) = self.entries.remove(&tid) {
            self.leave(entry, true, || CpuClock::of(tid).nanos());
        }
    }

    /// `clock` reads the thread's CPU time, if it is still there.
    fn leave(&mut self, mut entry: Entry, has_ended: bool, clock: impl FnOnce() -> Option<u64>) {
        // The timer ends before its signals are counted, and before the clock is read: a thread that loses its processor in between
        // may be charged for much, with signals for time that the clock did not have yet.
        let first = entry.timer.take().map(|(_, first)| first);
        let clock = clock();
        let Some(task) = self.handled.tasks.get(entry.task) else { return };
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (intervals, unwritten) = (load(&task.intervals), load(&task.unwritten));
        self.handled.tasks.release(entry.task);
        self.free.push(entry.task.index);
        let cpu = clock.unwrap_or(entry.clock).max(entry.clock).saturating_sub(entry.begun);
        // Of a thread that was not there any more when it was looked at, its signals may know more.
        let cpu = if clock.is_some() { cpu } else { cpu.max(intervals.saturating_sub(1) * self.interval) };
        if entry.who == Who::Agent {
            self.agent += cpu;
            return;
        }
        self.seen += cpu;
        let due = first.map_or(0, |first| cpu.checked_sub(first).map_or(0, |rest| 1 + rest / self.interval));
        let undelivered = due.saturating_sub(intervals);
        if self.left.len() < tasks::MOST {
            self.left.push(Left { who: entry.who, cpu, undelivered, unwritten, time: Ticks::now(), has_ended });
        } else {
            // The writer has not taken any for long.
            self.left_out += undelivered + unwritten;
        }
    }

    /// Looks which threads there are. From the second time on a thread counts as one of the others only if it was there the last time.
    pub(super) fn scan(&mut self, tids: &[libc::pid_t]) {
        self.scans += 1;
        let mut strange = FxHashSet::default();
        for &tid in tids {
            let is_new = match self.entries.get_mut(&tid) {
                None => true,
                Some(entry) => {
                    entry.scan = self.scans;
                    let clock = match entry.who {
                        Who::Java(_) => None,
                        Who::Other(_) | Who::Agent => CpuClock::of(tid).nanos(),
                    };
                    // Another thread has its number.
                    let is_another = clock.is_some_and(|clock| clock < entry.clock);
                    entry.clock = clock.unwrap_or(entry.clock).max(entry.clock);
                    is_another
                }
            };
            if !is_new {
                continue;
            }
            if native_thread::is_own_task(tid) {
                self.add(tid, Who::Agent, None);
            } else if self.scans == 1 || self.strange.contains(&tid) {
                let who = Who::Other(self.others.add(tid));
                self.add(tid, who, None);
            } else {
                strange.insert(tid);
            }
        }
        self.strange = strange;
        let gone: Vec<_> = self.entries.iter().filter(|(_, e)| e.scan < self.scans).map(|(&tid, _)| tid).collect();
        for tid in gone {
            if let Some(entry) = self.entries.remove(&tid) {
                self.leave(entry, true, || None);
            }
        }
    }

    /// Has the next threads that run Java looked at, in turn.
    pub(super) fn look(&mut self) {
        let runs_java = |(&tid, entry): (&libc::pid_t, &Entry)| match entry.who {
            Who::Java(_) => Some((tid, entry.task)),
            Who::Other(_) | Who::Agent => None,
        };
        let after = self.entries.range((Excluded(self.looked), Unbounded)).filter_map(runs_java);
        let before = self.entries.range(..=self.looked).filter_map(runs_java);
        let turn: Vec<_> = after.chain(before).take(LOOKS).collect();
        for (tid, task) in turn {
            signal::send(self.signal, tid, SignalValue::new(task, Purpose::Wall));
            self.looked = tid;
        }
    }

    /// Takes the intervals for whose samples there was no memory, of threads that are sampled still.
    pub(super) fn take_unwritten(&self) -> Vec<(Who, u64)> {
        let unwritten = |entry: &Entry| {
            let task = self.handled.tasks.get(entry.task)?;
            let intervals = task.unwritten.swap(0, Ordering::Relaxed);
            (intervals > 0).then_some((entry.who, intervals))
        };
        self.entries.values().filter_map(unwritten).collect()
    }

    /// Takes what threads have left.
    pub(super) fn take_left(&mut self) -> Vec<Left> {
        std::mem::take(&mut self.left)
    }

    /// Ends all timers; no thread is sampled any more.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        if self.timing == Timing::Process {
            set_process_timer(0);
        }
        for (tid, entry) in std::mem::take(&mut self.entries) {
            self.leave(entry, false, || CpuClock::of(tid).nanos());
        }
    }
}
