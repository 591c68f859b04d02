//! The thread that watches: it reads the VM's log, looks what has ended, and reads the VM's counters.
//!
//! It sleeps until the VM logs something, and looks each millisecond as long as something is under way, and in its first seconds. It is
//! not attached to the VM, so nothing that it does makes the VM wait.

use std::sync::atomic::Ordering;

use trace::model::CodeTier;
use trace::time::Nanos;

use super::WarmUp;
use super::compilations::Compilers;
use super::counters::Counters;
use super::initialisers::{Answer, Initialisers, from_initialiser};
use super::line::{Line, What, is_archived, is_redefined};
use super::report::Report;
use crate::mailbox::{Mailbox, NoAnswer};
use crate::notice::{LineNotice, Waiting, Woken};
use crate::vm_log::VmLog;
use agent_base::clock::{Ticks, thread_cpu_nanos};
use hotspot::class_states::ClassStates;
use hotspot::walk::{RawStack, WalkError, Walker};

/// How often it looks while something is under way; and where that would cost too much.
const USUAL: u64 = 1_000_000;
const SLOWER: u64 = 10_000_000;
/// CPU time that it may have at first; and then such a part of the time.
const FIRST: u64 = 200_000_000;
const PART: u64 = 100;
/// For so long it looks each millisecond even if nothing is under way, and is not woken by the log: the kernel takes some 25 ms to forget
/// whom to wake, which would be a third of a short program.
const UNWOKEN: u64 = 3_000_000_000;
/// How often the counters are read while something happens, and at least.
const COUNTERS: u64 = 50_000_000;
const READ: u64 = 1_000_000_000;

/// Asks threads where they are.
pub(super) struct Asker(pub(super) Result<(Mailbox, &'static Walker), &'static str>);

impl Asker {
    /// Who runs the initialiser of a class, and the part of its stack that shows why.
    fn ask(&mut self, warm_up: &WarmUp, tid: libc::pid_t, class: &str) -> Answer {
        let thread = warm_up.core.living.hold().iter().find(|thread| thread.tid == tid).cloned();
        let Some(thread) = thread else { return (None, Err("noThread")) };
        let (mailbox, walker) = match &mut self.0 {
            Ok(both) => both,
            Err(why) => return (Some(thread.running()), Err(*why)),
        };
        let cut = |stack: &RawStack| from_initialiser(walker, class, stack.frames()).into();
        let ask = || {
            let answer = mailbox.ask(thread.tid, thread.java, |place, stack| place.walked.map(|()| cut(stack)));
            answer.map_err(NoAnswer::name).and_then(|walked| walked.map_err(WalkError::name))
        };
        (Some(thread.running()), thread.while_alive(ask).unwrap_or(Err("notSent")))
    }
}

/// What the thread keeps.
pub(super) struct Watcher {
    pub(super) warm_up: &'static WarmUp,
    pub(super) log: VmLog,
    pub(super) waiting: Waiting,
    pub(super) notice: Option<LineNotice>,
    pub(super) states: Option<ClassStates>,
    pub(super) asker: Asker,
    pub(super) counters: Option<Counters>,
    pub(super) initialisers: Initialisers,
    pub(super) compilers: Compilers,
}

impl Watcher {
    /// Watches until the recording ends.
    pub(super) fn run(mut self) -> Watcher {
        let mut next_counters = Ticks(0);
        let mut woken_from = Some(Ticks(Ticks::now().0 + UNWOKEN));
        loop {
            let now = Ticks::now();
            if woken_from.take_if(|from| *from <= now).is_some() {
                self.notice = LineNotice::of(self.log.file()).ok();
            }
            let something_is_new = self.read();
            self.look(now);
            if now >= next_counters {
                self.read_counters(now);
                next_counters = Ticks(now.0 + COUNTERS);
            }
            let is_idle = self.initialisers.is_empty() && self.compilers.are_idle() && !something_is_new;
            let woken = if is_idle && self.notice.is_some() {
                self.waiting.until(Ticks(now.0 + READ), self.notice.as_ref())
            } else {
                let is_slow = is_idle && woken_from.is_none();
                let interval = if is_slow { SLOWER } else { self.interval(now) };
                self.waiting.until(Ticks(now.0 + interval), None)
            };
            if woken == Woken::End {
                return self;
            }
        }
    }

    /// How long to wait for the next look while something is under way.
    fn interval(&self, now: Ticks) -> u64 {
        let allowed = FIRST + now.0.saturating_sub(self.warm_up.core.start.0) / PART;
        if thread_cpu_nanos() <= allowed {
            return USUAL;
        }
        self.warm_up.note_widened(Nanos(SLOWER));
        SLOWER
    }

    /// Reads the log; whether anything was in it.
    fn read(&mut self) -> bool {
        // First, so that no line comes between.
        self.notice.as_ref().map(LineNotice::take);
        let Watcher { warm_up, log, states, initialisers, compilers, .. } = self;
        let mut lines = 0_u64;
        let read = log.read(|text| {
            lines += 1;
            let Some(Line { time, tid, what }) = Line::parse(text) else { return };
            match what {
                What::Initialises { class, klass } if states.is_some() => {
                    if !initialisers.begins(class, klass, tid, time) {
                        warm_up.core.count_lost("static initialisers", 1);
                    }
                }
                What::Initialises { .. } => {}
                // Of an archive the VM's own counter says how many.
                What::Loads { source, .. } if is_archived(source) || is_redefined(source) => {}
                What::Loads { class, source } => warm_up.add(Report::Load(class.into(), source.into(), time)),
                What::Compiles(code) => {
                    if code.tier == CodeTier::C2 {
                        warm_up.optimized.fetch_add(1, Ordering::Relaxed);
                    }
                    let ended = match code.tier {
                        // Made by the thread that calls it, in no time.
                        CodeTier::Native => Some(Report::Compilation(code.into(), time, Nanos(0))),
                        _ => compilers.begins(tid, code.into(), time),
                    };
                    ended.into_iter().for_each(|report| warm_up.add(report));
                }
                What::Discards { code, why } => {
                    warm_up.add(Report::Discarded(code.into(), time, why.map(Into::into)));
                }
            }
        });
        if read.is_err() {
            warm_up.core.count_lost("readings of the JVM's log of its start", 1);
        }
        lines > 0
    }

    /// Looks what has ended, and where the threads are that run initialisers.
    fn look(&mut self, now: Ticks) {
        let Watcher { warm_up, states, asker, initialisers, compilers, .. } = self;
        if let Some(states) = *states {
            let ask = |tid, class: &str| asker.ask(warm_up, tid, class);
            initialisers.look(now, states, ask, |initialiser| warm_up.add(Report::Initialiser(initialiser)));
        }
        compilers.look(now, |report| warm_up.add(report));
    }

    /// Hands over the counters that have changed.
    pub(super) fn read_counters(&mut self, now: Ticks) {
        let changed = self.counters.as_mut().map(Counters::changed).unwrap_or_default();
        if !changed.is_empty() {
            self.warm_up.add(Report::Counters(changed, now));
        }
    }

    /// The recording ends: hands over what is under way.
    pub(super) fn end(&mut self, now: Ticks) {
        let warm_up = self.warm_up;
        self.read();
        self.look(now);
        self.initialisers.end(now, |initialiser| warm_up.add(Report::Initialiser(initialiser)));
        self.compilers.end(now, |report| warm_up.add(report));
        self.read_counters(now);
    }
}
