//! Samples as JSON. Numbers are exact: lengths of time in nanoseconds.

use std::path::Path;

use analysis::cpu::{CpuBy, CpuInside, CpuReport, CpuRow, CpuSubject, SampleClock};
use serde_json::{Map, Value, json};
use trace::names;

use crate::input::reading::Reading;
use crate::render::{allocation_json, conservation, notes};

/// The key of a table.
pub(crate) fn table_name(by: CpuBy) -> &'static str {
    match by {
        CpuBy::Line => "line",
        CpuBy::Method => "method",
        CpuBy::Class => "class",
        CpuBy::Package => "package",
        CpuBy::Module => "module",
        CpuBy::Thread => "thread",
        CpuBy::Carrier => "carrier",
        CpuBy::Function => "function",
        CpuBy::Kind => "kind",
    }
}

/// A whole trace.
pub(crate) fn trace(path: &Path, reading: &Reading<CpuReport>, tables: Map<String, Value>) -> Value {
    let report = &reading.report;
    let facts = report.facts();
    let (samples, time) = report.sum();
    json!({
        "path": path.display().to_string(),
        "bytes": reading.bytes,
        "documents": facts.documents,
        "complete": notes::is_complete(reading),
        "agents": facts.origins.iter().map(allocation_json::origin).collect::<Vec<_>>(),
        "of": of(report.sample_clock()),
        "length_nanos": report.length().0,
        "samples": samples,
        "nanos": time.0,
        "problems": { "undefined_ids": facts.undefined_ids },
        "counts": allocation_json::counts(facts),
        "conservation": conservation::json(&reading.conservation()),
        "tables": tables,
    })
}

/// What samples are of.
pub(crate) fn of(clock: SampleClock) -> &'static str {
    match clock {
        SampleClock::Cpu => "cpu",
        SampleClock::Wall => "wall",
    }
}

/// The rows of a table, in their order.
pub(crate) fn rows(rows: &[CpuRow<'_>]) -> Value {
    let inside = |inside: &CpuInside<'_>| {
        let mut fields = subject(&inside.subject);
        fields.insert("nanos".to_owned(), inside.time.0.into());
        Value::Object(fields)
    };
    let row = |row: &CpuRow<'_>| {
        let mut fields = subject(&row.subject);
        fields.insert("samples".to_owned(), row.samples.into());
        fields.insert("nanos".to_owned(), row.time.0.into());
        fields.insert("error_nanos".to_owned(), row.error.0.into());
        fields.insert("total_nanos".to_owned(), row.total.0.into());
        if !row.inside.is_empty() {
            fields.insert("inside".to_owned(), row.inside.iter().map(inside).collect());
        }
        Value::Object(fields)
    };
    rows.iter().map(row).collect()
}

/// What a row is about: a field that says what, and its name as text.
pub(crate) fn subject(subject: &CpuSubject<'_>) -> Map<String, Value> {
    let (key, value) = match subject {
        CpuSubject::Line(at) => ("line", allocation_json::location(at)),
        CpuSubject::Method(class, name) => {
            ("method", json!({ "class": class, "method": names::jvm_method_name(name) }))
        }
        CpuSubject::Class(name) => ("class", json!(name)),
        CpuSubject::Package(name) => ("package", json!(name)),
        CpuSubject::Module(name) => ("module", json!(name)),
        CpuSubject::Thread(thread) => {
            ("thread", json!({ "name": thread.name, "group": thread.group, "id": thread.id.0 }))
        }
        CpuSubject::Function(name, library) => ("function", json!({ "name": name, "library": library })),
        CpuSubject::Kind(kind) => ("kind", json!(kind.as_str())),
        CpuSubject::JavaCode => ("java", json!(true)),
        CpuSubject::Kernel => ("kernel", json!(true)),
        CpuSubject::VmThreads(name) => ("vm_threads", json!(name)),
        CpuSubject::NativeThreads(name) => ("native_threads", json!(name)),
        CpuSubject::Lost(reason) => ("lost", json!(reason)),
        CpuSubject::NoStack => ("no_stack", json!(true)),
    };
    [(key.to_owned(), value), ("name".to_owned(), json!(subject.to_string()))].into_iter().collect()
}
