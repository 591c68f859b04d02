//! Safepoints: how long the VM took until all threads had stopped, for which operation, and which threads were late.
//!
//! The VM's own log gives exact totals. A stop that took long is in the trace with the threads that were seen while the VM waited for
//! them; `looks` divides its time among them. Memory grows with the stacks of late threads, not with the trace.

mod cells;
mod looks;
mod report;
mod rows;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trace::ids::FunctionId;
use trace::model::{Element, LateThread, Safepoint, SafepointCount, StackDef};
use trace::time::Nanos;

use crate::facts::Facts;
use crate::stacks::Stacks;
use crate::symbols::Symbols;
use cells::{CellKey, Cells};
use looks::{Late, Looks};

pub use report::{Operation, SafepointReport};
pub use rows::{LateBy, LateInside, LateRow, LateSubject};

/// The VM has some hundred operations. What is beyond that is added to one without name.
const MOST_OPERATIONS: usize = 1000;
/// So many names of functions, and reasons for missing stacks, are kept.
const MOST_TEXTS: usize = 1 << 16;

/// What stops for one operation cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopSums {
    /// How often all threads were stopped.
    pub count: u64,
    /// How long it took until all had stopped.
    pub sync: Nanos,
    /// How long in all, until they were let go.
    pub total: Nanos,
}

impl StopSums {
    fn add(&mut self, other: StopSums) {
        self.count = self.count.saturating_add(other.count);
        self.sync.0 = self.sync.0.saturating_add(other.sync.0);
        self.total.0 = self.total.0.saturating_add(other.total.0);
    }
}

/// Stops that took long to reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowSums {
    /// How many.
    pub count: u64,
    /// How long they took to reach.
    pub sync: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// What is known of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct OperationSums {
    /// In the documents that ended.
    ended: StopSums,
    /// In this one: cumulative.
    current: StopSums,
    slow: SlowSums,
}

/// Gathers what a trace says about safepoints, element by element.
#[derive(Clone, Debug, Default)]
pub struct SafepointStats {
    facts: Facts,
    symbols: Symbols,
    stacks: Stacks,
    texts: Texts,
    function_ids: FxHashMap<FunctionId, TextIndex>,
    operations: BTreeMap<Option<Box<str>>, OperationSums>,
    /// The slow stop that is being read, with its late threads.
    stop: Option<Nanos>,
    looks: Looks,
    cells: Cells,
    /// Time of slow stops for which no late thread was seen.
    unseen: Nanos,
    /// Late threads of no slow stop.
    unmatched: u64,
}

/// Number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct TextIndex(u32);

/// Names of functions with their libraries, and reasons, each once.
#[derive(Clone, Debug, Default)]
struct Texts {
    texts: Vec<Box<str>>,
    index: FxHashMap<Box<str>, TextIndex>,
}

impl Texts {
    fn intern(&mut self, text: &str) -> TextIndex {
        let text = if self.texts.len() < MOST_TEXTS { text } else { "..." };
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let new = TextIndex(self.texts.len() as u32);
        self.texts.push(text.into());
        self.index.insert(text.into(), new);
        new
    }

    fn get(&self, index: TextIndex) -> &str {
        &self.texts[index.0 as usize]
    }
}

impl SafepointStats {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.facts.note(element);
        match element {
            Element::SafepointCount(count) => self.count(count),
            Element::Safepoint(stop) => self.slow_stop(stop),
            Element::LateThread(late) => self.late_thread(late),
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name);
            }
            Element::FunctionDef(function) => {
                let library = function.library.as_deref().map_or(String::new(), |library| format!(" ({library})"));
                let text = self.texts.intern(&format!("{}{library}", function.name));
                self.function_ids.insert(function.function_id, text);
            }
            Element::StackDef(stack) => self.define_stack(stack),
            _ => {}
        }
    }

    /// Ends a document: all ids lose their meaning, and its counts are final.
    pub fn end_document(&mut self) {
        self.end_stop();
        self.facts.documents += 1;
        for sums in self.operations.values_mut() {
            sums.ended.add(std::mem::take(&mut sums.current));
        }
        self.function_ids.clear();
        self.stacks.end_document();
        self.symbols.end_document();
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> SafepointReport {
        self.facts.undefined_ids += self.symbols.undefined();
        SafepointReport::new(self)
    }

    fn operation(&mut self, name: Option<&str>) -> &mut OperationSums {
        let key: Option<Box<str>> = name.map(Into::into);
        let is_known = self.operations.contains_key(&key) || self.operations.len() < MOST_OPERATIONS;
        self.operations.entry(key.filter(|_| is_known)).or_default()
    }

    fn count(&mut self, count: &SafepointCount<'_>) {
        let sums = StopSums { count: count.count, sync: count.sync, total: count.total };
        self.operation(count.operation.as_deref()).current = sums;
    }

    fn slow_stop(&mut self, stop: &Safepoint<'_>) {
        self.end_stop();
        let slow = &mut self.operation(stop.operation.as_deref()).slow;
        slow.count += 1;
        slow.sync.0 = slow.sync.0.saturating_add(stop.sync.0);
        slow.longest = slow.longest.max(stop.sync);
        self.stop = Some(stop.sync);
    }

    fn late_thread(&mut self, late: &LateThread<'_>) {
        // It stands behind its stop.
        if self.stop.is_none_or(|sync| late.late > sync) {
            self.unmatched += 1;
            return;
        }
        let function = late.function.and_then(|function| self.function_ids.get(&function).copied());
        self.facts.undefined_ids += u64::from(late.function.is_some() && function.is_none());
        let stack = late.stack.and_then(|stack| self.stacks.get(stack));
        self.facts.undefined_ids += u64::from(late.stack.is_some() && stack.is_none());
        let key = CellKey {
            thread: self.symbols.thread(late.thread),
            stack,
            function,
            lost: late.lost.as_deref().map(|lost| self.texts.intern(lost)),
        };
        if !self.looks.add(Late { late: late.late, key }) {
            self.unmatched += 1;
        }
    }

    /// Divides the time of the stop that was read among its late threads.
    fn end_stop(&mut self) {
        if let Some(sync) = self.stop.take() {
            let unseen = self.looks.divide(sync, &mut self.cells);
            self.unseen.0 = self.unseen.0.saturating_add(unseen.0);
        }
    }

    fn define_stack(&mut self, stack: &StackDef<'_>) {
        self.stacks.define(stack.stack_id, self.symbols.sites(&stack.frames));
    }
}
