//! The thread that watches: it finds the threads that are late where the VM takes long to stop all, and reads the VM's log.
//!
//! It sleeps until the VM logs that it is about to stop all threads, and looks a millisecond later: how often it wakes depends on how
//! often threads are stopped. Where the kernel does not say when the log is written to it looks at intervals instead. Both within a
//! budget (`spending`).
//!
//! It is not attached to the VM, so nothing that it does makes the VM wait.

use std::sync::Arc;
use std::time::Duration;

use trace::time::Nanos;

use super::Safepoints;
use super::late::{LateThread, LateThreads, SLOW};
use super::line::Stop;
use super::log::SafepointLog;
use super::report::Report;
use super::spending::{Asked, Purse};
use super::totals::Totals;
use crate::mailbox::{Mailbox, NoAnswer};
use crate::notice::{LineNotice, Waiting, Woken};
use agent_base::clock::Ticks;
use agent_core::core::living::LivingThread;
use hotspot::safepoints::SafepointLayout;
use hotspot::walk::WalkError;

/// How often it reads the log at least.
const READ: Duration = Duration::from_secs(1);
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
    waiting: Waiting,
    finder: Option<LateFinder>,
    /// Says when the VM logs something; `None` if nobody says, or if nobody is looked for.
    notice: Option<LineNotice>,
    late: LateThreads,
    totals: Totals,
    /// What it made others do since it woke.
    asked: Asked,
    /// When the log is read next at the latest, and when totals are written next.
    next_read: Ticks,
    next_totals: Ticks,
}

impl Watcher {
    pub(super) fn new(
        safepoints: &'static Safepoints,
        log: SafepointLog,
        waiting: Waiting,
        finder: Option<LateFinder>,
    ) -> Watcher {
        let notice = finder.as_ref().and_then(|_| log.notice().ok());
        let (late, totals, asked) = (LateThreads::default(), Totals::default(), Asked::default());
        let (next_read, next_totals) = (Ticks::now(), Ticks::now());
        Watcher { safepoints, log, waiting, finder, notice, late, totals, asked, next_read, next_totals }
    }

    /// Watches until the recording ends.
    pub(super) fn run(mut self) -> Watcher {
        let mut purse = Purse::new();
        // When it looks next; until then lines do not wake it. What goes on at first is not known.
        let mut next_look = self.finder.is_some().then(Ticks::now);
        loop {
            let woken = match next_look {
                Some(time) => self.waiting.until(time, None),
                None => self.waiting.until(self.next_read, self.notice.as_ref()),
            };
            let now = Ticks::now();
            match woken {
                Woken::End => return self,
                // Most stops are over soon: there is one look for their beginning and their end.
                Woken::Line if self.log.begun().is_none() => next_look = Some(self.after_interval(now)),
                Woken::Line => next_look = self.look(now),
                Woken::Time if next_look.is_some() => next_look = self.look(now),
                Woken::Time => drop(self.read(now)),
            }
            purse.pay(&self.safepoints.spending, std::mem::take(&mut self.asked));
        }
    }

    fn after_interval(&self, now: Ticks) -> Ticks {
        Ticks(now.0 + self.safepoints.spending.interval().0)
    }

    /// Reads the log, and looks for late threads if it is time. When it is to look again, unless it can wait for a line.
    fn look(&mut self, now: Ticks) -> Option<Ticks> {
        let is_new = self.read(now);
        let next = self.log.begun().and_then(|begun| self.look_at(begun, now));
        // Lines come too often to wake for each, or nobody says when one comes.
        let is_polling = self.notice.is_none() || (self.safepoints.spending.is_widened() && is_new);
        next.or_else(|| (self.finder.is_some() && is_polling).then(|| self.after_interval(now)))
    }

    /// Looks which threads are late for the stop that began then. When to look again, if it goes on.
    fn look_at(&mut self, begun: Ticks, now: Ticks) -> Option<Ticks> {
        let finder = self.finder.as_mut()?;
        let interval = self.safepoints.spending.interval();
        let first = Ticks(begun.0 + interval.0);
        if now < first {
            return Some(first);
        }
        if !finder.layout.is_stopping() {
            return None;
        }
        self.asked = finder.find(self.safepoints, now, &mut self.late);
        // The longer it takes, the less often: each look stands for an eighth of the time at most.
        Some(Ticks(now.0 + interval.0.max((now.0 - begun.0) / 8)))
    }

    /// Reads what the VM has logged, and hands over what is new; whether anything is, as far as that is known.
    pub(super) fn read(&mut self, now: Ticks) -> bool {
        // First, so that no line comes between.
        let is_new = self.notice.as_ref().is_some_and(LineNotice::take);
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
        self.next_read = Ticks(now.0 + READ.as_nanos() as u64);
        let every = core.options.every;
        if !every.is_zero() && now >= self.next_totals {
            self.hand_totals(now);
            // As those of sites: a long run does not write more and more of them.
            let wait = (every.as_nanos() as u64).max((now.0 - core.start.0) / 10);
            self.next_totals = Ticks(now.0 + wait);
        }
        is_new
    }

    /// Hands over what all stops have cost.
    pub(super) fn hand_totals(&self, now: Ticks) {
        if !self.totals.0.is_empty() {
            self.safepoints.reports.add(Report::Totals(self.totals.clone(), now));
        }
    }
}

impl LateFinder {
    /// Finds the threads that have not stopped; what that made them do.
    fn find(&mut self, safepoints: &Safepoints, now: Ticks, found: &mut LateThreads) -> Asked {
        let LateFinder { layout, mailbox } = self;
        let (mut asked, mut took) = (0, Nanos(0));
        // SAFETY: the registry is held.
        let is_running = |thread: &&Arc<LivingThread>| unsafe { layout.is_running(thread.java) };
        let running: Vec<_> = safepoints.core.living.hold().iter().filter(is_running).cloned().collect();
        for thread in running {
            let mut ask = |mailbox: &mut Mailbox| {
                let answer = mailbox.ask(thread.tid, thread.java, |place, stack| {
                    took.0 += place.took.0;
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
        Asked { signals: asked as u64, cpu: took }
    }
}
