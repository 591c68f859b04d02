//! The statistics as JSON. Numbers are exact: sizes in bytes, times in nanoseconds since 1970.

use std::path::Path;

use analysis::allocations::{
    Account, AllocationReport, By, Count, Facts, Inside, Line, Location, ObjectTotals, Origin, Row, Subject,
};
use serde_json::{Map, Value, json};
use trace::names;

use crate::input::reading::Reading;
use crate::render::{coverage, notes};

/// The key of a table.
pub(crate) fn table_name(by: By) -> &'static str {
    match by {
        By::Package => "package",
        By::Class => "class",
        By::Site => "site",
        By::Line => "line",
        By::Method => "method",
        By::Module => "module",
        By::Thread => "thread",
    }
}

/// A whole trace.
pub(crate) fn trace(path: &Path, reading: &Reading, sum: &ObjectTotals, tables: Map<String, Value>) -> Value {
    let report = &reading.report;
    let facts = report.facts();
    json!({
        "path": path.display().to_string(),
        "bytes": reading.bytes,
        "documents": facts.documents,
        "complete": notes::is_complete(reading),
        "agents": facts.origins.iter().map(origin).collect::<Vec<_>>(),
        "begin_nanos": facts.begin.map(|time| time.0),
        "end_nanos": facts.end.map(|time| time.0),
        "elements": facts.elements,
        "allocations": facts.allocations,
        "site_counts": facts.site_counts,
        "frees": facts.frees,
        "collections": facts.collections,
        "calls": facts.calls,
        "sampled_objects": report.samples(),
        "sampled_interval_bytes": facts.sampled_interval,
        "estimate_interval_bytes": facts.estimate_interval,
        "problems": {
            "undefined_ids": facts.undefined_ids,
            "unknown_frees": facts.unknown_frees,
            "reused_ids": facts.reused_ids,
        },
        "counts": counts(facts),
        "coverage": coverage::json(&reading.coverage()),
        "sum": Value::Object(totals(sum, &reading.report)),
        "tables": tables,
    })
}

/// The accounts of threads, in their order.
pub(crate) fn accounts(accounts: &[Account<'_>]) -> Value {
    let account = |account: &Account<'_>| {
        let mut fields = subject(&Subject::Thread(Some(account.thread)));
        fields.extend([
            ("instances".to_owned(), json!(account.instances)),
            ("bytes".to_owned(), json!(account.bytes)),
            ("vm_bytes".to_owned(), json!(account.vm_bytes)),
        ]);
        Value::Object(fields)
    };
    accounts.iter().map(account).collect()
}

/// The rows of a table, in their order.
pub(crate) fn rows(rows: &[Row<'_>], report: &AllocationReport) -> Value {
    rows.iter().map(|one| Value::Object(row(one, report))).collect()
}

/// Lines of code, in their order.
pub(crate) fn lines(lines: &[Line<'_>], report: &AllocationReport) -> Value {
    let inside = |inside: &Inside<'_>| json!({ "class": inside.class, "site": inside.at.as_ref().map(location), "total_bytes": inside.bytes });
    let line = |line: &Line<'_>| {
        let mut fields = row(&line.row, report);
        fields.insert("inside".to_owned(), line.inside.iter().map(inside).collect());
        Value::Object(fields)
    };
    lines.iter().map(line).collect()
}

fn row(row: &Row<'_>, report: &AllocationReport) -> Map<String, Value> {
    let mut fields = subject(&row.subject);
    fields.extend(totals(&row.totals, report));
    fields.insert("error_bytes".to_owned(), json!(row.error));
    fields
}

/// What the agent counted about itself.
pub(crate) fn counts(facts: &Facts) -> Value {
    let count = |count: &Count| json!({ "key": count.key, "detail": count.detail, "value": count.value });
    facts.counts.iter().map(count).collect()
}

/// A line of a method.
pub(crate) fn location(at: &Location<'_>) -> Value {
    json!({
        "class": at.class,
        "method": names::jvm_method_name(at.method),
        "signature": at.signature,
        "source": at.source,
        "line": at.line,
    })
}

/// Who recorded a document.
pub(crate) fn origin(origin: &Origin) -> Value {
    json!({
        "agent": origin.agent,
        "version": origin.version,
        "parameters": origin.parameters,
        "imported_from": origin.imported_from,
        "pid": origin.pid,
        "host": origin.host,
    })
}

fn totals(totals: &ObjectTotals, report: &AllocationReport) -> Map<String, Value> {
    // What was only counted may have been there before, so what was collected is not known.
    let collected = (!report.is_counted() && !report.is_sampled()).then(|| totals.collected());
    let estimate_error = report.facts().estimate_interval.and_then(|interval| totals.estimate_error(interval));
    let fields = [
        ("live", json!(totals.live())),
        ("total", json!(totals.total())),
        ("collected", json!(collected)),
        ("active_bytes", json!(totals.live_bytes())),
        ("total_bytes", json!(totals.total_bytes())),
        ("average_age", json!(totals.average_age())),
        ("generations", json!(totals.generations())),
        ("estimated_bytes", json!(totals.estimated_bytes())),
        ("estimate_error_bytes", json!(estimate_error)),
        ("active_error_bytes", json!((totals.live_samples() > 0).then(|| totals.live_error()))),
        ("survived_bytes", json!(totals.survived_bytes())),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// What a row is about.
pub(crate) fn subject(subject: &Subject<'_>) -> Map<String, Value> {
    let fields = match subject {
        Subject::Package(name) => json!({ "package": name }),
        Subject::Class(name) => json!({ "class": name }),
        Subject::Site { class, at: None } => json!({ "class": class, "site": null }),
        Subject::Site { class, at: Some(at) } => json!({
            "class": class,
            "site": location(at),
        }),
        Subject::Line(at) => json!({ "line": at.as_ref().map(location) }),
        Subject::Method(at) => json!({
            "method": at.map(|(class, name)| json!({ "class": class, "method": names::jvm_method_name(name) })),
        }),
        Subject::Module(name) => json!({ "module": name }),
        Subject::Thread(None) => json!({ "thread": null }),
        Subject::Thread(Some(thread)) => json!({
            "thread": { "name": thread.name, "group": thread.group, "id": thread.id.0 },
        }),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
