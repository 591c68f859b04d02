//! The finished sums of calls, with names.

use trace::time::Nanos;

use super::books::Books;
use super::faults::Faults;
use super::subject::{CallBy, CallRow, CallSubject, Key, Totals, add};
use crate::allocations::ThreadSubject;
use crate::facts::Facts;
use crate::symbols::{Symbols, ThreadIndex};

/// The calls of one trace.
#[derive(Debug)]
pub struct ExecutionReport {
    pub(super) symbols: Symbols,
    pub(super) books: Books,
    facts: Facts,
    documents: u64,
}

impl ExecutionReport {
    pub(super) fn new(symbols: Symbols, facts: Facts, books: Books, documents: u64) -> Self {
        ExecutionReport { symbols, books, facts, documents }
    }

    /// What the trace held besides calls, and what was wrong with it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What was wrong with the calls.
    pub fn faults(&self) -> &Faults {
        &self.books.faults
    }

    /// How many documents the trace has, whether they count or not.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// What the profiler says that it took itself.
    pub fn overhead(&self) -> Nanos {
        self.books.overhead.0
    }

    /// What of that was taken off the times of calls: none becomes shorter than 0.
    pub fn overhead_taken_off(&self) -> Nanos {
        self.books.overhead.1
    }

    /// Whether there is any call.
    pub fn has_calls(&self) -> bool {
        self.books.totals.values().any(|totals| totals.calls > 0)
    }

    /// How many calls there were, and how long they took without each other: on all threads together.
    pub fn sum(&self) -> (u64, Nanos) {
        let threads = self.books.totals.iter().filter(|(key, _)| key.by() == CallBy::Thread);
        threads.fold((0_u64, Nanos(0)), |(calls, mut base), (_, totals)| {
            add(&mut base, totals.base);
            (calls.saturating_add(totals.calls), base)
        })
    }

    /// The rows of a table, those of most base time first.
    pub fn rows(&self, by: CallBy) -> Vec<CallRow<'_>> {
        let packages = self.books.package_names();
        let row = |(&key, totals): (&Key, &Totals)| {
            let subject = match key {
                Key::Method(site) => CallSubject::Method(self.symbols.location(site)),
                Key::Class(class) => CallSubject::Class(&self.symbols.class_name(class).name),
                Key::Package(package) => CallSubject::Package(packages.get(&package).copied().unwrap_or_default()),
                Key::Thread(thread) => CallSubject::Thread(self.thread(thread)),
            };
            totals.row(subject)
        };
        let mut rows: Vec<CallRow<'_>> = self.books.totals.iter().filter(|(key, _)| key.by() == by).map(row).collect();
        rows.sort_by(|a, b| (b.base, b.calls).cmp(&(a.base, a.calls)).then_with(|| a.subject.cmp(&b.subject)));
        rows
    }

    pub(super) fn thread(&self, index: ThreadIndex) -> ThreadSubject<'_> {
        let thread = self.symbols.thread_name(index);
        ThreadSubject { name: &thread.name, group: &thread.group, id: thread.id, rank: index.rank() }
    }
}
