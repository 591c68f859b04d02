//! The start of a JVM, and how it becomes warm: what the JVM's own counters say, static initialisers, compilations, classes that
//! came out of no archive, and how the program's code ran.
//!
//! Counters are the JVM's own sums since its start, so what a trace shows of them is exact, and nothing has to be added up. Memory is
//! bounded: of a counter a few thousand values are kept, of compilations the sums of each method.

mod archives;
mod code;
mod compilations;
mod counters;
mod initialisers;
mod loads;
mod lookups;
mod report;

use rustc_hash::FxHashMap;
use trace::ids::StackId;
use trace::model::{Element, StackDef};
use trace::time::Nanos;

use crate::facts::Facts;
use crate::stacks::Stacks;
use crate::symbols::Symbols;
use crate::window::{Clock, Scope};
use archives::Archives;
pub(crate) use code::CodeKind;
use code::CodeTimes;
use compilations::Compilations;
use counters::Counters;
use initialisers::Initialisers;
use loads::Loads;
use lookups::Lookups;

pub use archives::ArchiveRow;
pub use code::CodeShares;
pub use compilations::{CompiledMethod, TierSums};
pub use initialisers::InitialiserRow;
pub use loads::{ClassSource, LoadRow};
pub use lookups::LookupRow;
pub use report::{Cause, Causes, Interval, WarmUpReport};

/// Gathers what a trace says about the start, element by element.
#[derive(Clone, Debug)]
pub struct WarmUpStats {
    facts: Facts,
    clock: Clock,
    symbols: Symbols,
    stacks: Stacks,
    /// How the innermost frame of a stack ran, by the ids of the current document.
    kinds: FxHashMap<StackId, CodeKind>,
    counters: Counters,
    initialisers: Initialisers,
    compilations: Compilations,
    lookups: Lookups,
    archives: Archives,
    loads: Loads,
    code: CodeTimes,
}

impl WarmUpStats {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        WarmUpStats {
            facts: Facts::default(),
            clock: Clock::of(&Scope::default()),
            symbols: Symbols::default(),
            stacks: Stacks::default(),
            kinds: FxHashMap::default(),
            counters: Counters::default(),
            initialisers: Initialisers::default(),
            compilations: Compilations::default(),
            lookups: Lookups::default(),
            archives: Archives::default(),
            loads: Loads::default(),
            code: CodeTimes::default(),
        }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.clock.note(element);
        self.facts.note(element);
        let origin = self.clock.origin();
        match element {
            Element::JvmCounter(counter) => self.counters.add(counter, origin),
            Element::Compilation(compilation) => self.compilations.compiled(compilation, origin),
            Element::ClassArchive(archive) => self.archives.add(archive),
            Element::ClassLoad(load) => self.loads.add(load, load.time.since(origin)),
            Element::CodeDiscarded(code) => self.compilations.discarded(code),
            Element::ClassInit(init) => {
                let stack = init.stack.and_then(|stack| self.stacks.get(stack));
                self.facts.undefined_ids += u64::from(init.stack.is_some() && stack.is_none());
                let thread = init.thread.map(|thread| self.symbols.thread(thread));
                self.initialisers.add(init, thread, stack, init.time.since(origin));
            }
            Element::FailedLookup(lookups) => {
                let stack = lookups.stack.and_then(|stack| self.stacks.get(stack));
                self.facts.undefined_ids += u64::from(lookups.stack.is_some() && stack.is_none());
                self.lookups.set(stack, lookups.count);
            }
            Element::CpuSample(sample) => {
                if let Some(stack) = sample.stack {
                    let kind = self.kinds.get(&stack).copied().filter(|_| sample.function.is_none());
                    self.code.add(sample.time.since(origin), kind.unwrap_or(CodeKind::Native), sample.cpu);
                }
            }
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name);
            }
            Element::StackDef(stack) => self.define_stack(stack),
            _ => {}
        }
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        if let Some(types) = &stack.types {
            self.kinds.insert(stack.stack_id, CodeKind::of_stack(types));
        }
        self.stacks.define(stack.stack_id, self.symbols.sites(&stack.frames));
    }

    /// Ends a document: all ids lose their meaning.
    pub fn end_document(&mut self) {
        self.facts.documents += 1;
        self.kinds.clear();
        self.lookups.end_document();
        self.stacks.end_document();
        self.symbols.end_document();
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> WarmUpReport {
        self.facts.undefined_ids += self.symbols.undefined();
        WarmUpReport::new(self)
    }
}

impl Default for WarmUpStats {
    fn default() -> Self {
        Self::new()
    }
}

/// A part of a time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: Nanos,
    until: Nanos,
}
