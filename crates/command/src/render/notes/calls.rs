//! The sums of calls in a sentence, and what is missing or wrong in them.

use analysis::execution::{CallBy, ExecutionReport, Faults};

use super::{completeness, counters};
use crate::input::reading::Reading;
use crate::render::human::{counted, duration};

/// The sums of calls in a sentence.
pub(crate) fn calls_summary(report: &ExecutionReport) -> String {
    let (calls, base) = report.sum();
    let rows = |by: CallBy, one: &str, many: &str| counted(report.rows(by).len() as u64, one, many);
    let methods = rows(CallBy::Method, "method", "methods");
    let threads = rows(CallBy::Thread, "thread", "threads");
    format!("{} of {methods} on {threads}: {}", counted(calls, "call", "calls"), duration(base))
}

/// What is missing or wrong in calls; one sentence each.
pub(crate) fn of_calls(reading: &Reading<ExecutionReport>) -> Vec<String> {
    let report = &reading.report;
    let facts = report.facts();
    let mut notes = Vec::new();
    if facts.calls == 0 {
        notes.push("the trace has no calls of methods; Martini records none, only old TPTP profilers did".to_owned());
    }
    if facts.documents > 1 {
        let documents = counted(facts.documents, "document", "documents");
        notes.push(format!("the numbers are those of {documents} together; --document 1 shows the first alone"));
    }
    if facts.is_filtered && facts.calls > 0 {
        notes.push(
            "filters left classes out of the trace; their time is base time of the methods that call them".to_owned(),
        );
    }
    if report.overhead().0 > 0 {
        let (all, taken) = (duration(report.overhead()), duration(report.overhead_taken_off()));
        notes.push(format!(
            "the profiler says that it took {all} itself inside calls; {taken} is taken off their times, as far as none \
             becomes less than 0"
        ));
    }
    notes.extend(faults(report.faults()));
    notes.extend(completeness(reading));
    notes.extend(counters::notes(&facts.counts, |_| true));
    notes
}

/// What was wrong with the calls, and what was made of it; one sentence each.
pub(crate) fn faults(faults: &Faults) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |number: u64, one: &str, many: &str, what: &str| {
        if number > 0 {
            notes.push(format!("{} {what}", counted(number, one, many)));
        }
    };
    let back = duration(faults.furthest_back);
    add(
        faults.backwards,
        "entry or exit is",
        "entries and exits are",
        &format!("earlier than the one before on the same thread, by at most {back}; each counts as at the same time"),
    );
    add(faults.set_back, "clock was", "times a clock was", "set back by more than a second, and goes on from there");
    add(faults.negative, "call ends", "calls end", "before they begin, by the trace; no time is less than 0");
    add(faults.without_time, "entry or exit has", "entries and exits have", "no time");
    add(faults.without_entry, "exit has", "exits have", "no entry in the trace (left out)");
    add(faults.of_others, "exit is", "exits are", "of a method that was not entered (left out)");
    add(
        faults.misnamed,
        "exit names",
        "exits name",
        "another method than the entry with the same ticket, which is right",
    );
    add(faults.unwound, "call has", "calls have", "no exit; the time counts up to the end of the caller");
    add(faults.open, "call has", "calls have", "no exit; the time counts up to the end of the thread or the document");
    add(
        faults.without_numbers,
        "aggregated call does",
        "aggregated calls do",
        "not say how many calls there were and how long they took",
    );
    add(
        faults.merged,
        "call is",
        "calls are",
        "not in the tree, which has no more room; their time is that of the caller",
    );
    notes
}
