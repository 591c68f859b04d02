//! What is missing or wrong in what a trace says about the start.

use analysis::warm_up::WarmUpReport;

use super::{of_any, recorded};
use crate::input::reading::Reading;
use crate::render::human::counted;

/// What is missing or wrong in what a trace says about the start; one sentence each.
pub(crate) fn of_warm_up(reading: &Reading<WarmUpReport>) -> Vec<String> {
    let report = &reading.report;
    let mut notes = Vec::new();
    if report.is_empty() {
        let why = match recorded::warm_up(report.facts()) {
            Some(true) => "the JVM was too short or said nothing",
            Some(false) | None => "it was recorded without warmup=on (martini run --warmup)",
        };
        notes.push(format!("the trace has nothing of the start: {why}"));
    } else {
        if !report.has_counters() {
            notes.push(
                "this JVM has no counters of its own (-XX:-UsePerfData), so times by cause are not known".to_owned(),
            );
        }
        let left_out = report.loads_left_out();
        if left_out > 0 {
            let classes = counted(left_out, "class is", "classes are");
            notes.push(format!("{classes} missing from the table of classes in no archive: too many"));
        }
        if report.code().samples == 0 {
            notes.push("how much code was interpreted is not recorded (cpu=10ms)".to_owned());
        }
    }
    notes.extend(of_any(reading));
    notes
}
