//! A trace is read once: by the validator, and by whoever wants something of it.

use std::path::Path;

use trace::model::Element;
use trace::reader::{DocumentEnd, Event, TraceReader};
use trace::validate::{Profile, Rule, Validator};

/// What a test wants of a trace.
pub trait TraceData: Default {
    /// Takes the next element.
    fn element(&mut self, element: &Element<'_>);

    /// Takes note of whether the trace ended as it should.
    fn end(&mut self, _is_complete: bool) {}
}

/// Nothing: the trace is only judged.
impl TraceData for () {
    fn element(&mut self, _element: &Element<'_>) {}
}

/// What the validator has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Nothing wrong: definitions before use, no use of the dead, collections in pairs, times in order, an end.
    Valid,
    /// Nothing but that the end is missing; the last element is whole.
    Unfinished,
    /// Nobody asks it.
    NotJudged,
    /// The trace is not even read.
    NotRead,
}

/// Reads a trace of one document.
///
/// # Panics
/// If it cannot be read, ends inside an element, or is not as expected.
#[track_caller]
pub fn trace<T: TraceData>(file: &Path, mut data: T, judged: Judged) -> T {
    if judged == Judged::NotRead {
        return data;
    }
    let mut reader = TraceReader::open(file).unwrap_or_else(|e| panic!("{e}"));
    let mut validator = (judged != Judged::NotJudged).then(|| Validator::new(Profile::Strict, 20));
    while let Some(event) = reader.next_event().unwrap_or_else(|e| panic!("{}: {e}", file.display())) {
        if let Some(validator) = &mut validator {
            validator.event(&event);
        }
        match event {
            Event::Element { element, .. } => data.element(&element),
            Event::DocumentStart { .. } => {}
            Event::DocumentEnd(DocumentEnd::Cut { bytes }) => {
                panic!("{} ends with {bytes} bytes of an element", file.display())
            }
            Event::DocumentEnd(end) => data.end(!end.is_truncated()),
        }
    }
    let Some(validator) = validator else { return data };
    let report = validator.finish();
    let is_waived = |rule: &Rule| judged == Judged::Unfinished && *rule == Rule::Ending;
    let violations = report.violations.iter().filter(|v| !is_waived(&v.rule)).map(ToString::to_string);
    let violations: Vec<String> = violations.collect();
    assert!(report.broken.keys().all(is_waived), "{}:\n{}", file.display(), violations.join("\n"));
    let is_ended = !report.broken.contains_key(&Rule::Ending);
    assert!(is_ended == (judged == Judged::Valid), "{} has an end that nobody can have written", file.display());
    data
}
