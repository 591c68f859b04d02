//! From the elements of a trace to events.

mod threads;
mod waiting;

use analysis::call_tree::Label;
use analysis::generated::plain_name;
use rustc_hash::FxHashMap;
use trace::ids::{ClassId, FunctionId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{CpuSample, Element, Flag, FrameType, StackDef};
use trace::time::Time;

use super::chunk;
use super::encode::{event, number, text};
use super::metadata::metadata;
use super::pools::{AFTER, Frame, Pools, RUNNABLE, Ran};
use super::types::{ALLOCATION, COLLECTION, EXECUTION_SAMPLE, HEAP_SUMMARY, PAUSE};
use super::waits::{Wait, WaitKind, Waits};
use crate::profiles::Profiles;
use threads::Known;

/// The class of frames that are none of Java.
const NOT_JAVA: &str = "(not Java)";

/// Makes a recording of a trace, element by element.
#[derive(Debug, Default)]
pub struct Recorder {
    pools: Pools,
    events: Vec<u8>,
    begin: Option<Time>,
    end: Time,
    documents: u64,
    collections: u64,
    collection: Option<Time>,
    waits: Waits,
    // What the ids of the document stand for.
    classes: FxHashMap<ClassId, Box<str>>,
    methods: FxHashMap<MethodId, u64>,
    functions: FxHashMap<FunctionId, u64>,
    stacks: FxHashMap<StackId, Vec<Frame>>,
    threads: FxHashMap<ThreadId, Known>,
    objects: FxHashMap<ObjectId, ClassId>,
    /// Threads by their names, for what is known by name only.
    named: FxHashMap<Box<str>, u64>,
}

impl Recorder {
    /// A recording of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::TraceStart(e) => {
                self.begin.get_or_insert(e.time);
                self.reach(e.time);
            }
            Element::TraceEnd(e) => self.reach(e.time),
            Element::ClassDef(e) => {
                self.classes.insert(e.class_id, plain_name(&e.name).into());
            }
            Element::MethodDef(e) => {
                let class = self.classes.get(&e.class).map_or("(undefined class)", |name| name);
                let method = self.pools.method(class, &e.name, &e.signature);
                self.methods.insert(e.method_id, method);
            }
            Element::FunctionDef(e) => {
                let function = self.pools.method(e.library.as_deref().unwrap_or(NOT_JAVA), &e.name, "");
                self.functions.insert(e.function_id, function);
            }
            Element::StackDef(e) => self.define_stack(e),
            Element::ObjAlloc(e) => {
                self.objects.insert(e.obj_id, e.class);
                self.reach(e.time);
            }
            Element::ObjFree(e) => {
                self.objects.remove(&e.object);
            }
            Element::AllocCount(e) => self.reach(e.time),
            Element::ThreadStart(e) => self.thread_starts(e),
            Element::ThreadEnd(e) => self.thread_ends(e.thread, e.time),
            Element::MonContendedEnter(e) => {
                let kind = parked(e.parked, WaitKind::Blocked);
                let owner = e.owner.filter(|owner| owner.0 != 0).map_or(0, |owner| self.thread(owner));
                let wait = self.wait(kind, e.time, Some(e.object), e.stack);
                self.waits.begin(e.thread, Wait { is_contended: true, owner, ..wait });
            }
            Element::MonContendedEntered(e) => self.end_wait(e.thread, e.time, Some(e.object), true, None),
            Element::MonWait(e) => {
                let wait = self.wait(parked(e.parked, WaitKind::Waiting), e.time, Some(e.object), e.stack);
                self.waits.begin(e.thread, wait);
            }
            Element::MonWaited(e) => self.end_wait(e.thread, e.time, Some(e.object), false, e.reason),
            Element::ThreadSleep(e) => {
                let wait = self.wait(WaitKind::Sleeping, e.time, None, e.stack);
                self.waits.begin(e.thread, wait);
            }
            Element::ThreadSlept(e) => self.end_wait(e.thread, e.time, None, false, None),
            Element::CpuSample(e) => self.sample(e),
            Element::GcStart(e) => {
                self.reach(e.time);
                self.collection = Some(e.time);
            }
            Element::GcFinish(e) => self.collected(e.time, e.used_space),
            _ => {}
        }
    }

    /// Ends a document: waits that have not ended last until now. All ids lose their meaning.
    pub fn end_document(&mut self) {
        let now = self.end;
        self.waits.threads().into_iter().for_each(|thread| self.end_waits(thread, now));
        self.documents += 1;
        self.collection = None;
        self.classes.clear();
        self.methods.clear();
        self.functions.clear();
        self.stacks.clear();
        self.threads.clear();
        self.objects.clear();
    }

    /// The recording, with what was allocated.
    pub fn finish(mut self, profiles: &Profiles<'_>) -> Vec<u8> {
        let end = self.end;
        for stack in &profiles.allocated {
            let frames = stack.frames.iter().map(|label| self.frame(label)).collect();
            let frames = self.pools.stack(frames);
            let thread = stack.thread.map_or(0, |name| self.thread_named(name));
            let class = self.pools.class(stack.class.unwrap_or_default());
            self.event(ALLOCATION, end, |body| {
                [thread, frames, class, stack.weight].into_iter().for_each(|value| number(body, value));
            });
        }
        let begin = self.begin.unwrap_or_default();
        chunk(begin.0, end.since(begin).0, &self.events, &self.pools.checkpoint(), &metadata())
    }

    fn reach(&mut self, time: Time) {
        self.end = self.end.max(time);
    }

    /// Writes an event, all of which begin with their time.
    fn event(&mut self, kind: u64, time: Time, rest: impl FnOnce(&mut Vec<u8>)) {
        let mut body = Vec::new();
        number(&mut body, time.since(self.begin.unwrap_or_default()).0);
        rest(&mut body);
        event(&mut self.events, kind, &body);
    }

    fn frame(&mut self, label: &Label<'_>) -> Frame {
        let (method, line, ran) = match *label {
            Label::Line(at) => {
                (self.pools.method(at.class, at.method, at.signature), at.line.unwrap_or(0), Ran::Unknown)
            }
            other => (self.pools.method(NOT_JAVA, &other.to_string(), ""), 0, Ran::Native),
        };
        Frame { method, line, ran }
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        let types = stack.types.as_ref().map_or(&[][..], |types| &types.0);
        let frames = stack.frames.0.iter().enumerate().map(|(at, frame)| {
            let undefined = || self.pools.method("(undefined class)", "(undefined method)", "");
            let method = self.methods.get(&frame.method).copied();
            Frame { method: method.unwrap_or_else(undefined), line: frame.line, ran: ran(types.get(at)) }
        });
        let frames = frames.collect();
        self.stacks.insert(stack.stack_id, frames);
    }

    fn stack(&mut self, id: Option<StackId>) -> u64 {
        let frames = id.and_then(|id| self.stacks.get(&id)).cloned().unwrap_or_default();
        self.pools.stack(frames)
    }

    fn sample(&mut self, sample: &CpuSample<'_>) {
        self.reach(sample.time);
        let kernel = (sample.kernel == Some(Flag::Yes)).then(|| self.frame(&Label::Kernel));
        let function = sample.function.and_then(|function| self.functions.get(&function));
        let function = function.map(|&method| Frame { method, line: 0, ran: Ran::Native });
        let java = sample.stack.and_then(|stack| self.stacks.get(&stack)).cloned().unwrap_or_default();
        let mut frames: Vec<Frame> = kernel.into_iter().chain(function).chain(java).collect();
        if let Some(reason) = &sample.lost {
            frames.push(self.frame(&Label::Lost(reason)));
        }
        let thread = self.thread(sample.virtual_thread.unwrap_or(sample.thread));
        if frames.is_empty() {
            // Those of the VM's threads have none, and the name of the thread says what it does.
            let name = self.threads.get(&sample.thread).map_or_else(Box::default, |known| known.name.clone());
            frames.push(self.frame(&Label::VmThreads(&name)));
        }
        let stack = self.pools.stack(frames);
        self.event(EXECUTION_SAMPLE, sample.time, |body| {
            [thread, stack, RUNNABLE, sample.cpu.0].into_iter().for_each(|value| number(body, value));
        });
    }

    fn collected(&mut self, time: Time, used: Option<u64>) {
        self.reach(time);
        let Some(since) = self.collection.take() else { return };
        let (id, length) = (self.collections, time.since(since).0);
        self.collections += 1;
        self.event(COLLECTION, since, |body| {
            [length, id, length, length].into_iter().for_each(|value| number(body, value));
        });
        self.event(PAUSE, since, |body| {
            [length, id].into_iter().for_each(|value| number(body, value));
            text(body, "GC Pause");
        });
        if let Some(used) = used {
            self.event(HEAP_SUMMARY, time, |body| {
                [id, AFTER, used].into_iter().for_each(|value| number(body, value));
            });
        }
    }
}

fn parked(flag: Option<Flag>, otherwise: WaitKind) -> WaitKind {
    if flag == Some(Flag::Yes) { WaitKind::Parked } else { otherwise }
}

fn ran(kind: Option<&FrameType>) -> Ran {
    match kind {
        Some(FrameType::Interpreted) => Ran::Interpreted,
        Some(FrameType::C1(_) | FrameType::C2) => Ran::Compiled,
        Some(FrameType::Inlined) => Ran::Inlined,
        Some(FrameType::Native) => Ran::Native,
        None => Ran::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use analysis::weighted::WeightedStack;
    use trace::model::{MonContendedEnter, MonContendedEntered, TraceEnd, TraceStart};

    use super::*;

    #[test]
    fn waits_and_allocations_become_events_of_their_types() {
        let mut recorder = Recorder::new();
        let (thread, object) = (ThreadId(1), ObjectId(2));
        let (trace_id, agent_id) = ("t".into(), "a".into());
        recorder.element(&Element::TraceStart(TraceStart { trace_id, agent_id, time: Time(1000) }));
        let enter = |time| {
            let (owner, owner_object, stack, owner_stack, parked) = Default::default();
            let time = Time(time);
            let enter = MonContendedEnter { thread, time, object, owner, owner_object, stack, owner_stack, parked };
            Element::MonContendedEnter(enter)
        };
        recorder.element(&enter(1100));
        let entered = MonContendedEntered { thread, time: Time(1150), object, parked: None };
        recorder.element(&Element::MonContendedEntered(entered));
        recorder.element(&enter(1160));
        recorder.element(&Element::TraceEnd(TraceEnd { time: Time(1200) }));
        recorder.end_document();
        let stack =
            WeightedStack { thread: None, class: Some("X"), frames: vec![Label::NoStack], count: 1, weight: 300 };
        let bytes = recorder.finish(&Profiles { allocated: vec![stack], ..Profiles::default() });
        // Size, type, start, length, thread, stack, class, owner; the second wait lasts until the end.
        let mut events = vec![8, 101, 100, 50, 1, 0, 0, 0, 9, 101, 160, 1, 40, 1, 0, 0, 0];
        // Of the allocation: size, type, time, thread, stack, class, bytes.
        events.extend([9, 100, 200, 1, 0, 1, 2, 172, 2]);
        assert_eq!(bytes[68..68 + events.len()], events);
    }
}
