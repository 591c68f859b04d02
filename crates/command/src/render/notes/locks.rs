//! What is missing or wrong in what a trace or a lock log says about threads and locks.

use analysis::locks::{LockReport, WaitProblems};

use super::{completeness, counters, recorded};
use crate::input::reading::Reading;
use crate::render::human::counted;

/// What is missing or wrong in the numbers; one sentence each.
pub(crate) fn of_locks(reading: &Reading<LockReport>) -> Vec<String> {
    let report = &reading.report;
    let WaitProblems { without_begin, without_end, shared_names } = report.problems();
    let mut notes = Vec::new();
    let [blocked, waiting, parked, sleeping] = report.stalls().map(|stall| stall.count);
    if blocked + waiting + parked == 0 && without_begin == 0 {
        notes.push(match report.is_log() {
            true => "no thread waited in this log".to_owned(),
            false if sleeping > 0 && recorded::locks(report.facts()) != Some(false) => {
                "no thread waited for another: no contention in what is selected".to_owned()
            }
            false => match recorded::locks(report.facts()) {
                Some(true) => "no thread waited for another: no contention in what is selected".to_owned(),
                Some(false) => {
                    "the trace has no waits: it was recorded without locks=on (martini run --locks)".to_owned()
                }
                None if report.facts().calls > 0 => {
                    "the trace has calls of methods, and no waits: it was recorded without the lock profiler (calls: \
                         martini stats)"
                        .to_owned()
                }
                None => {
                    "no thread waited in this trace: no contention in what is selected, or it was recorded without \
                         the lock profiler"
                        .to_owned()
                }
            },
        });
    }
    if report.is_log() {
        notes.push("a lock log has neither the monitor nor its owner; a trace has both".to_owned());
        notes.extend(log_completeness(reading));
    } else {
        notes.extend(completeness(reading));
    }
    if without_begin > 0 {
        let ends = counted(without_begin, "wait has", "waits have");
        notes.push(format!("{ends} an end but no beginning, probably before the recording; not counted"));
    }
    if without_end > 0 {
        let begins = counted(without_end, "wait has", "waits have");
        notes.push(format!("{begins} a beginning but no end; counted until the thread did something else"));
    }
    if shared_names > 0 {
        notes.push(format!(
            "{} a thread blocked while another of the same name was blocked; which of them continued first is unknown, so \
             single waits may be wrong; totals are right",
            counted(shared_names, "time", "times")
        ));
    }
    notes.extend(counters::notes(&report.facts().counts, |_| true));
    notes
}

fn log_completeness(reading: &Reading<LockReport>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(broken) = &reading.broken {
        notes.push(format!("only a part of the log could be read: {broken}"));
    }
    if reading.is_log_cut {
        notes.push("the log ends inside a line, whose last name may be cut off".to_owned());
    }
    if reading.malformed > 0 {
        let lines = counted(reading.malformed, "line is malformed and", "lines are malformed and");
        let first = reading.first_malformed.as_deref().unwrap_or_default();
        notes.push(format!("{lines} not counted; the first is {first}"));
    }
    notes
}
