//! The tables of calls: which columns there are.

use std::collections::BTreeSet;
use std::path::Path;

use analysis::allocations::Location;
use analysis::execution::{CallBy, CallRow, CallSubject, ExecutionReport, Faults};
use serde_json::{Map, Value, json};
use trace::names;
use trace::time::Nanos;

use crate::input::reading::Reading;
use crate::render::head;
use crate::render::human::{printable, tenths};
use crate::render::view::Cell::Count;
use crate::render::view::{View, fields};

/// What has to be known to read the tables.
pub(crate) const LEGEND: &str = "base: time without what was called; cumulative: with it, recursive calls once; average, min, \
                                 max: of one call, with what it called";

/// That a part of the time cannot be shown.
pub(crate) const NO_WINDOW: &str = "calls are shown of the whole trace; leave out --from and --to";

/// The word for one row of a table, and its key in JSON.
pub(crate) fn noun(by: CallBy) -> &'static str {
    match by {
        CallBy::Method => "method",
        CallBy::Class => "class",
        CallBy::Package => "package",
        CallBy::Thread => "thread",
    }
}

/// Rows of all calls, whose base times add up to `whole`.
pub(crate) fn view<'a, 'r: 'a>(by: CallBy, rows: &[CallRow<'r>], whole: Nanos) -> View<'a, CallRow<'r>> {
    let overloaded = overloaded(rows);
    View::new()
        .both("base", "base_nanos", |row: &CallRow<'r>| row.base)
        .text("share", move |row| tenths(row.base.0, whole.0))
        .both("cumulative", "cumulative_nanos", |row| row.cumulative)
        .both("calls", "calls", |row| Count(row.calls))
        .both("average", "mean_nanos", |row| row.average)
        .both("min", "min_nanos", |row| row.min)
        .both("max", "max_nanos", |row| row.max)
        .text(noun(by), move |row| printable(&name(&row.subject, &overloaded)))
        .json(|row| subject(&row.subject))
}

/// Class and name of methods of which there are several.
fn overloaded<'r>(rows: &[CallRow<'r>]) -> BTreeSet<(&'r str, &'r str)> {
    let mut seen = BTreeSet::new();
    let methods = rows.iter().filter_map(|row| match row.subject {
        CallSubject::Method(at) => Some((at.class, at.method)),
        _ => None,
    });
    methods.filter(|method| !seen.insert(*method)).collect()
}

fn name(subject: &CallSubject<'_>, overloaded: &BTreeSet<(&str, &str)>) -> String {
    match subject {
        CallSubject::Method(at) => {
            let is_one = !overloaded.contains(&(at.class, at.method));
            let parameters = if is_one { String::new() } else { names::parameters(at.signature) };
            format!("{}{parameters}", method(at))
        }
        CallSubject::Package("") => "(default package)".to_owned(),
        CallSubject::Class(name) | CallSubject::Package(name) => (*name).to_owned(),
        CallSubject::Thread(thread) if thread.name.is_empty() => "(unnamed thread)".to_owned(),
        CallSubject::Thread(thread) => thread.name.to_owned(),
    }
}

/// Class and name of a method.
pub(crate) fn method(at: &Location<'_>) -> String {
    format!("{}.{}", at.class, names::jvm_method_name(at.method))
}

/// What a row is about, in JSON.
fn subject(subject: &CallSubject<'_>) -> Value {
    match subject {
        CallSubject::Method(at) => json!({
            "method": { "class": at.class, "method": names::jvm_method_name(at.method), "signature": at.signature },
        }),
        CallSubject::Class(name) => json!({ "class": name }),
        CallSubject::Package(name) => json!({ "package": name }),
        CallSubject::Thread(thread) => json!({
            "thread": { "name": thread.name, "group": thread.group, "id": thread.id.0 },
        }),
    }
}

/// A whole trace in JSON.
pub(crate) fn trace_json(path: &Path, reading: &Reading<ExecutionReport>, tables: Map<String, Value>) -> Value {
    let report = &reading.report;
    let (calls, base) = report.sum();
    let mut document = head::json(path, reading);
    document.extend(fields(json!({
        "of": "calls",
        "documents_in_file": report.documents(),
        "calls": calls,
        "base_nanos": base.0,
        "overhead_nanos": report.overhead().0,
        "overhead_taken_off_nanos": report.overhead_taken_off().0,
        "problems": problems(report),
        "tables": tables,
    })));
    document.into()
}

/// What was wrong with the calls, in JSON.
fn problems(report: &ExecutionReport) -> Value {
    let Faults {
        backwards,
        furthest_back,
        set_back,
        without_time,
        negative,
        without_entry,
        of_others,
        unwound,
        open,
        misnamed,
        without_numbers,
        merged,
    } = *report.faults();
    json!({
        "undefined_ids": report.facts().undefined_ids,
        "events_back_in_time": backwards,
        "furthest_back_nanos": furthest_back.0,
        "clock_set_back": set_back,
        "events_without_time": without_time,
        "negative_calls": negative,
        "exits_without_entry": without_entry,
        "exits_of_other_methods": of_others,
        "calls_ended_by_caller": unwound,
        "calls_open_at_end": open,
        "exits_with_wrong_method": misnamed,
        "aggregated_without_numbers": without_numbers,
        "calls_merged_into_caller": merged,
    })
}
