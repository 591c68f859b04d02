//! The thread that watches: it looks each millisecond whether the VM is stopping all threads, finds those that are late, and reads
//! the VM's log.
//!
//! It is not attached to the VM, so nothing that it does makes the VM wait.

use std::sync::Arc;
use std::time::Duration;

use trace::time::Nanos;

use super::Safepoints;
use super::late::{LateThread, LateThreads, SLOW};
use super::line::Stop;
use super::log::SafepointLog;
use super::mailbox::{Mailbox, NoAnswer};
use super::report::Report;
use super::totals::Totals;
use agent_base::clock::Ticks;
use agent_core::core::living::LivingThread;
use hotspot::safepoints::SafepointLayout;
use hotspot::walk::WalkError;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(1);
/// How often it reads the log.
const READ: Duration = Duration::from_secs(1);
/// How often it does if it looks for no threads.
const READ_ONLY: Duration = Duration::from_millis(50);
/// So many threads are asked at a look where they are.
const MOST_ASKED: usize = 8;

/// Who looks for late threads: where the VM's state is, and who asks a thread where it is.
pub(super) struct LateFinder {
    pub(super) layout: &'static SafepointLayout,
    /// Or why nobody is asked.
    pub(super) mailbox: Result<Mailbox, &'static str>,
}

/// What the thread keeps.
pub(super) struct Watcher {
    safepoints: &'static Safepoints,
    pub(super) log: SafepointLog,
    finder: Option<LateFinder>,
    /// The stop that is being reached.
    stopping: Option<Stopping>,
    late: LateThreads,
    totals: Totals,
    /// When the log is read next, and when totals are written next.
    next_read: Ticks,
    next_totals: Ticks,
}

/// A stop that is being reached.
#[derive(Clone, Copy, Debug)]
struct Stopping {
    /// When it was seen first.
    since: Ticks,
    /// When threads are looked for next.
    next: Ticks,
}

impl Watcher {
    pub(super) fn new(safepoints: &'static Safepoints, log: SafepointLog, finder: Option<LateFinder>) -> Watcher {
        let (stopping, late, totals) = (None, LateThreads::default(), Totals::default());
        Watcher { safepoints, log, finder, stopping, late, totals, next_read: Ticks::now(), next_totals: Ticks::now() }
    }

    /// Watches until the recording ends.
    pub(super) fn run(mut self) -> Watcher {
        let rest = if self.finder.is_some() { LOOK } else { READ_ONLY };
        while !self.safepoints.has_ended() {
            std::thread::sleep(rest);
            self.look();
            if Ticks::now() >= self.next_read {
                self.read();
            }
        }
        self
    }

    /// Looks whether threads are late, if the VM stops them.
    fn look(&mut self) {
        let Some(finder) = self.finder.as_mut().filter(|finder| finder.layout.is_stopping()) else {
            self.stopping = None;
            return;
        };
        let now = Ticks::now();
        // Most stops are reached by the next look, and nobody is asked.
        let stopping = self.stopping.get_or_insert(Stopping { since: now, next: Ticks(now.0 + SLOW.0) });
        if now < stopping.next {
            return;
        }
        // The longer it takes, the less often: each look stands for an eighth of the time at most.
        stopping.next = Ticks(now.0 + SLOW.0.max((now.0 - stopping.since.0) / 8));
        finder.find(self.safepoints, now, &mut self.late);
    }

    /// Reads what the VM has logged, and hands over what is new.
    pub(super) fn read(&mut self) {
        let Watcher { safepoints, log, late, totals, .. } = self;
        let core = safepoints.core;
        let read = log.read(|stop: Stop| {
            totals.add(&stop);
            let found = late.take(&stop);
            if stop.sync >= SLOW && !safepoints.reports.add(Report::Stop(stop)) {
                core.count_lost("slow safepoints", 1);
            }
            let left_out = found.into_iter().filter(|late| !safepoints.reports.add(Report::Late(late.clone())));
            core.count_lost("late threads", left_out.count() as u64);
        });
        if read.is_err() {
            core.count_lost("readings of the JVM's log of safepoints", 1);
        }
        core.count_lost("late threads", late.take_left_out());
        let now = Ticks::now();
        // Late threads soon, before they end.
        let wait = if self.late.is_empty() { READ } else { LOOK };
        self.next_read = Ticks(now.0 + wait.as_nanos() as u64);
        let every = core.options.every;
        if !every.is_zero() && now >= self.next_totals {
            self.hand_totals(now);
            // As those of sites: a long run does not write more and more of them.
            let wait = (every.as_nanos() as u64).max((now.0 - core.start.0) / 10);
            self.next_totals = Ticks(now.0 + wait);
        }
    }

    /// Hands over what all stops have cost.
    pub(super) fn hand_totals(&self, now: Ticks) {
        if !self.totals.0.is_empty() {
            self.safepoints.reports.add(Report::Totals(self.totals.clone(), now));
        }
    }
}

impl LateFinder {
    /// Finds the threads that have not stopped.
    fn find(&mut self, safepoints: &Safepoints, now: Ticks, found: &mut LateThreads) {
        let LateFinder { layout, mailbox } = self;
        let mut asked = 0;
        // SAFETY: the registry is held.
        let is_running = |thread: &&Arc<LivingThread>| unsafe { layout.is_running(thread.java) };
        let running: Vec<_> = safepoints.core.living.hold().iter().filter(is_running).cloned().collect();
        for thread in running {
            let ask = |mailbox: &mut Mailbox| {
                let answer = mailbox.ask(thread.tid, thread.java, |place, stack| {
                    (place.pc, place.walked.map(|()| stack.frames().into()).map_err(WalkError::name))
                });
                // It may have stopped before it answered.
                // SAFETY: the thread does not end meanwhile.
                let is_late = answer.is_err() || unsafe { layout.is_running(thread.java) };
                is_late.then(|| answer.map_err(NoAnswer::name))
            };
            let answer = match mailbox {
                Err(why) => Some(Err(*why)),
                Ok(_) if asked == MOST_ASKED => Some(Err("notAsked")),
                Ok(mailbox) => {
                    asked += 1;
                    thread.while_alive(|| ask(mailbox)).flatten()
                }
            };
            let Some(answer) = answer else { continue };
            let (pc, frames) = answer.map_or_else(|why| (None, Err(why)), |(pc, frames)| (Some(pc), frames));
            found.add(LateThread { thread: thread.index, time: now, late: Nanos(0), frames, pc });
        }
    }
}
