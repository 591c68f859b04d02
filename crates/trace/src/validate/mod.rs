//! Checks what a schema cannot say: order, definitions before uses, pairs, times.
//!
//! Works on the stream of events, in memory that grows with what lives at a time in the trace.

mod counts;
mod definitions;
mod document;
mod id_set;
mod order;
mod pairs;
mod rules;
mod times;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use crate::model::Element;
use crate::reader::{DocumentEnd, Event, Position, ReadError, TraceReader};

use document::Document;
pub use rules::{Profile, Rule};

/// How many violations a report describes by default; the rest is counted.
pub const DEFAULT_LIMIT: usize = 100;

/// Maximum number of element names in a report.
const MAX_NAMES: usize = 256;

const BEGINNING: Position = Position { offset: 0, line: 1 };

/// One thing that a trace does wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule it breaks.
    pub rule: Rule,
    /// Number of the document in the trace, from 1; 0 before the first.
    pub document: u64,
    /// Where: the element, or for what is missing the last element before.
    pub at: Position,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, document, at, text } = self;
        if *document > 1 {
            write!(f, "document {document}, ")?;
        }
        write!(f, "{at}: {text} [{rule}]")
    }
}

/// What an importer that knows the elements of TPTP alone makes of a trace. It reads each element by itself, skips what it does not
/// know, and what refers to an id that it has not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Elements that it skips, by name: how many, and where the first is.
    pub skipped: BTreeMap<String, (u64, Position)>,
    /// References of the others to ids that are not defined, and where the first is.
    pub unresolved: Option<(u64, Position)>,
}

/// What a validator found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The first violations, in the order of the trace.
    pub violations: Vec<Violation>,
    /// How often each rule was broken.
    pub broken: BTreeMap<Rule, u64>,
    /// How often each element occurs. Names beyond a few hundred are counted as `...`.
    pub elements: BTreeMap<String, u64>,
    /// Documents in the trace.
    pub documents: u64,
    /// Those among them without an end.
    pub truncated: u64,
    /// What an importer of TPTP's would make of the trace.
    pub imported: Imported,
}

impl Report {
    /// Whether no rule was broken.
    pub fn is_valid(&self) -> bool {
        self.broken.is_empty()
    }

    /// How many violations there are, described or not.
    pub fn total(&self) -> u64 {
        self.broken.values().sum()
    }
}

/// Checks a stream of events.
#[derive(Debug)]
pub struct Validator {
    document: Document,
    findings: Findings,
}

impl Validator {
    /// A validator that describes the first `limit` violations and counts the others.
    pub fn new(profile: Profile, limit: usize) -> Self {
        Self {
            document: Document::default(),
            findings: Findings { profile, limit, report: Report::default(), at: BEGINNING, is_skipped: false },
        }
    }

    /// Takes the next event of the trace.
    pub fn event(&mut self, event: &Event<'_>) {
        let findings = &mut self.findings;
        match event {
            Event::DocumentStart { .. } => {
                self.document = Document::default();
                findings.at = BEGINNING;
                findings.report.documents += 1;
            }
            Event::Element { element, at, irregularities } => {
                findings.at = *at;
                findings.count(element.name());
                findings.is_skipped = element.is_addition() || matches!(element, Element::Other(_));
                if findings.is_skipped {
                    findings.skip(element.name());
                }
                self.document.element(element, *irregularities, findings);
            }
            Event::DocumentEnd(DocumentEnd::Complete) => self.document.end(findings),
            Event::DocumentEnd(end) => {
                findings.report.truncated += 1;
                findings.add(Rule::Ending, || match end {
                    DocumentEnd::Cut { .. } => "the document is cut off inside an element".to_owned(),
                    _ => "the end tag of the document is missing".to_owned(),
                });
            }
        }
    }

    /// Takes an error that the reader gave in place of an event.
    pub fn error(&mut self, error: &ReadError) {
        let mut text = error.to_string();
        if let ReadError::Malformed { at, .. } | ReadError::TagTooLong { at, .. } = error {
            self.findings.at = *at;
            // The violation has the place itself.
            text = text.trim_start_matches(&format!("{at}: ")).to_owned();
        }
        self.findings.add(Rule::Readable, || text);
    }

    /// The report on everything so far.
    pub fn finish(self) -> Report {
        self.findings.report
    }
}

/// Checks everything that a reader delivers. `progress` is called regularly with the reader.
pub fn validate<R: Read>(
    reader: &mut TraceReader<R>,
    mut validator: Validator,
    mut progress: impl FnMut(&TraceReader<R>),
) -> Report {
    /// Rarely enough to cost nothing, often enough for a progress bar.
    const EVENTS_BETWEEN: u32 = 1 << 16;
    let mut events = 0_u32;
    loop {
        let more = reader.next_events(|event| {
            validator.event(&event);
            events += 1;
            true
        });
        match more {
            Ok(true) => {}
            Ok(false) => return validator.finish(),
            Err(error) => validator.error(&error),
        }
        if events >= EVENTS_BETWEEN {
            events = 0;
            progress(reader);
        }
    }
}

/// Where the checks put what they find.
#[derive(Debug)]
struct Findings {
    profile: Profile,
    limit: usize,
    report: Report,
    at: Position,
    /// An importer of TPTP's does not know the element.
    is_skipped: bool,
}

impl Findings {
    fn is_strict(&self) -> bool {
        self.profile == Profile::Strict
    }

    /// Notes a violation; the text is only made if it will be kept.
    fn add(&mut self, rule: Rule, text: impl FnOnce() -> String) {
        if rule == Rule::DefineBeforeUse && !self.is_skipped {
            self.report.imported.unresolved.get_or_insert((0, self.at)).0 += 1;
        }
        if !rule.holds_in(self.profile) {
            return;
        }
        *self.report.broken.entry(rule).or_default() += 1;
        if self.report.violations.len() < self.limit {
            let violation = Violation { rule, document: self.report.documents, at: self.at, text: text() };
            self.report.violations.push(violation);
        }
    }

    fn skip(&mut self, name: &str) {
        let skipped = &mut self.report.imported.skipped;
        let name = if skipped.len() < MAX_NAMES || skipped.contains_key(name) { name } else { "..." };
        skipped.entry(name.chars().take(64).collect()).or_insert((0, self.at)).0 += 1;
    }

    fn count(&mut self, name: &str) {
        let elements = &mut self.report.elements;
        if let Some(count) = elements.get_mut(name) {
            *count += 1;
            return;
        }
        let name = if elements.len() < MAX_NAMES { name } else { "..." };
        *elements.entry(name.chars().take(64).collect()).or_default() += 1;
    }
}
