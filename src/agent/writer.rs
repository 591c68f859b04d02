//! The writer: one native thread that merges all buffers by time and turns records into elements.
//!
//! It never touches JNI, so it goes on while the VM stands still in a collection. Definitions are written in front of the
//! first element that refers to them, so "defined before used" holds by construction.

mod dump;
mod lock_log;
mod monitors;
mod site_counts;
mod tail;
mod tallies;
mod text;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use trace::ids::{MethodId, ObjectId, StackId};
use trace::model::{
    ClassDef, Frame, Frames, GcFinish, GcStart, MethodDef, ObjAlloc, ObjFree, Record, RuntimeInitDone, StackDef,
    ThreadEnd, ThreadStart,
};
use trace::time::Time;
use trace::writer::DOCUMENT_START;

use super::Agent;
use super::buffer::Consumer;
use super::classes::ClassIndex;
use super::clock::Ticks;
use super::dump::Snapshot;
use super::engine::Engine;
use super::event::{Event, Extent};
use super::gc::{DumpNumber, GcEvent, GcNumber};
use super::head::{self, Head};
use super::methods::MethodIndex;
use super::output::Output;
use super::stacks::StackIndex;
use super::threads::{ThreadIndex, ThreadNames};
use lock_log::LockLog;
use monitors::{Ahead, Limit, Monitors};
use site_counts::SiteCounts;
use tallies::{Tallies, TallyIndex};
use text::Text;

/// A compressed trace can be read up to here at most before now.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// The writer rests so long between looking for events.
const SHORTEST_REST: Duration = Duration::from_millis(10);
/// Where only threads are recorded it rests the longer the less there is, up to this: each turn costs, and so does each small
/// write. Of the heap a kill shall take as little as may be.
const LONGEST_REST: Duration = Duration::from_millis(100);
/// An event younger than this waits for its neighbours on other threads, which may be stamped but not yet visible.
const GRACE_NANOS: u64 = 1_000_000;
/// A thread with an event on its way, which has taken its time perhaps, is waited for as long as this at most.
const LONGEST_PROMISE_NANOS: u64 = 2_000_000_000;
/// A `gcFinish` waits this long at most for the frees of its collection; the control thread gives up long before.
const LONGEST_WAIT_FOR_FREES: Duration = Duration::from_secs(60);
/// An event of a thread that has no name yet waits this long at most for it.
const LONGEST_WAIT_FOR_NAME: Duration = Duration::from_millis(200);

struct Source {
    consumer: Consumer,
    /// The tally of the platform thread.
    tally: TallyIndex,
    /// The thread whose events these are: the platform thread, or a virtual one that it carries.
    thread: ThreadIndex,
    /// What came before the event that it belongs to.
    ahead: Ahead,
}

/// Which entries of a table have been defined in the trace.
#[derive(Default)]
struct Defined(Vec<bool>);

impl Defined {
    /// True the first time it is asked about an entry.
    fn first(&mut self, index: u32) -> bool {
        let index = index as usize;
        if index >= self.0.len() {
            self.0.resize((index + 1).next_power_of_two(), false);
        }
        !std::mem::replace(&mut self.0[index], true)
    }

    fn contains(&self, index: u32) -> bool {
        self.0.get(index as usize).copied().unwrap_or(false)
    }
}

/// The writing end of the agent.
pub(crate) struct Writer {
    agent: &'static Agent,
    text: Text,
    head: Head,
    sources: Vec<Source>,
    threads: Defined,
    /// Threads whose `threadEnd` has been written: the VM may still have them as objects.
    ended: Defined,
    classes: Defined,
    methods: Defined,
    stacks: Defined,
    tallies: Tallies,
    /// No element is written with an earlier time.
    last: Time,
    gc: VecDeque<GcEvent>,
    dumps: Vec<Option<Snapshot>>,
    freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    settled: GcNumber,
    /// A `gcStart` stands in the trace without its `gcFinish`.
    in_collection: bool,
    /// When all buffers were asked for promises.
    looked: Ticks,
    /// Since when the merge waits for something that is not an event.
    waiting_since: Option<Instant>,
    gave_up_waiting: u64,
    site_counts: SiteCounts,
    flushed: Instant,
    monitors: Monitors,
    log: Option<LockLog>,
}

impl Writer {
    /// Writes the head of the trace, and of the lock log.
    pub(crate) fn begin(agent: &'static Agent, output: Output, log: Option<Output>) -> Writer {
        let mut text = Text::new(output, agent.options.limit_bytes);
        text.emit(|out| out.extend_from_slice(DOCUMENT_START));
        let start = agent.clock.time(agent.start);
        let head = head::write(&agent.options, start, |write| text.emit(write));
        text.drain();
        Writer {
            agent,
            text,
            head,
            sources: Vec::new(),
            threads: Defined::default(),
            ended: Defined::default(),
            classes: Defined::default(),
            methods: Defined::default(),
            stacks: Defined::default(),
            tallies: Tallies::default(),
            last: start,
            gc: VecDeque::new(),
            dumps: Vec::new(),
            freed: VecDeque::new(),
            settled: GcNumber(0),
            in_collection: false,
            looked: Ticks::now(),
            waiting_since: None,
            gave_up_waiting: 0,
            site_counts: SiteCounts::default(),
            flushed: Instant::now(),
            monitors: Monitors::default(),
            log: log.map(|output| LockLog::begin(output, agent.start, start)),
        }
    }

    /// Writes until reporting ends, and then the rest.
    pub(crate) fn run(mut self) {
        let longest = if self.agent.engine == Engine::Off { LONGEST_REST } else { SHORTEST_REST };
        let mut rest = SHORTEST_REST;
        while !self.agent.pool.is_closed() {
            std::thread::park_timeout(rest);
            let before = self.text.total();
            self.turn(Ticks(Ticks::now().0.saturating_sub(GRACE_NANOS)));
            if self.text.has_failed() || self.text.is_full() {
                self.agent.stop_reporting();
            }
            rest = match self.text.total() - before < Text::PIECE as u64 {
                true => (rest * 2).min(longest),
                false => (rest / 2).max(SHORTEST_REST),
            };
        }
        self.turn(Ticks(u64::MAX));
        self.end();
    }

    /// Writes all events up to the horizon, or to the first that has to wait.
    fn turn(&mut self, horizon: Ticks) {
        // Frees first: an object that is dead by now was allocated in a record that is visible by now.
        let horizon = self.agent.dumps.horizon(horizon);
        let ready = self.agent.dumps.take_ready();
        let taken = self.agent.gc.take();
        self.gc.extend(taken.events);
        for snapshot in ready {
            let time = snapshot.time;
            let later = self.gc.iter().position(|event| event.time() > time).unwrap_or(self.gc.len());
            self.gc.insert(later, GcEvent::Dump(time, DumpNumber(self.dumps.len())));
            self.dumps.push(Some(snapshot));
        }
        self.freed.extend(taken.freed);
        self.settled = self.settled.max(taken.settled);
        for (carrier, consumer) in self.agent.threads.take_fresh() {
            let tally = self.tallies.of(carrier);
            self.sources.push(Source { consumer, tally, thread: carrier, ahead: Ahead::default() });
        }
        let horizon = self.promised(horizon);
        self.sources.retain_mut(|source| {
            source.consumer.refresh();
            !source.consumer.is_finished()
        });
        if !self.text.is_full() {
            self.merge(horizon);
            self.snapshot();
        }
        self.text.drain();
        if let Some(log) = &mut self.log {
            log.drain();
        }
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.text.flush();
            self.flushed = Instant::now();
        }
    }

    /// The horizon, or the time before it at which a thread began what it has not yet handed over.
    fn promised(&mut self, horizon: Ticks) -> Ticks {
        // Who waits for room keeps no promise meanwhile.
        if horizon.0 == u64::MAX || self.agent.pool.is_nearly_full() {
            return horizon;
        }
        let now = Ticks::now().0;
        let patience = now.saturating_sub(LONGEST_PROMISE_NANOS);
        // Who took the time longer ago than the grace has let his promise be seen.
        let looked = std::mem::replace(&mut self.looked, Ticks(now.saturating_sub(GRACE_NANOS)));
        let promised = self.sources.iter_mut().filter_map(|source| source.consumer.promised(looked.0));
        promised.filter(|&since| since > patience).map(Ticks).fold(horizon, Ticks::min)
    }

    fn merge(&mut self, horizon: Ticks) {
        let mut queue: BinaryHeap<Reverse<(Ticks, usize)>> = BinaryHeap::with_capacity(self.sources.len());
        for (index, source) in self.sources.iter_mut().enumerate() {
            queue.extend(source.consumer.peek().map(|record| Reverse((Event::time(&record), index))));
        }
        loop {
            let gc_time = self.gc.front().map(GcEvent::time);
            let next = queue.peek().map(|Reverse((time, _))| *time);
            if let Some(gc_time) = gc_time.filter(|&t| t <= horizon && next.is_none_or(|n| t <= n)) {
                if !self.gc_event(gc_time, horizon) {
                    return;
                }
                continue;
            }
            let Some(Reverse((time, index))) = queue.pop() else { return };
            if time > horizon || !self.is_presentable(self.sources[index].thread, horizon) {
                return;
            }
            // As long as this thread's events are the oldest there is no need to ask the others.
            let rival = queue.peek().map_or(horizon, |Reverse((time, _))| *time).min(horizon);
            let rival = gc_time.map_or(rival, |t| t.min(rival));
            while let Some(record) = self.sources[index].consumer.peek() {
                let time = Event::time(&record);
                if time > rival {
                    queue.push(Reverse((time, index)));
                    break;
                }
                self.sources[index].consumer.pop();
                self.event(index, time, Event::unpack(&record));
                if self.text.is_full() {
                    return;
                }
            }
        }
    }

    /// Whether a thread can be announced: its name is known, or it has been waited for long enough.
    fn is_presentable(&mut self, thread: ThreadIndex, horizon: Ticks) -> bool {
        if self.threads.contains(thread.0) {
            return true;
        }
        let named = self.agent.threads.get(thread).is_none_or(|t| t.names.get().is_some());
        if named {
            self.waiting_since = None;
            return true;
        }
        self.waited(LONGEST_WAIT_FOR_NAME, horizon)
    }

    /// Whether the merge has waited long enough for what it waits for. At the end of the trace nothing is waited for.
    fn waited(&mut self, longest: Duration, horizon: Ticks) -> bool {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let enough = horizon.0 == u64::MAX || since.elapsed() > longest;
        if enough {
            self.waiting_since = None;
        }
        enough
    }

    fn time(&mut self, ticks: Ticks) -> Time {
        self.last = self.last.max(self.agent.clock.time(ticks));
        self.last
    }

    /// Writes the beginning or end of a collection; false if it has to wait.
    fn gc_event(&mut self, ticks: Ticks, horizon: Ticks) -> bool {
        match self.gc.front() {
            Some(GcEvent::Finish(_, number)) => {
                let number = *number;
                if self.agent.options.lifetimes && self.settled < number {
                    if !self.waited(LONGEST_WAIT_FOR_FREES, horizon) {
                        return false;
                    }
                    self.gave_up_waiting += 1;
                }
                self.waiting_since = None;
                // Just before the end, so that the collection which killed an object does not count in its age.
                let time = self.time(Ticks(ticks.0.saturating_sub(1)));
                while self.freed.front().is_some_and(|(charged, _)| *charged <= number) {
                    let (_, objects) = self.freed.pop_front().unwrap_or_default();
                    // A full trace may not hold a whole collection's frees; the collection is finished all the same.
                    for object in objects {
                        if self.text.is_full() {
                            break;
                        }
                        self.text.emit(|out| ObjFree { object, time, thread: None }.write(out));
                    }
                }
                let time = self.time(ticks);
                self.finish_collection(time);
            }
            Some(GcEvent::Start(_)) => {
                let time = self.time(ticks);
                self.text.emit(|out| GcStart { time, thread: None }.write(out));
                self.in_collection = true;
            }
            Some(&GcEvent::Dump(_, number)) => {
                let time = self.time(ticks);
                if let Some(snapshot) = self.dumps.get_mut(number.0).and_then(Option::take) {
                    self.heap_dump(&snapshot, time);
                }
            }
            None => {}
        }
        self.gc.pop_front();
        true
    }

    fn finish_collection(&mut self, time: Time) {
        let finish = GcFinish { time, used_objects: None, used_space: None, total_space: None };
        self.text.emit(|out| finish.write(out));
        self.in_collection = false;
    }

    #[inline]
    fn event(&mut self, source: usize, ticks: Ticks, event: Event) {
        match event {
            Event::Alloc { object, class, extent, stack } => {
                self.alloc(source, ticks, object, class, extent, stack);
            }
            Event::Found { object, class, words } => self.found(ticks, object, class, words),
            Event::Owner { thread, stack } => self.sources[source].ahead.owner = Some((thread, stack)),
            Event::Limit { millis, nanos } => self.sources[source].ahead.limit = Some(Limit { millis, nanos }),
            Event::Enter { object, thread, stack, way } => self.enter(source, ticks, object, thread, stack, way),
            Event::Entered { object, thread } => self.entered(ticks, object, thread),
            Event::Wait { object, thread, stack, way } => self.wait(source, ticks, object, thread, stack, way),
            Event::Waited { object, thread, reason } => self.wait_over(ticks, object, thread, reason),
            Event::Unparked { thread, interrupted } => self.unparked(ticks, thread, interrupted),
            Event::Snapshot(number) => self.answer(ticks, number),
            Event::Switch(thread) => self.sources[source].thread = thread,
            Event::ThreadStart(thread) => self.define_thread(thread),
            Event::ThreadEnd(thread) => {
                self.define_thread(thread);
                self.close_all(ticks, thread);
                let time = self.time(ticks);
                if let Some(record) = self.agent.threads.get(thread) {
                    self.text.emit(|out| ThreadEnd { thread: record.id, time }.write(out));
                }
                self.ended.first(thread.0);
                self.tallies.end(thread);
            }
            Event::InitDone(thread) => {
                self.define_thread(thread);
                let time = self.time(ticks);
                if let Some(record) = self.agent.threads.get(thread) {
                    self.text.emit(|out| RuntimeInitDone { thread: record.id, time }.write(out));
                }
            }
            Event::Account { thread, vm_bytes } => self.account(thread, ticks, vm_bytes),
            Event::Counted { thread, instances, bytes } => self.tallies.set(thread, instances, bytes),
        }
    }

    /// What was reported of a thread until now, beside what the JVM says.
    fn account(&mut self, thread: ThreadIndex, ticks: Ticks, vm_bytes: Option<u64>) {
        let Some(record) = self.agent.threads.get(thread) else { return };
        let time = self.time(ticks);
        if let Some(element) = self.tallies.account(thread, record.id, vm_bytes, time) {
            self.define_thread(thread);
            self.text.emit(|out| element.write(out));
        }
    }

    #[inline]
    fn alloc(
        &mut self,
        source: usize,
        ticks: Ticks,
        object: ObjectId,
        class: ClassIndex,
        extent: Extent,
        stack: StackIndex,
    ) {
        let Source { tally, thread, .. } = self.sources[source];
        self.define_thread(thread);
        self.define_class(class);
        let (Some(thread), Some(class)) = (self.agent.threads.get(thread), self.agent.classes.get(class)) else {
            return;
        };
        let size = match extent {
            Extent::Instance => class.instance_bytes(),
            Extent::Array(length) => class.layout.map_or(0, |layout| layout.bytes(length)),
            Extent::Words(words) => u64::from(words) * 8,
        };
        let site = self.site(stack);
        let stack = if self.agent.options.stack_depth > 0 { self.stack(stack) } else { None };
        let time = self.time(ticks);
        let element = ObjAlloc {
            thread: Some(thread.id),
            is_array: Some(class.array),
            size,
            obj_id: object,
            class: class.id,
            method: site.map(|s| s.0),
            line: site.and_then(|s| s.1),
            stack,
            time,
        };
        self.text.emit(|out| element.write(out));
        self.tallies.add(tally, size);
    }

    /// The id of a stack, which is defined if it is new; `None` for no stack.
    fn stack(&mut self, index: StackIndex) -> Option<StackId> {
        let stack = self.agent.stacks.get(index)?;
        if self.stacks.first(index.0) {
            for frame in &stack.frames {
                self.define_method(frame.method);
            }
            let frames: Vec<Frame> = stack
                .frames
                .iter()
                .filter_map(|f| Some(Frame { method: self.agent.methods.get(f.method)?.id, line: f.line }))
                .collect();
            let element = StackDef { stack_id: stack.id, frames: Frames(Cow::Owned(frames)) };
            self.text.emit(|out| element.write(out));
        }
        Some(stack.id)
    }

    /// Method and line of an allocation.
    fn site(&mut self, index: StackIndex) -> Option<(MethodId, Option<i64>)> {
        if !self.agent.options.allocsites {
            return None;
        }
        let site = self.agent.stacks.get(index)?.frames.first()?;
        self.define_method(site.method);
        let line = (site.line > 0).then_some(i64::from(site.line));
        Some((self.agent.methods.get(site.method)?.id, line))
    }

    fn define_thread(&mut self, index: ThreadIndex) {
        if !self.threads.first(index.0) {
            return;
        }
        let Some(record) = self.agent.threads.get(index) else { return };
        let unnamed = ThreadNames::default();
        let names = record.names.get().unwrap_or(&unnamed);
        let element = ThreadStart {
            thread_id: record.id,
            time: self.time(record.started),
            thread_name: Cow::Borrowed(&names.name),
            group_name: Cow::Borrowed(&names.group),
            parent_name: Cow::Borrowed(&names.parent),
            object: Some(ObjectId(0)),
        };
        self.text.emit(|out| element.write(out));
    }

    fn define_class(&mut self, index: ClassIndex) {
        if !self.classes.first(index.0) {
            return;
        }
        let Some(record) = self.agent.classes.get(index) else { return };
        let element = ClassDef {
            thread: None,
            name: Cow::Borrowed(&record.name),
            source_name: Some(Cow::Borrowed(&record.source)),
            class_id: record.id,
            object: None,
            time: self.agent.clock.time(record.loaded),
        };
        self.text.emit(|out| element.write(out));
    }

    fn define_method(&mut self, index: MethodIndex) {
        if !self.methods.first(index.0) {
            return;
        }
        let Some(record) = self.agent.methods.get(index) else { return };
        self.define_class(record.class);
        let Some(class) = self.agent.classes.get(record.class) else { return };
        let (start, end) = record.line_range().unzip();
        let element = MethodDef {
            name: Cow::Borrowed(trace::names::method_name(&record.name)),
            signature: Cow::Borrowed(&record.signature),
            start_line: start.map(i64::from),
            end_line: end.map(i64::from),
            method_id: record.id,
            class: class.id,
        };
        self.text.emit(|out| element.write(out));
    }
}
