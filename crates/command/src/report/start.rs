//! The start of the JVM in a report.

use analysis::allocations::Location;
use analysis::warm_up::{Cause, Interval, WarmUpReport};
use serde_json::{Value, json};
use trace::filter::Pattern;

use super::names::shown;
use crate::render::warm_up::sentences;

/// Rows of each table.
const ROWS: usize = 500;

/// What a trace says of it; `null` if it says nothing.
pub(super) fn json(report: &WarmUpReport, own: &[Pattern]) -> Value {
    if report.is_empty() {
        return Value::Null;
    }
    let initialisers = report.initialisers(own.to_vec());
    let left = initialisers.len().saturating_sub(ROWS);
    let initialisers = initialisers.iter().take(ROWS).map(|row| {
        json!({
            "text": shown(row.class),
            "own": row.own.0,
            "total": row.total.0,
            "begun": row.begun.0,
            "thread": row.thread.map(shown),
            "caused_by": caused_by(row.caused_by.as_ref()),
            "stack": row.stack.iter().map(|at| shown(&at.to_string())).collect::<Vec<_>>(),
        })
    });
    let lookups = report.failed_lookups(own.to_vec());
    let lookups = lookups.iter().take(ROWS).map(
        |row| json!({ "text": shown(row.loader), "count": row.count, "caused_by": caused_by(row.caused_by.as_ref()) }),
    );
    let methods = report.methods().into_iter().take(ROWS).map(|(name, method)| {
        json!({
            "text": shown(&name.replace("::", ".")),
            "time": method.time.0,
            "count": method.count,
            "discarded": method.discarded,
            "bytes": method.bytes,
        })
    });
    json!({
        "sentences": sentences(report),
        "intervals": report.intervals().iter().map(interval).collect::<Vec<_>>(),
        "initialisers": initialisers.collect::<Vec<_>>(),
        "left": left,
        "lookups": lookups.collect::<Vec<_>>(),
        "methods": methods.collect::<Vec<_>>(),
    })
}

fn caused_by(at: Option<&Location<'_>>) -> Option<String> {
    at.map(|at| shown(&at.to_string()))
}

fn interval(row: &Interval) -> Value {
    json!({
        "from": row.from.map(|from| from.0),
        "until": row.until.0,
        "classes": row.classes,
        "causes": Cause::ALL.map(|cause| row.causes.of(cause).0),
        "interpreted": row.code.interpreted.0,
        "code": row.code.all().0,
        "samples": row.code.samples,
    })
}
