//! Requests: how many, how long they took, and where the time of some of them went.
//!
//! One pass over a trace. How long requests took is counted in slots, so percentiles are true to a sixteenth. The time of the first, the
//! tenth and so on and of the slowest is divided: a request is in the trace when it has ended, and what its thread did until then is kept
//! for so long, within bounds (`recent`). Some of that is written late, so a request is looked at when the trace has gone on for some seconds.

mod choice;
mod details;
mod latency;
mod overlap;
mod recent;
mod report;
mod split;
mod waiting;
mod work;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trace::ids::{ObjectId, StackId, ThreadId};
use trace::model::{ClassInit, CpuSample, Element, Flag, MonStillOwned, Request, RequestCount, RequestEntry, StackDef};
use trace::time::{Nanos, Time};

use crate::facts::Facts;
use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{ClassIndex, Symbols, ThreadIndex};
use crate::warm_up::CodeKind;
use crate::window::{Clock, Position, Scope};
use choice::Slowest;
use details::Details;
use latency::Latency;
use overlap::{Layer, Span};
use recent::{Deed, Recent, Stops, What};
use waiting::{OpenWait, Waiting};

pub use choice::Choice;
pub use latency::{Durations, Moment, Sums};
pub use report::{CodePart, EntryRow, InitialiserPart, RequestReport, RequestRow, WaitPart};
pub use split::{Part, PartKind, Split};
pub use work::Work;

/// What belongs to a request is in the trace so long after its end.
const LATE: Nanos = Nanos(5_000_000_000);
/// So many entry points are told apart; the agent has fewer.
const MOST_ENTRIES: usize = 1000;

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    entry: usize,
    number: u64,
    thread: ThreadIndex,
    span: Span,
    cpu: Option<Nanos>,
    ready: Option<Nanos>,
    bytes: Option<u64>,
    failed: bool,
    handed_over: bool,
}

/// A request that was looked at.
#[derive(Clone, Debug)]
struct Looked {
    request: Ended,
    /// After the beginning of the trace.
    begun: Nanos,
    details: Details,
    /// Some of what its thread did may be missing, since there was too much of it.
    is_partial: bool,
}

/// An entry point.
#[derive(Clone, Debug)]
struct Entry {
    method: Box<str>,
    kind: Option<Box<str>>,
    /// When it was first called, after the beginning of the trace.
    first_called: Option<Nanos>,
    latency: Latency,
    /// The longest of those that are in the trace one by one.
    longest: Nanos,
    /// How many these are.
    listed: u64,
    slowest: Slowest,
    looked: Vec<Looked>,
}

/// Gathers what a trace says about requests, element by element.
#[derive(Clone, Debug)]
pub struct RequestStats {
    facts: Facts,
    clock: Clock,
    choice: Choice,
    symbols: Symbols,
    stacks: Stacks,
    /// What the stacks of the current document show.
    works: FxHashMap<StackId, Work>,
    entries: Vec<Entry>,
    by_name: BTreeMap<Box<str>, usize>,
    /// The entry points of the current document; `None` if one does not count.
    ids: FxHashMap<u64, Option<usize>>,
    left_out: u64,
    recent: Recent,
    waiting: Waiting,
    stops: [(Layer, Stops); 2],
    collecting: Option<Time>,
    classes: FxHashMap<ObjectId, ClassIndex>,
    /// Classes of initialisers.
    initialised: Vec<Box<str>>,
    initialised_by_name: FxHashMap<Box<str>, u32>,
    /// Requests that are not looked at yet.
    pending: Vec<Ended>,
    /// When the first of these ended.
    first_pending: Option<Time>,
    now: Time,
    /// The document was recorded without requests.
    is_without: bool,
}

impl RequestStats {
    /// Statistics of nothing yet.
    pub fn new(choice: Choice, scope: &Scope) -> Self {
        let stops = [Layer::Collection, Layer::Safepoint].map(|layer| (layer, Stops::default()));
        RequestStats {
            facts: Facts::default(),
            clock: Clock::of(scope),
            choice,
            symbols: Symbols::default(),
            stacks: Stacks::default(),
            works: FxHashMap::default(),
            entries: Vec::new(),
            by_name: BTreeMap::new(),
            ids: FxHashMap::default(),
            left_out: 0,
            recent: Recent::default(),
            waiting: Waiting::default(),
            stops,
            collecting: None,
            classes: FxHashMap::default(),
            initialised: Vec::new(),
            initialised_by_name: FxHashMap::default(),
            pending: Vec::new(),
            first_pending: None,
            now: Time(0),
            is_without: false,
        }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        self.clock.note(element);
        match element {
            // All else that a trace has is of no use without them.
            Element::AgentCreate(agent) => self.is_without = !agent.agent_parameters.contains("request"),
            Element::RequestEntry(entry) => self.entry(entry),
            Element::Request(request) => self.request(request),
            Element::RequestCount(count) => self.count(count),
            _ if self.is_without => {}
            element => self.beside(element),
        }
        if let Some(now) = element.event_time()
            && now > self.now
        {
            self.now = now;
            // There may be many events, and few requests.
            if self.first_pending.is_some_and(|first| now.since(first) > LATE) {
                self.look(|request| now.since(request.span.until) > LATE);
            }
        }
    }

    /// What may belong to a request.
    fn beside(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name);
            }
            Element::ThreadEnd(end) => {
                let thread = self.symbols.thread(end.thread);
                self.waiting.end_thread(thread);
                self.recent.end(thread, end.time);
            }
            Element::StackDef(stack) => self.define_stack(stack),
            Element::ObjAlloc(alloc) => {
                let class = self.symbols.class(alloc.class);
                self.classes.insert(alloc.obj_id, class);
            }
            Element::ObjFree(free) => {
                self.classes.remove(&free.object);
            }
            Element::GcStart(start) => self.collecting = Some(start.time),
            Element::GcFinish(finish) => {
                if let Some(since) = self.collecting.take() {
                    self.stop(Layer::Collection, Span { since, until: finish.time.max(since) });
                }
            }
            Element::Safepoint(stop) => {
                self.stop(Layer::Safepoint, Span::of(stop.time, stop.total.unwrap_or(stop.sync)));
            }
            Element::ClassInit(init) => self.initialiser(init),
            Element::CpuSample(sample) => self.sample(sample),
            element => self.wait(element),
        }
    }

    /// What may be a wait, or the end of one.
    fn wait(&mut self, element: &Element<'_>) {
        let is = |parked: Option<Flag>, kind, otherwise| if parked == Some(Flag::Yes) { kind } else { otherwise };
        match element {
            Element::MonContendedEnter(e) => {
                let kind = is(e.parked, PartKind::Locks, PartKind::Monitors);
                let owner = e.owner.filter(|owner| owner.0 != 0);
                let owner = owner.map(|owner| (self.symbols.thread(owner), self.stack(e.owner_stack)));
                let seen_each = e.look_interval.unwrap_or_default();
                let wait = OpenWait { owner, seen_each, ..self.open(e.time, kind, Some(e.object), e.stack) };
                self.waiting.begin(self.symbols.thread(e.thread), wait);
            }
            Element::MonWait(e) => {
                let kind = is(e.parked, PartKind::Parked, PartKind::Notification);
                let wait = self.open(e.time, kind, Some(e.object), e.stack);
                self.waiting.begin(self.symbols.thread(e.thread), wait);
            }
            Element::ThreadSleep(e) => {
                let wait = self.open(e.time, PartKind::Sleeping, None, e.stack);
                self.waiting.begin(self.symbols.thread(e.thread), wait);
            }
            Element::MonContendedEntered(e) => {
                self.end(e.thread, &[PartKind::Monitors, PartKind::Locks], Some(e.object), e.time);
            }
            Element::MonWaited(e) => {
                self.end(e.thread, &[PartKind::Notification, PartKind::Parked], Some(e.object), e.time);
            }
            Element::ThreadSlept(e) => self.end(e.thread, &[PartKind::Sleeping], None, e.time),
            Element::MonStillOwned(found) => self.found_owned(found),
            _ => {}
        }
    }

    /// A wait that begins.
    fn open(&mut self, since: Time, kind: PartKind, object: Option<ObjectId>, stack: Option<StackId>) -> OpenWait {
        let class = object.and_then(|object| self.classes.get(&object).copied());
        OpenWait { since, kind, object, class, stack: self.stack(stack), owner: None, seen_each: Nanos(0) }
    }

    fn end(&mut self, thread: ThreadId, kinds: &[PartKind], object: Option<ObjectId>, now: Time) {
        let thread = self.symbols.thread(thread);
        if let Some(wait) = self.waiting.end(thread, kinds, object, now) {
            self.recent.add(thread, wait);
        }
    }

    fn found_owned(&mut self, found: &MonStillOwned) {
        let Some(thread) = found.thread else { return };
        let thread = self.symbols.thread(thread);
        let owner = found.owner.filter(|owner| owner.0 != 0).map(|owner| self.symbols.thread(owner));
        let [stack, owner_stack] = [found.stack, found.owner_stack].map(|stack| self.stack(stack));
        if let Some(wait) = self.waiting.of(thread, found.object) {
            wait.stack = wait.stack.or(stack);
            let known = wait.owner.and_then(|(_, stack)| stack);
            wait.owner = wait.owner.map(|(owner, _)| owner).or(owner).map(|owner| (owner, known.or(owner_stack)));
        }
    }

    fn stack(&mut self, id: Option<StackId>) -> Option<StackIndex> {
        let stack = id.and_then(|id| self.stacks.get(id));
        self.facts.undefined_ids += u64::from(id.is_some() && stack.is_none());
        stack
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        let sites = self.symbols.sites(&stack.frames);
        let ran = stack.types.as_ref().map(CodeKind::of_stack);
        let work = Work::of(sites.iter().map(|&site| self.symbols.location(site)), ran);
        self.works.insert(stack.stack_id, work);
        self.stacks.define(stack.stack_id, sites);
    }

    fn stop(&mut self, layer: Layer, span: Span) {
        self.stops.iter_mut().filter(|(of, _)| *of == layer).for_each(|(_, stops)| stops.add(span));
    }

    fn initialiser(&mut self, init: &ClassInit<'_>) {
        let Some(thread) = init.thread else { return };
        let thread = self.symbols.thread(thread);
        let stack = self.stack(init.stack);
        let name: Box<str> = trace::names::class_name_of_internal(&init.class).into();
        let new = self.initialised.len() as u32;
        let class = *self.initialised_by_name.entry(name).or_insert_with_key(|name| {
            self.initialised.push(name.clone());
            new
        });
        let what = What::Initialiser { class, runs_on: init.running == Some(Flag::Yes) };
        self.recent.add(thread, Deed { span: Span::of(init.time, init.took), stack, what });
    }

    fn sample(&mut self, sample: &CpuSample<'_>) {
        let thread = self.symbols.thread(sample.virtual_thread.unwrap_or(sample.thread));
        let stack = self.stack(sample.stack);
        let shown = sample.stack.and_then(|stack| self.works.get(&stack).copied()).unwrap_or(Work::Other);
        let runs_code = matches!(shown, Work::Interpreted | Work::Compiled | Work::Other);
        let work = if sample.function.is_some() && stack.is_some() && runs_code { Work::Native } else { shown };
        let what = What::Sample { work, cpu: sample.cpu };
        self.recent.add(thread, Deed { span: Span::of(sample.time, Nanos(0)), stack, what });
    }

    fn entry(&mut self, entry: &RequestEntry<'_>) {
        let called = Some(entry.time.since(self.clock.origin()));
        let kind = entry.kind.as_deref().map(Into::into);
        let index = self.entry_named(&entry.method, kind, called);
        self.ids.insert(entry.entry, index);
    }

    fn entry_named(&mut self, method: &str, kind: Option<Box<str>>, called: Option<Nanos>) -> Option<usize> {
        if let Some(&known) = self.by_name.get(method) {
            return Some(known);
        }
        if !self.choice.selects(method) {
            return None;
        }
        if self.entries.len() >= MOST_ENTRIES {
            self.left_out += 1;
            return None;
        }
        let (from, _) = self.clock.part();
        let from = from.since(self.clock.origin()).max(called.unwrap_or_default());
        self.entries.push(Entry {
            method: method.into(),
            kind,
            first_called: called,
            latency: Latency::since(from),
            longest: Nanos(0),
            listed: 0,
            slowest: Slowest::default(),
            looked: Vec::new(),
        });
        self.by_name.insert(method.into(), self.entries.len() - 1);
        Some(self.entries.len() - 1)
    }

    /// The entry point behind an id; an undefined id gets a name that says so.
    fn entry_of(&mut self, id: u64) -> Option<usize> {
        if let Some(&known) = self.ids.get(&id) {
            return known;
        }
        self.facts.undefined_ids += 1;
        let index = self.entry_named(&format!("(undefined entry point {id})"), None, None);
        self.ids.insert(id, index);
        index
    }

    fn count(&mut self, count: &RequestCount<'_>) {
        let is_in = self.clock.position(count.time) == Position::Inside;
        if let Some(entry) = self.entry_of(count.entry).filter(|_| is_in) {
            let until = count.time.since(self.clock.origin());
            self.entries[entry].latency.add(count, until);
        }
    }

    fn request(&mut self, request: &Request) {
        let is_in = self.clock.position(request.time) == Position::Inside;
        let Some(index) = self.entry_of(request.entry).filter(|_| is_in) else { return };
        let entry = &mut self.entries[index];
        entry.listed += 1;
        entry.longest = entry.longest.max(request.took);
        let is_slow = entry.slowest.takes(request.number, request.took, self.choice.most_slowest());
        if is_slow || self.choice.names(request.number) {
            let span = Span::of(request.time, request.took);
            self.first_pending = Some(self.first_pending.map_or(span.until, |first| first.min(span.until)));
            self.pending.push(Ended {
                entry: index,
                number: request.number,
                thread: self.symbols.thread(request.thread),
                span,
                cpu: request.cpu,
                ready: request.ready,
                bytes: request.bytes,
                failed: request.failed == Some(Flag::Yes),
                handed_over: request.handed_over == Some(Flag::Yes),
            });
        }
    }

    /// Looks at those requests of which the trace has all by now.
    fn look(&mut self, is_over: impl Fn(&Ended) -> bool) {
        let (over, pending): (Vec<_>, _) = self.pending.drain(..).partition(is_over);
        self.pending = pending;
        self.first_pending = self.pending.iter().map(|request| request.span.until).min();
        for request in over {
            // Others may have taken longer since.
            let is_chosen = |entry: &Entry, number| entry.slowest.has(number) || self.choice.names(number);
            if !is_chosen(&self.entries[request.entry], request.number) {
                continue;
            }
            let (deeds, mut is_all) = self.recent.of(request.thread, request.span);
            let mut stops = Vec::new();
            for (layer, all) in &self.stops {
                let (spans, are_all) = all.of(request.span);
                stops.extend(spans.map(|span| (*layer, span)));
                is_all &= are_all;
            }
            let details = Details::new(request.span, request.cpu, request.ready, &deeds, &stops);
            let begun = request.span.since.since(self.clock.origin());
            let entry = &mut self.entries[request.entry];
            entry
                .looked
                .retain(|looked| entry.slowest.has(looked.request.number) || self.choice.names(looked.request.number));
            entry.looked.push(Looked { request, begun, details, is_partial: !is_all });
        }
    }

    /// Ends a document: all ids lose their meaning.
    pub fn end_document(&mut self) {
        self.look(|_| true);
        self.facts.documents += 1;
        self.ids.clear();
        self.works.clear();
        self.classes.clear();
        self.recent.end_document();
        self.waiting = Waiting::default();
        self.stops.iter_mut().for_each(|(_, stops)| *stops = Stops::default());
        self.collecting = None;
        self.now = Time(0);
        self.is_without = false;
        self.stacks.end_document();
        self.symbols.end_document();
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> RequestReport {
        self.facts.undefined_ids += self.symbols.undefined();
        RequestReport::new(self)
    }
}
