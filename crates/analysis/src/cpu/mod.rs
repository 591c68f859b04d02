//! What threads did while they ran, or while they lived: samples of their CPU clocks, or of the time.
//!
//! A sample stands for a part of a clock, so sums are lengths of time, with the error that the number of samples gives them. Samples that
//! have everything in common are added up as they are read: memory grows with the different stacks, not with the trace.

mod conservation;
mod entries;
mod paths;
mod report;
mod rows;
mod sample_times;
mod samples;
mod stacks;
mod subject;
mod threads;

use rustc_hash::FxHashMap;
use trace::ids::{FunctionId, StackId, ThreadId};
use trace::model::{CpuSample, Element, Flag, StackDef, ThreadState, WallSample};
use trace::time::{Nanos, Time};

pub use conservation::{Conservation, LostTime, WhyUnknown, WorstThread};
pub use entries::CpuEntry;
pub use report::CpuReport;
pub use rows::{CpuBy, CpuInside, CpuRow};
pub use sample_times::SlotSamples;
pub use subject::{CodeKind, CpuSubject};
pub use threads::VmWork;

use crate::facts::Facts;
use crate::symbols::Symbols;
use crate::window::{Clock, Position, Scope};
use sample_times::SampleTimes;
use samples::{CellKey, FunctionIndex, Samples};
use stacks::{TypedStack, TypedStacks};
use threads::Threads;

/// Which samples are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleClock {
    /// Those of CPU clocks: threads that run.
    #[default]
    Cpu,
    /// Those of the time: threads that live.
    Wall,
}

/// Gathers the samples of a trace, element by element.
#[derive(Clone, Debug, Default)]
pub struct CpuStats {
    of: SampleClock,
    symbols: Symbols,
    stacks: TypedStacks,
    samples: Samples,
    function_ids: FxHashMap<FunctionId, FunctionIndex>,
    threads: Threads,
    facts: Facts,
    clock: Clock,
    moments: Option<SampleTimes>,
}

/// What samples of both kinds have in common.
struct Sample<'s> {
    thread: ThreadId,
    virtual_thread: Option<ThreadId>,
    time: Time,
    length: Nanos,
    stack: Option<StackId>,
    function: Option<FunctionId>,
    is_kernel: bool,
    lost: Option<&'s str>,
    state: Option<ThreadState>,
}

impl<'s> From<&'s CpuSample<'_>> for Sample<'s> {
    fn from(sample: &'s CpuSample<'_>) -> Self {
        Sample {
            thread: sample.thread,
            virtual_thread: sample.virtual_thread,
            time: sample.time,
            length: sample.cpu,
            stack: sample.stack,
            function: sample.function,
            is_kernel: sample.kernel == Some(Flag::Yes),
            lost: sample.lost.as_deref(),
            state: None,
        }
    }
}

impl<'s> From<&'s WallSample<'_>> for Sample<'s> {
    fn from(sample: &'s WallSample<'_>) -> Self {
        Sample {
            thread: sample.thread,
            virtual_thread: sample.virtual_thread,
            time: sample.time,
            length: sample.wall,
            stack: sample.stack,
            function: sample.function,
            is_kernel: false,
            lost: sample.lost.as_deref(),
            state: Some(sample.state),
        }
    }
}

impl CpuStats {
    /// Statistics of nothing yet: of samples of this clock that are taken in this part of the trace.
    pub fn new(of: SampleClock, scope: &Scope) -> Self {
        CpuStats { of, clock: Clock::of(scope), ..Self::default() }
    }

    /// Statistics of all samples of a clock, with when each was taken.
    pub fn with_moments(of: SampleClock) -> Self {
        CpuStats { of, moments: Some(SampleTimes::default()), ..Self::default() }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        self.clock.note(element);
        match element {
            Element::CpuSample(sample) => {
                self.clock.reach(sample.time);
                if self.of == SampleClock::Cpu {
                    self.sample(&sample.into());
                }
            }
            Element::WallSample(sample) => {
                self.clock.reach(sample.time);
                if self.of == SampleClock::Wall {
                    self.sample(&sample.into());
                }
            }
            Element::ThreadCpu(cpu) => {
                let thread = self.symbols.thread(cpu.thread);
                self.threads.has_run(thread, cpu.cpu);
            }
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name);
                if let Some(kind) = thread.kind {
                    let thread = self.symbols.thread(thread.thread_id);
                    self.threads.is_of_kind(thread, kind);
                }
            }
            Element::FunctionDef(function) => {
                let library = function.library.as_deref().unwrap_or("");
                let index = self.samples.function(&function.name, library);
                self.function_ids.insert(function.function_id, index);
            }
            Element::StackDef(stack) => self.define_stack(stack),
            _ => {}
        }
    }

    /// Ends a document: all ids lose their meaning, for the next document has its own.
    pub fn end_document(&mut self) {
        self.facts.documents += 1;
        self.function_ids.clear();
        self.stacks.end_document();
        self.symbols.end_document();
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> CpuReport {
        self.facts.undefined_ids += self.symbols.undefined();
        let mut report =
            CpuReport::new(self.of, self.symbols, self.stacks, self.samples, self.threads, self.facts, self.clock);
        report.moments = self.moments;
        report
    }

    fn sample(&mut self, sample: &Sample<'_>) {
        if self.clock.position(sample.time) != Position::Inside {
            return;
        }
        let stack = sample.stack.and_then(|stack| self.stacks.get(stack));
        self.facts.undefined_ids += u64::from(sample.stack.is_some() && stack.is_none());
        let function = sample.function.and_then(|function| self.function_ids.get(&function).copied());
        self.facts.undefined_ids += u64::from(sample.function.is_some() && function.is_none());
        let key = CellKey {
            thread: self.symbols.thread(sample.thread),
            virtual_thread: sample.virtual_thread.map(|thread| self.symbols.thread(thread)),
            stack,
            function,
            is_kernel: sample.is_kernel,
            lost: sample.lost.map(|reason| self.samples.reason(reason)),
            state: sample.state,
        };
        let key = self.samples.add(key, sample.length);
        let since = sample.time.since(self.clock.origin());
        self.moments.iter_mut().for_each(|moments| moments.add(key, since, sample.length));
    }

    /// Remembers the frames of a stack, and how each ran.
    fn define_stack(&mut self, stack: &StackDef<'_>) {
        let frames = self.symbols.sites(&stack.frames);
        let types = stack.types.as_ref().map_or(&[][..], |types| &types.0);
        self.stacks.define(stack.stack_id, frames, types.iter().map(|&kind| kind.into()).collect());
    }
}
