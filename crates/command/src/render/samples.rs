//! The tables of samples: which columns there are.

use std::path::Path;

use analysis::cpu::{CpuBy, CpuInside, CpuReport, CpuRow, CpuSubject, SampleClock};
use analysis::own_code::is_jdk;
use serde_json::{Map, Value, json};
use trace::names;
use trace::time::Nanos;

use crate::input::reading::Reading;
use crate::render::human::{printable, tenths};
use crate::render::table::Below;
use crate::render::view::Cell::{Count, Time};
use crate::render::view::{View, fields, location};
use crate::render::{conservation, head};

/// At most so many lines below a row say what ran there.
const MOST_INSIDE: usize = 3;

/// They say no less than this part of it.
const LEAST_INSIDE: f64 = 0.1;

/// The word for one row of a table.
fn noun(by: CpuBy) -> &'static str {
    match by {
        CpuBy::Line => "line",
        CpuBy::Method => "method",
        CpuBy::Class => "class",
        CpuBy::Package => "package",
        CpuBy::Module => "module",
        CpuBy::Thread | CpuBy::Carrier => "thread",
        CpuBy::Function => "function of native code",
        CpuBy::Kind => "how it ran",
    }
}

/// The key of a table in JSON.
pub(crate) fn table_name(by: CpuBy) -> &'static str {
    match by {
        CpuBy::Carrier => "carrier",
        CpuBy::Function => "function",
        CpuBy::Kind => "kind",
        by => noun(by),
    }
}

/// What samples are of, in JSON.
pub(crate) fn clock_name(clock: SampleClock) -> &'static str {
    match clock {
        SampleClock::Cpu => "cpu",
        SampleClock::Wall => "wall",
    }
}

/// What the time of samples is called.
pub(crate) fn time_heading(clock: SampleClock) -> &'static str {
    match clock {
        SampleClock::Cpu => "cpu",
        SampleClock::Wall => "time",
    }
}

/// Rows of all that lasts `whole`.
pub(crate) fn view<'a, 'r: 'a>(by: CpuBy, whole: Nanos, clock: SampleClock) -> View<'a, CpuRow<'r>> {
    View::new()
        .both(time_heading(clock), "nanos", |row: &CpuRow<'r>| row.time)
        .both("±", "error_nanos", |row| row.error)
        .text("share", move |row| tenths(row.time.0, whole.0))
        .both("samples", "samples", |row| Count(row.samples))
        .both(by.is_code().then_some("total"), "total_nanos", |row| Time(row.total))
        .text(noun(by), |row| marked(&row.subject))
        .below(ran)
        .json(|row| subject(&row.subject).into())
        .json(|row| match row.inside.is_empty() {
            true => Value::Null,
            false => json!({ "inside": row.inside.iter().map(inside).collect::<Vec<_>>() }),
        })
}

/// A whole trace in JSON.
pub(crate) fn trace_json(path: &Path, reading: &Reading<CpuReport>, tables: Map<String, Value>) -> Value {
    let report = &reading.report;
    let (samples, time) = report.sum();
    let mut document = head::json(path, reading);
    document.extend(fields(json!({
        "of": clock_name(report.sample_clock()),
        "length_nanos": report.length().0,
        "samples": samples,
        "nanos": time.0,
        "problems": { "undefined_ids": report.facts().undefined_ids },
        "conservation": conservation::json(&reading.conservation()),
        "tables": tables,
    })));
    document.into()
}

/// What a row is called; code of the JDK with its mark.
pub(crate) fn marked(subject: &CpuSubject<'_>) -> String {
    let is_of_jdk = match subject {
        CpuSubject::Line(at) => is_jdk(at.class),
        CpuSubject::Method(class, _) | CpuSubject::Class(class) => is_jdk(class),
        _ => false,
    };
    format!("{}{}", printable(&subject.to_string()), if is_of_jdk { " [JDK]" } else { "" })
}

/// What ran at a line besides its own method.
fn ran(row: &CpuRow<'_>) -> Vec<Below> {
    let CpuSubject::Line(at) = row.subject else { return Vec::new() };
    let is_itself = |inside: &CpuInside<'_>| inside.subject == CpuSubject::Method(at.class, at.method);
    if row.inside.first().is_some_and(|first| row.inside.len() == 1 && is_itself(first)) {
        return Vec::new();
    }
    let is_much = |inside: &&CpuInside<'_>| inside.time.0 as f64 >= row.time.0 as f64 * LEAST_INSIDE;
    let below = |inside: &CpuInside<'_>| {
        let name = if is_itself(inside) { "(itself)".to_owned() } else { printable(&inside.subject.to_string()) };
        Below { label: format!("{} ", tenths(inside.time.0, row.time.0)), name }
    };
    row.inside.iter().take(MOST_INSIDE).filter(is_much).map(below).collect()
}

fn inside(inside: &CpuInside<'_>) -> Value {
    let mut fields = subject(&inside.subject);
    fields.insert("nanos".to_owned(), inside.time.0.into());
    fields.into()
}

/// What a row is about, in JSON: a field that says what, and its name as text.
fn subject(subject: &CpuSubject<'_>) -> Map<String, Value> {
    let (key, value) = match subject {
        CpuSubject::Line(at) => ("line", location(at)),
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
    fields(json!({ key: value, "name": subject.to_string() }))
}

/// What has to be known to read the tables; `has_code`: some of them are of code.
pub(crate) fn legend(clock: SampleClock, has_code: bool) -> String {
    let what = match clock {
        SampleClock::Cpu => "running",
        SampleClock::Wall => "as the innermost frame",
    };
    let code = match has_code {
        true => format!(
            "{}: time {what}, for lines including what they call outside your code; total: time anywhere on the stack; ",
            time_heading(clock)
        ),
        false => String::new(),
    };
    format!("{code}±: 95 % error margin")
}
