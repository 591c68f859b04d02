//! What is missing or wrong in what a trace says about requests.

use std::collections::BTreeSet;

use analysis::requests::{EntryRow, RequestReport, RequestRow};

use super::{of_any, recorded};
use crate::input::reading::Reading;
use crate::render::human::{count, counted, duration};
use crate::render::requests::name;

/// Kinds of entry points that return before their request is answered, or may. No call says of which request that is so.
const ASYNCHRONOUS: [&str; 5] = ["grpc", "netty", "reactor-netty", "vertx", "webflux"];

/// What of requests is not in their times, since it went on elsewhere; one sentence each.
pub(crate) fn elsewhere(entries: &[EntryRow<'_>]) -> Vec<String> {
    let handed = entries.iter().filter(|entry| entry.sums.handovers > 0).map(|entry| {
        format!(
            "handed over (startAsync): {} of {}; their times end with the call of the entry point, and what goes on on other \
             threads or later is not in them",
            count(entry.sums.handovers),
            counted(entry.sums.requests, &format!("request of {}", entry.method), &format!("requests of {}", entry.method))
        )
    });
    let kinds: BTreeSet<_> = entries.iter().filter_map(|entry| entry.kind).collect();
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| ASYNCHRONOUS.contains(kind)).collect();
    let by_nature = (!kinds.is_empty()).then(|| {
        format!(
            "{}: a request is the call of the handler; what that starts on other threads is not in it",
            kinds.join(", ")
        )
    });
    handed.chain(by_nature).collect()
}

/// What is missing or wrong in what a trace says about requests, and of these; one sentence each.
pub(crate) fn of_requests(reading: &Reading<RequestReport>, rows: &[RequestRow<'_>]) -> Vec<String> {
    let report = &reading.report;
    let mut notes = Vec::new();
    if report.is_empty() {
        let why = match recorded::requests(report.facts()) {
            Some(true) => "no entry point was called; name one of your own with --request METHOD (martini run)",
            Some(false) | None => "it was recorded without them (martini run --requests)",
        };
        notes.push(format!("the trace has no requests: {why}"));
    }
    if report.left_out() > 0 {
        notes.push(format!(
            "{} in no table",
            counted(report.left_out(), "more entry point is", "more entry points are")
        ));
    }
    if report.uncounted() > 0 {
        notes.push(format!(
            "{} after the last sums were written, so the table of entry points does not count them",
            counted(report.uncounted(), "request ended", "requests ended")
        ));
    }
    notes.extend(elsewhere(&report.entries()));
    for row in rows {
        let Some(overlap) = Some(row.split.cpu_in_waits).filter(|time| time.0.saturating_mul(100) > row.took.0) else {
            continue;
        };
        notes.push(format!(
            "{}: {} of its CPU time were used in waits and stops, and are in no part",
            name(row),
            duration(overlap)
        ));
    }
    if let Some(row) = rows.iter().find(|row| row.is_partial) {
        let others = rows.iter().filter(|row| row.is_partial).count() as u64 - 1;
        let others = if others > 0 { format!(" and {} more", count(others)) } else { String::new() };
        notes.push(format!("{}{others}: so much happened that not all of its waits and samples were kept", name(row)));
    }
    if rows.iter().any(|row| row.split.is_cpu_unknown) {
        notes.push("where CPU time is not known, it is in the last part".to_owned());
    }
    notes.extend(of_any(reading));
    notes
}
