//! From the elements of a trace to what happened when.

mod allocated;
pub(crate) mod constants;
pub(crate) mod pools;
mod recording;
mod requests;
mod start;
mod threads;
mod waiting;
pub(crate) mod waits;

use analysis::call_tree::Label;
use rustc_hash::FxHashMap;
use trace::generated::plain_name;
use trace::ids::{ClassId, FunctionId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{CpuSample, Element, Flag, FrameType, StackDef};
use trace::time::Time;

use crate::profiles::Profiles;
use allocated::Allocated;
use pools::{Frame, Ran};
pub use recording::Recording;
pub(crate) use recording::{Allocation, Event, WaitEvent};
pub(crate) use requests::RequestEvent;
pub(crate) use start::CompilationEvent;
use threads::Known;
use waits::{Wait, WaitKind, Waits};

const UNDEFINED_CLASS: &str = "(undefined class)";

/// A class of the document.
#[derive(Debug)]
struct Class {
    name: Box<str>,
    source: Box<str>,
}

/// An object that lives.
#[derive(Debug)]
struct Object {
    class: ClassId,
    /// When it was announced, and how large it is, if it may be in the trace only because a thread waits for it.
    announced: Option<(Time, u64)>,
}

/// Makes a recording of a trace, element by element.
#[derive(Debug, Default)]
pub struct Recorder {
    recording: Recording,
    begin: Option<Time>,
    documents: u64,
    collection: Option<Time>,
    waits: Waits,
    allocated: Allocated,
    // What the ids of the document stand for.
    classes: FxHashMap<ClassId, Class>,
    methods: FxHashMap<MethodId, u64>,
    functions: FxHashMap<FunctionId, u64>,
    stacks: FxHashMap<StackId, Vec<Frame>>,
    threads: FxHashMap<ThreadId, Known>,
    objects: FxHashMap<ObjectId, Object>,
    locks: FxHashMap<ObjectId, u64>,
    /// Where the entry points of requests stand in the recording.
    entry_points: FxHashMap<u64, usize>,
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
            Element::ProcessCreate(e) => {
                self.recording.pid.get_or_insert(e.pid);
            }
            Element::AgentCreate(e) => self.allocated.agent(e),
            Element::TraceStart(e) => {
                self.begin.get_or_insert(e.time);
                self.reach(e.time);
            }
            Element::TraceEnd(e) => self.reach(e.time),
            Element::ClassDef(e) => {
                let source = e.source_name.as_deref().unwrap_or_default().into();
                self.classes.insert(e.class_id, Class { name: plain_name(&e.name).into(), source });
            }
            Element::MethodDef(e) => {
                let class = self.classes.get(&e.class);
                let (class, file) = class.map_or((UNDEFINED_CLASS, ""), |class| (&class.name, &class.source));
                let method = self.recording.pools.method(class, &e.name, &e.signature, file);
                self.methods.insert(e.method_id, method);
            }
            Element::FunctionDef(e) => {
                let function = self.recording.pools.function(e.library.as_deref().unwrap_or_default(), &e.name);
                self.functions.insert(e.function_id, function);
            }
            Element::StackDef(e) => self.define_stack(e),
            Element::ObjAlloc(e) => {
                let announced = e.thread.is_none().then_some((e.time, e.size));
                self.objects.insert(e.obj_id, Object { class: e.class, announced });
                self.locks.remove(&e.obj_id);
                self.allocated.object(e);
                self.allocated_until(e.time);
            }
            Element::ObjFree(e) => {
                self.objects.remove(&e.object);
                self.locks.remove(&e.object);
            }
            Element::AllocCount(e) => {
                self.allocated.count(e);
                self.allocated_until(e.time);
            }
            Element::AllocSample(e) => {
                self.allocated.sample(e);
                self.allocated_until(e.time);
            }
            Element::MonStillOwned(e) => self.monitor(e.object),
            Element::MonitorUsage(e) => self.monitor(e.object),
            Element::ThreadInfo(e) => e.object.into_iter().for_each(|object| self.monitor(object)),
            Element::LockName(e) => self.name_lock(e),
            Element::ThreadStart(e) => self.thread_starts(e),
            Element::ThreadEnd(e) => self.thread_ends(e.thread, e.time),
            Element::MonContendedEnter(e) => {
                self.monitor(e.object);
                let kind = parked(e.parked, WaitKind::Blocked);
                let owner = e.owner.filter(|owner| owner.0 != 0).map_or(0, |owner| self.thread(owner));
                let wait = self.wait(kind, e.time, Some(e.object), e.stack);
                self.waits.begin(e.thread, Wait { is_contended: true, owner, ..wait });
            }
            Element::MonContendedEntered(e) => self.end_wait(e.thread, e.time, Some(e.object), true, None),
            Element::MonWait(e) => {
                self.monitor(e.object);
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
            Element::ClassInit(e) => self.initialised(e),
            Element::RequestEntry(e) => self.entry_point(e),
            Element::Request(e) => self.requested(e),
            Element::Compilation(e) => self.compiled(e),
            Element::ClassLoad(e) => self.loaded(e),
            Element::JvmCounter(e) => self.counted(e),
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
        let now = self.recording.end;
        self.waits.threads().into_iter().for_each(|thread| self.end_waits(thread, now));
        self.documents += 1;
        self.collection = None;
        self.classes.clear();
        self.methods.clear();
        self.functions.clear();
        self.stacks.clear();
        self.threads.clear();
        self.objects.clear();
        self.locks.clear();
        self.entry_points.clear();
        self.allocated.end_document();
    }

    /// The recording, with what was allocated.
    pub fn finish(mut self, profiles: &Profiles<'_>) -> Recording {
        for stack in &profiles.allocated {
            let frames = stack.frames.iter().map(|label| self.frame(label)).collect();
            let frames = self.recording.pools.stack(frames);
            let thread = stack.thread.map_or(0, |name| self.thread_named(name));
            let class = self.recording.pools.class(stack.class.unwrap_or_default());
            self.recording.allocations.push(Allocation { thread, stack: frames, class, bytes: stack.weight });
        }
        if profiles.sampled_interval.is_some() {
            self.scale_allocated();
        }
        Recording { begin: self.begin.unwrap_or_default(), ..self.recording }
    }

    fn reach(&mut self, time: Time) {
        self.recording.end = self.recording.end.max(time);
    }

    fn frame(&mut self, label: &Label<'_>) -> Frame {
        let pools = &mut self.recording.pools;
        let (method, line, ran) = match *label {
            Label::Line(at) => {
                (pools.method(at.class, at.method, at.signature, at.source), at.line.unwrap_or(0), Ran::Unknown)
            }
            Label::Function { name, library } => (pools.function(library, name), 0, Ran::Native),
            other => (pools.function("", &other.to_string()), 0, Ran::Native),
        };
        Frame { method, line, ran }
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        let types = stack.types.as_ref().map_or(&[][..], |types| &types.0);
        let frames = stack.frames.0.iter().enumerate().map(|(at, frame)| {
            let undefined = || self.recording.pools.method(UNDEFINED_CLASS, "(undefined method)", "", "");
            let method = self.methods.get(&frame.method).copied();
            Frame { method: method.unwrap_or_else(undefined), line: frame.line, ran: ran(types.get(at)) }
        });
        let frames = frames.collect();
        self.stacks.insert(stack.stack_id, frames);
    }

    fn stack(&mut self, id: Option<StackId>) -> u64 {
        let frames = id.and_then(|id| self.stacks.get(&id)).cloned().unwrap_or_default();
        self.recording.pools.stack(frames)
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
        let stack = self.recording.pools.stack(frames);
        self.recording.events.push(Event::Sample { thread, time: sample.time, cpu: sample.cpu, stack });
    }

    fn collected(&mut self, time: Time, used: Option<u64>) {
        self.reach(time);
        let Some(since) = self.collection.take() else { return };
        self.recording.events.push(Event::Collection { since, until: time.max(since), used });
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
