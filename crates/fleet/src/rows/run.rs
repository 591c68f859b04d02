//! The run itself, and how complete its numbers are.

use analysis::coverage::WhyUnknown;
use analysis::cpu;
use analysis::explain::TraceReport;
use trace::time::Time;

use super::FIRST_BATCH;
use crate::columns::{Rows, row};
use crate::content::ContentId;
use crate::labels::Resolved;
use crate::recording::Recording;
use crate::schema::{COVERAGE, RUN, VERSION};

/// When a trace begins.
pub(crate) fn begin(report: &TraceReport) -> Time {
    report.allocations.beginning()
}

/// The id of a recording: of its host, process, options and beginning. Half a trace has that of the whole one.
pub(crate) fn recording_id(report: &TraceReport) -> i64 {
    let origin = report.locks.facts().origins.first().cloned().unwrap_or_default();
    let begin = begin(report).0;
    ContentId::of(format!("{}\0{}\0{}\0{begin}", origin.host, origin.pid, origin.parameters).as_bytes()).id
}

pub(crate) fn run(recording: &Recording<'_>, recording_id: i64, labels: &Resolved) -> Rows {
    let report = recording.report;
    let facts = report.locks.facts();
    let origin = facts.origins.first().cloned().unwrap_or_default();
    let known = |text: String| Some(text).filter(|text| !text.is_empty());
    let allocations = &report.allocations;
    let engine = match (allocations.has_objects(), allocations.is_counted(), allocations.is_sampled()) {
        (false, ..) => None,
        (_, true, _) => Some("counts"),
        (_, _, true) => Some("sampled"),
        _ => Some("events"),
    };
    let begin = begin(report);
    let (content, bytes) = recording.content;
    let mut rows = Rows::new(&RUN);
    rows.push(row![
        content.id,
        FIRST_BATCH,
        content.check,
        recording_id,
        &*labels.release,
        labels.host.clone(),
        labels.pod.clone(),
        origin.pid,
        known(origin.version),
        known(origin.java_version),
        known(origin.parameters),
        known(origin.command),
        origin.imported_from,
        begin,
        super::after(begin, allocations.length()),
        allocations.length(),
        engine,
        recording.is_read && facts.ended == facts.documents,
        bytes,
        facts.elements,
        VERSION,
    ]);
    rows
}

pub(crate) fn coverage(run: i64, report: &TraceReport, is_read: bool) -> Rows {
    let mut rows = Rows::new(&COVERAGE);
    let none = None::<u64>;
    if report.allocations.has_objects() {
        let coverage = report.allocations.coverage(is_read);
        let seen = coverage.accounted.saturating_sub(coverage.missing);
        let (seen, accounted, why) = match &coverage.why_unknown {
            None => (Some(seen), Some(coverage.accounted), None),
            Some(why) => (None, None, Some(words(why))),
        };
        rows.push(row![run, FIRST_BATCH, "allocations", why, seen, accounted, none]);
    }
    if report.cpu.sum().0 > 0 {
        let conservation = report.cpu.conservation(is_read);
        let (seen, accounted, why) = match conservation.why_unknown {
            None => (Some(conservation.found), Some(conservation.clocks), None),
            Some(why) => (None, None, Some(cpu_words(why))),
        };
        rows.push(row![run, FIRST_BATCH, "cpu", why, seen, accounted, none]);
    }
    for count in &report.locks.facts().counts {
        rows.push(row![run, FIRST_BATCH, &*count.key, count.detail.as_deref(), none, none, count.value]);
    }
    rows
}

fn words(why: &WhyUnknown) -> &'static str {
    match why {
        WhyUnknown::Window => "window",
        WhyUnknown::Sampled => "sampled",
        WhyUnknown::NoAccounts => "no accounts",
        WhyUnknown::Unavailable(_) => "unavailable",
        WhyUnknown::CutOff => "cut off",
        WhyUnknown::Limited => "limited",
        WhyUnknown::Dropped => "dropped",
        WhyUnknown::Filtered => "filtered",
        WhyUnknown::UnknownThreads(_) => "unknown threads",
    }
}

fn cpu_words(why: cpu::WhyUnknown) -> &'static str {
    match why {
        cpu::WhyUnknown::Window => "window",
        cpu::WhyUnknown::Selected => "selected",
        cpu::WhyUnknown::NotOfClocks => "not of clocks",
        cpu::WhyUnknown::CutOff => "cut off",
        cpu::WhyUnknown::NoClocks => "no clocks",
    }
}
