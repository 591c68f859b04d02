//! Requests: sentences and tables, and the same as JSON.

mod parts;
mod whole;
mod words;

use std::borrow::Cow;

use analysis::requests::{EntryRow, RequestReport, RequestRow};
use serde_json::{Value, json};
use trace::time::Nanos;

use crate::render::human::{count, counted};
use crate::render::view::Cell::{Bytes, Count, Decimal, Name};
use crate::render::view::View;

pub(crate) use parts::{Recorded, table};
pub(crate) use whole::{json as request_json, parts_json, write as write_whole};
pub(crate) use words::{next, why};

/// The entry points.
pub(crate) fn entries<'a, 'r: 'a>() -> View<'a, EntryRow<'r>> {
    let percentile = |at: usize| move |row: &EntryRow<'r>| row.percentiles[at];
    View::new()
        .both("requests", "requests", |row: &EntryRow<'r>| Count(row.sums.requests))
        .both("failed", "failures", |row| Count(row.sums.failures))
        .both("per s", "requests_per_second", |row| row.rate.map(Decimal))
        .both("mean", "mean_nanos", |row| row.mean())
        .both("p50", "p50_nanos", percentile(0))
        .both("p90", "p90_nanos", percentile(1))
        .both("p99", "p99_nanos", percentile(2))
        .both("p99.9", "p999_nanos", percentile(3))
        .both("max", "max_nanos", |row| row.longest)
        .both("CPU", "mean_cpu_nanos", |row| row.mean_cpu())
        .both("bytes", "mean_bytes", |row| row.mean_bytes().map(Bytes))
        .both("entry point", "entry", |row| Name(row.method.to_owned()))
        .json(|row| {
            json!({
                "kind": row.kind,
                "handovers": row.sums.handovers,
                "first_called_nanos": row.first_called.map(|Nanos(called)| called),
                "total_nanos": row.sums.took.0,
                "measured": row.sums.measured,
            })
        })
}

/// How many requests a trace has.
pub(crate) fn sums(report: &RequestReport) -> String {
    let entries = report.entries();
    let requests = entries.iter().map(|entry| entry.sums.requests).sum();
    let entries = counted(entries.len() as u64, "entry point", "entry points");
    format!("{} of {entries}", counted(requests, "request", "requests"))
}

/// A request, as it is called.
pub(crate) fn called(row: &RequestRow<'_>) -> String {
    match row.number {
        1 => format!("the first request of {}", row.method),
        number => format!("request {} of {}", count(number), row.method),
    }
}

/// The heading of a request's column.
fn heading(row: &RequestRow<'_>) -> Cow<'static, str> {
    Cow::Owned(format!("#{}", count(row.number)))
}

/// A cell of a table that is no part.
fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or("-".to_owned(), text)
}

/// Which request it is, for `--request`.
pub(crate) fn name(row: &RequestRow<'_>) -> String {
    format!("{}:{}", row.method, row.number)
}

/// A value of JSON that is nothing where it is not known.
fn nanos(time: Option<Nanos>) -> Value {
    time.map_or(Value::Null, |Nanos(nanos)| nanos.into())
}
