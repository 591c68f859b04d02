//! Locks and threads: who waits for what, for how long, and who holds it.
//!
//! Reads traces with monitor events and plain lock logs alike. Memory grows with the threads and objects that are there at one
//! time and with the names in the trace, not with the number of events: tables have a limited length, and what does not fit
//! is added to a row for others like it.

mod durations;
mod idle;
mod kinds;
mod live;
mod lock_names;
mod lock_places;
mod looks;
mod observer;
mod paths;
mod processor_time;
mod report;
mod rows;
mod stacks;
mod stalls;
mod stuck;
mod tables;
mod threads;
mod timeline_row;
mod tree;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::filter::Pattern;
use trace::ids::{ObjectId, ThreadId};
use trace::locklog::{LockEvent, LockEventKind, WallClock};
use trace::model::{Element, Flag, MonStillOwned, StackDef};
use trace::time::{Nanos, Time};

pub use durations::Durations;
pub use kinds::KindRow;
pub use lock_names::{CalledLock, LockHolders, LockName};
pub use lock_places::{LocksOf, Place, WaitPlaces};
pub use looks::Estimate;
use observer::Observing;
pub use observer::{Observer, Stall};
pub use paths::WaitKind;
pub use processor_time::ProcessorTime;
pub use report::{LockReport, WaitProblems, WaitSums};
pub use rows::{LockBy, LockRow, LockSubject, Longest, ThreadSummary};
pub use stuck::{Deadlock, Stuck};
pub use threads::{ThreadName, TimeTotals, pool_name};
pub use timeline_row::{ByState, State};

use crate::facts::Facts;
use crate::symbols::{ClassIndex, Symbols};
use crate::thread_dumps::DumpReader;
use live::{LiveThread, Monitor, PendingStall, Serial};
use lock_names::LockNames;
use lock_places::LockPlaces;
use paths::WaitPaths;
use stacks::Stacks;
use stalls::StallBegin;
use tables::WaitTables;
use threads::Threads;
use timeline_row::Span;

/// What to count.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only waits for monitors of these classes, in fields of these, in these fields (`demo.Cache.slots`), or with these ids (`@17`); all if empty. Where no field is known: also waits in methods
    /// of these classes, which is all that a lock log says.
    pub classes: Vec<Pattern>,
    /// What an earlier reading of the same trace says about the fields.
    pub names: LockHolders,
    /// Only waits of these threads; all if empty.
    pub threads: Vec<Pattern>,
    /// Classes whose innermost frame names a call stack.
    pub callers: Vec<Pattern>,
    /// Only what happens later than this after the beginning ...
    pub from: Nanos,
    /// ... and earlier than this.
    pub to: Option<Nanos>,
    /// Waits of idle threads for work count as others do.
    pub idle: bool,
}

/// Maximum number of blocked threads in a lock log, which does not distinguish threads of one name.
const MAX_PENDING: usize = 1 << 20;

/// Gathers what a trace or a lock log says about threads and monitors.
#[derive(Clone, Default)]
pub struct LockStats<'o> {
    selection: Selection,
    /// The ids among what is selected.
    objects: FxHashSet<ObjectId>,
    observer: Observing<'o>,
    symbols: Symbols,
    stacks: Stacks,
    span: Span,
    threads: Threads,
    live: FxHashMap<Serial, LiveThread>,
    ids: FxHashMap<ThreadId, Serial>,
    /// The threads of a lock log.
    names: FxHashMap<Box<str>, Serial>,
    pending_in_log: usize,
    classes: FxHashMap<ObjectId, ClassIndex>,
    monitors: FxHashMap<ObjectId, Monitor>,
    lock_names: LockNames,
    lock_places: LockPlaces,
    serials: u64,
    tables: WaitTables,
    /// Waits of idle threads that are in no table.
    idle: TimeTotals,
    paths: WaitPaths,
    passes: FxHashMap<ClassIndex, bool>,
    stuck: Vec<stuck::StuckRecord>,
    deadlocks: Vec<Vec<stuck::StuckRecord>>,
    stuck_more: u64,
    problems: WaitProblems,
    dumps: DumpReader,
    facts: Facts,
    log_starts: Vec<WallClock>,
    is_log: bool,
    has_looks: bool,
}

/// The id that a pattern is.
fn id(pattern: &Pattern) -> Option<ObjectId> {
    pattern.to_string().strip_prefix('@').and_then(|id| id.parse().ok()).map(ObjectId)
}

/// The state in which an element puts a thread.
fn parked(flag: Option<Flag>, otherwise: State) -> State {
    if flag == Some(Flag::Yes) { State::Parked } else { otherwise }
}

impl<'o> LockStats<'o> {
    /// Statistics of nothing yet. The observer receives everything that is selected, as it happens.
    pub fn new(selection: Selection, observer: Option<&'o mut dyn Observer>) -> Self {
        LockStats {
            stacks: Stacks::new(selection.callers.clone()),
            objects: selection.classes.iter().filter_map(id).collect(),
            span: Span::window(selection.from, selection.to),
            selection,
            observer: Observing(observer),
            ..Self::default()
        }
    }

    /// Statistics of all waits, with what [`LockReport::kinds`] needs.
    pub fn with_each_kind() -> Self {
        let tables = WaitTables { kinds: Some(Default::default()), ..WaitTables::default() };
        LockStats { tables, ..LockStats::new(Selection::default(), None) }
    }

    /// What was read so far, apart from threads and locks.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        self.reach_event(element);
        self.dumps.element(element);
        match element {
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::StackDef(stack) => self.define_stack(stack),
            Element::ObjAlloc(alloc) => {
                let class = self.symbols.class(alloc.class);
                self.classes.insert(alloc.obj_id, class);
                self.monitors.remove(&alloc.obj_id);
            }
            Element::ObjFree(free) => {
                self.classes.remove(&free.object);
                self.monitors.remove(&free.object);
            }
            Element::ThreadStart(thread) => {
                self.reach(thread.time);
                let serial = self.start_thread(thread.thread_id, &thread.thread_name, &thread.group_name, thread.time);
                self.is_of_kind(serial, thread.kind);
            }
            Element::ThreadEnd(thread) => {
                self.reach(thread.time);
                if let Some(serial) = self.ids.remove(&thread.thread) {
                    self.end_thread(serial, thread.time);
                }
            }
            Element::TraceStart(start) => self.reach(start.time),
            Element::TraceEnd(end) => self.reach(end.time),
            Element::RuntimeInitDone(init) => self.reach(init.time),
            Element::RuntimeShutdown(shutdown) => self.reach(shutdown.time),
            Element::MonContendedEnter(e) => {
                let state = parked(e.parked, State::Blocked);
                self.has_looks |= e.look_interval.is_some();
                let begin = StallBegin::contended(state, e.object, e.owner, e.stack, e.owner_stack);
                self.begin(e.thread, e.time, StallBegin { look_interval: e.look_interval, ..begin });
            }
            Element::MonContendedEntered(e) => {
                let serial = self.end(e.thread, e.time, Some(e.object), true, None);
                self.monitor(e.object).owner = Some((serial, e.time));
            }
            Element::MonWait(e) => {
                let begin = StallBegin {
                    state: parked(e.parked, State::Waiting),
                    is_contended: false,
                    object: Some(e.object),
                    owner: None,
                    stack: e.stack,
                    owner_stack: None,
                    look_interval: None,
                };
                self.begin(e.thread, e.time, begin);
            }
            Element::MonWaited(e) => {
                self.end(e.thread, e.time, Some(e.object), false, e.reason);
            }
            Element::ThreadSleep(e) => {
                let begin = StallBegin {
                    state: State::Sleeping,
                    is_contended: false,
                    object: None,
                    owner: None,
                    stack: e.stack,
                    owner_stack: None,
                    look_interval: None,
                };
                self.begin(e.thread, e.time, begin);
            }
            Element::ThreadSlept(e) => {
                self.end(e.thread, e.time, None, false, None);
            }
            Element::ThreadCpu(e) => self.processor_time(e),
            Element::MonStillOwned(e) => self.found_owned(e),
            Element::LockName(e) => {
                let class = self.symbols.class(e.class);
                let monitor = self.monitor(e.object).serial;
                self.lock_names.insert(monitor, class, e.field.as_deref());
            }
            _ => {}
        }
    }

    /// Ends a document: waits that have not ended count with what they had by now. All ids lose their meaning.
    pub fn end_document(&mut self) {
        self.facts.documents += 1;
        let now = self.span.end();
        self.find_stuck(now);
        let mut live: Vec<Serial> = self.live.keys().copied().collect();
        live.sort_unstable();
        for serial in live {
            self.close_thread(serial, now, true);
        }
        self.ids.clear();
        self.names.clear();
        self.pending_in_log = 0;
        self.classes.clear();
        self.monitors.clear();
        self.stacks.end_document();
        self.symbols.end_document();
    }

    /// Takes in the first line of a lock log. If it is not the first of the file, the events after it are another document.
    pub fn log_start(&mut self, clock: WallClock) {
        if self.is_log {
            self.end_document();
        }
        self.is_log = true;
        self.log_starts.push(clock);
        self.reach(Time(0));
    }

    /// Takes in an event of a lock log.
    pub fn log_event(&mut self, event: &LockEvent<'_>) {
        self.is_log = true;
        self.facts.elements += 1;
        // Times of a log count from its start.
        self.reach(Time(0));
        let time = Time(event.since_start.0);
        self.reach(time);
        let frames =
            event.frames.iter().map(|frame| self.symbols.site_named(&frame.class, &frame.method)).collect::<Vec<_>>();
        let stack = (!frames.is_empty()).then(|| self.stacks.intern(frames, &self.symbols));
        let serial = match self.names.get(&*event.thread) {
            Some(&known) => known,
            None => self.start_log_thread(&event.thread, time),
        };
        match event.kind {
            LockEventKind::Try => {
                if self.pending_in_log >= MAX_PENDING {
                    self.problems.without_end += 1;
                    return;
                }
                let Some(live) = self.live.get_mut(&serial) else { return };
                self.pending_in_log += 1;
                self.problems.shared_names += u64::from(!live.pending.is_empty());
                live.pending.push_back(PendingStall::in_log(stack, time));
            }
            LockEventKind::Locked => {
                let Some(live) = self.live.get_mut(&serial) else { return };
                // Threads of one name: the one that was at the same place, or the first.
                let at = live.pending.iter().position(|pending| pending.stack == stack).unwrap_or(0);
                match live.pending.remove(at) {
                    Some(pending) => {
                        self.pending_in_log -= 1;
                        self.finish_stall(serial, &pending, time, false, None);
                    }
                    None => self.problems.without_begin += 1,
                }
            }
        }
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> LockReport {
        self.facts.undefined_ids += self.symbols.undefined();
        LockReport {
            symbols: self.symbols,
            stacks: self.stacks,
            span: self.span,
            threads: self.threads,
            tables: self.tables,
            lock_names: self.lock_names,
            lock_places: self.lock_places,
            idle: self.idle,
            paths: self.paths,
            stuck: self.stuck,
            stuck_more: self.stuck_more,
            deadlocks: self.deadlocks,
            problems: self.problems,
            dumps: self.dumps.finish(),
            facts: self.facts,
            log_starts: self.log_starts,
            is_log: self.is_log,
            has_looks: self.has_looks,
        }
    }

    fn reach(&mut self, time: Time) {
        if self.span.origin().is_none()
            && let Some(observer) = &mut self.observer.0
        {
            observer.begin(time);
        }
        self.span.reach(time);
    }

    /// Threads do what they do until the last event of any kind. Only those of threads and of the recording begin the span.
    fn reach_event(&mut self, element: &Element<'_>) {
        // The head is written before the recording begins, the agent leaves after it has ended.
        let is_outside = matches!(
            element,
            Element::Node(_) | Element::ProcessCreate(_) | Element::AgentCreate(_) | Element::AgentDestroy(_)
        );
        if let Some(time) = element.event_time().filter(|_| !is_outside && self.span.origin().is_some()) {
            self.span.reach(time);
        }
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        let sites = self.symbols.sites(&stack.frames);
        self.stacks.define(stack.stack_id, sites, &self.symbols);
    }

    fn found_owned(&mut self, found: &MonStillOwned) {
        self.reach(found.time);
        let owner = found.owner.filter(|owner| owner.0 != 0).map(|owner| self.thread(owner, found.time));
        if let Some(owner) = owner {
            self.monitor(found.object).owner = Some((owner, found.time));
        }
        let stacks = [found.stack, found.owner_stack].map(|stack| stack.and_then(|id| self.stacks.get(id)));
        let owner = owner.and_then(|serial| self.owner(serial));
        let Some(thread) = found.thread.filter(|&thread| found.owner != Some(thread)) else { return };
        let serial = self.thread(thread, found.time);
        let Some(live) = self.live.get_mut(&serial) else { return };
        let pending = live.pending.iter_mut().rev().find(|pending| pending.object == Some(found.object));
        if let Some(pending) = pending {
            pending.owner = pending.owner.or(owner);
            pending.stack = pending.stack.or(stacks[0]);
            pending.owner_stack = stacks[1].or(pending.owner_stack);
        } else if owner.is_some() {
            // It blocked before recording began.
            let state = parked(found.parked, State::Blocked);
            self.begin(
                thread,
                found.time,
                StallBegin::contended(state, found.object, found.owner, found.stack, found.owner_stack),
            );
        }
    }
}
