//! What methods cost, by their entries and exits: calls, base time, cumulative time, and the tree of calls.
//!
//! Calls are added up when they end, so that memory grows with the open calls, the methods, and the different paths of calls, not with the
//! trace. Real traces have clocks that run back, exits without entry and calls without exit: each is counted in [`Faults`].

mod books;
mod clock;
mod faults;
mod nodes;
mod open;
mod report;
mod subject;
mod tree;

use rustc_hash::FxHashMap;
use trace::filter::Pattern;
use trace::ids::{MethodId, ThreadId};
use trace::model::{AgMethodEntry, Element, MethodEntry, MethodExit};
use trace::time::{Nanos, Time};

use crate::facts::Facts;
use crate::symbols::Symbols;
use books::Books;
use open::{Added, ThreadCalls};

pub use faults::Faults;
pub use report::ExecutionReport;
pub use subject::{CallBy, CallRow, CallSubject};

/// Which calls count.
#[derive(Clone, Debug, Default)]
pub struct CallSelection {
    /// Only those of this document, the first of which has 1; those of all together if it is `None`.
    pub document: Option<u64>,
    /// Only those of this code, and what it calls; all if there are none.
    pub code: Vec<Pattern>,
    /// In tables only calls of methods of these classes; all if there are none.
    pub classes: Vec<Pattern>,
}

/// Gathers the calls of a trace, element by element.
#[derive(Clone, Debug, Default)]
pub struct ExecutionStats {
    selection: CallSelection,
    symbols: Symbols,
    facts: Facts,
    books: Books,
    threads: FxHashMap<ThreadId, ThreadCalls>,
    /// Documents that ended, whether they count or not.
    documents: u64,
    /// The latest time of this document.
    end: Time,
}

impl ExecutionStats {
    /// Statistics of nothing yet.
    pub fn new(selection: CallSelection) -> Self {
        ExecutionStats { selection, ..Self::default() }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        if !self.is_selected() {
            return;
        }
        self.facts.note(element);
        self.end = self.end.max(element.event_time().unwrap_or_default());
        match element {
            Element::ClassDef(_) | Element::MethodDef(_) => {
                self.symbols.define_code(element);
            }
            Element::ThreadStart(thread) => {
                // The id is a new thread's.
                self.end_thread(thread.thread_id, Time(0));
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name);
            }
            Element::ThreadEnd(thread) => self.end_thread(thread.thread, thread.time),
            Element::MethodEntry(entry) => self.enter(entry),
            Element::MethodExit(exit) => self.exit(exit),
            Element::AgMethodEntry(entry) => self.enter_added(entry),
            Element::AgMethodExit(exit) => self.exit_added(exit.thread, exit.method),
            _ => {}
        }
    }

    /// Ends a document: calls that are open end with it, and all ids lose their meaning.
    pub fn end_document(&mut self) {
        if self.is_selected() {
            self.facts.documents += 1;
            for (_, mut thread) in self.threads.drain() {
                thread.end(self.end, &mut self.books);
            }
            self.symbols.end_document();
            self.end = Time(0);
        }
        self.documents += 1;
    }

    /// What the documents that ended say.
    pub fn finish(mut self) -> ExecutionReport {
        self.facts.undefined_ids += self.symbols.undefined();
        if self.facts.documents == 0 {
            // One that is not there was asked for; that is no trace without documents.
            self.facts.documents = self.documents;
        }
        ExecutionReport::new(self.symbols, self.facts, self.books, self.documents)
    }

    fn is_selected(&self) -> bool {
        self.selection.document.is_none_or(|wanted| wanted == self.documents.saturating_add(1))
    }

    fn enter(&mut self, entry: &MethodEntry) {
        let site = self.symbols.site(entry.method, None);
        self.books.learn(site, &self.symbols, &self.selection);
        let thread = thread(&mut self.threads, &mut self.symbols, entry.thread);
        thread.advance(entry.time, &mut self.books.faults);
        thread.enter(site, entry.ticket, entry.time, None, &mut self.books);
    }

    fn exit(&mut self, exit: &MethodExit) {
        let site = self.symbols.site(exit.method, None);
        let thread = thread(&mut self.threads, &mut self.symbols, exit.thread);
        thread.advance(exit.time, &mut self.books.faults);
        thread.exit(site, exit.ticket, exit.time, exit.overhead.unwrap_or_default(), &mut self.books);
    }

    fn enter_added(&mut self, entry: &AgMethodEntry) {
        let site = self.symbols.site(entry.method, None);
        self.books.learn(site, &self.symbols, &self.selection);
        let thread = thread(&mut self.threads, &mut self.symbols, entry.thread);
        self.books.faults.without_numbers += u64::from(entry.calls.is_none() || entry.base.is_none());
        let added = Added { calls: entry.calls.unwrap_or(0), base: entry.base.unwrap_or_default() };
        thread.enter(site, None, Time(0), Some(added), &mut self.books);
    }

    fn exit_added(&mut self, id: ThreadId, method: MethodId) {
        let site = self.symbols.site(method, None);
        let thread = thread(&mut self.threads, &mut self.symbols, id);
        thread.exit(site, None, Time(0), Nanos(0), &mut self.books);
    }

    /// Ends a thread, of which nothing may be known.
    fn end_thread(&mut self, id: ThreadId, time: Time) {
        if let Some(mut thread) = self.threads.remove(&id) {
            thread.end(time, &mut self.books);
        }
    }
}

/// The calls of a thread.
fn thread<'t>(
    threads: &'t mut FxHashMap<ThreadId, ThreadCalls>,
    symbols: &mut Symbols,
    id: ThreadId,
) -> &'t mut ThreadCalls {
    threads.entry(id).or_insert_with(|| ThreadCalls::new(symbols.thread(id)))
}
