//! What is missing or wrong in what a trace says about safepoints.

use analysis::safepoints::SafepointReport;

use super::{of_any, recorded};
use crate::input::reading::Reading;
use crate::render::human::{counted, duration, percent};

/// What is missing or wrong in what a trace says about safepoints; one sentence each.
pub(crate) fn of_safepoints(reading: &Reading<SafepointReport>) -> Vec<String> {
    let report = &reading.report;
    let slow = report.slow();
    let mut notes = Vec::new();
    if report.sums().count == 0 && slow.count == 0 {
        let why = match recorded::safepoints(report.facts()) {
            Some(true) => "none was reached",
            Some(false) => "it was recorded without ttsp=on (martini run --ttsp)",
            None => "it was recorded without ttsp=on (martini run --ttsp), or none was reached",
        };
        notes.push(format!("the trace has no safepoints: {why}"));
    }
    if report.unseen().0 > 0 {
        notes.push(format!(
            "for {} ({}) no late thread was seen: the JVM hides some threads, or the watching thread itself had no processor",
            duration(report.unseen()),
            percent(report.unseen().0, slow.sync.0)
        ));
    }
    if report.unmatched() > 0 {
        notes.push(format!(
            "{} in no safepoint of the trace; not counted",
            counted(report.unmatched(), "late thread is", "late threads are")
        ));
    }
    notes.extend(of_any(reading));
    notes
}
