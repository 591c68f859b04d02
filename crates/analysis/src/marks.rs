//! The marks of a trace: when methods that the user named were entered for the first time.

use trace::model::Element;
use trace::time::Nanos;

use crate::facts::Facts;
use crate::window::{Clock, Scope};

/// At most so many are kept; a hostile trace may hold millions.
const MAX_MARKS: usize = 1000;

/// A method that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedMethod {
    /// Its class and name.
    pub method: String,
    /// When, after the beginning of the trace.
    pub at: Nanos,
}

/// Gathers the marks of a trace.
#[derive(Debug, Default)]
pub struct MarkStats {
    clock: Clock,
    report: MarkReport,
}

/// The marks of a trace.
#[derive(Debug, Default)]
pub struct MarkReport {
    marks: Vec<MarkedMethod>,
    facts: Facts,
}

impl MarkStats {
    /// Of a whole trace.
    pub fn new() -> MarkStats {
        MarkStats { clock: Clock::of(&Scope::default()), ..MarkStats::default() }
    }

    /// Takes in the next element of the document.
    pub fn element(&mut self, element: &Element<'_>) {
        self.clock.note(element);
        self.report.facts.note(element);
        if let Element::Mark(mark) = element
            && self.report.marks.len() < MAX_MARKS
        {
            let at = mark.time.since(self.clock.origin());
            self.report.marks.push(MarkedMethod { method: mark.method.to_string(), at });
        }
    }

    /// Ends a document.
    pub fn end_document(&mut self) {
        self.report.facts.documents += 1;
    }

    /// What the documents that ended say.
    pub fn finish(self) -> MarkReport {
        self.report
    }
}

impl MarkReport {
    /// The marks, in the order of the trace.
    pub fn marks(&self) -> &[MarkedMethod] {
        &self.marks
    }

    /// What is known of any trace.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }
}
