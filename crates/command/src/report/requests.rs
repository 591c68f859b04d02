//! Requests in a report: how long they took over time, and where the time of some went.

use analysis::requests::{EntryRow, Moment, Part, RequestReport, RequestRow};
use serde_json::{Value, json};
use trace::filter::Pattern;
use trace::time::Nanos;

use super::names::shown;
use crate::render::notes::elsewhere;
use crate::render::requests::{Recorded, why};

/// So many entry points are shown.
const ROWS: usize = 100;

/// What a trace says of them; `null` if it has none.
pub(super) fn json(report: &RequestReport, own: &[Pattern]) -> Value {
    if report.is_empty() {
        return Value::Null;
    }
    let recorded = Recorded::of(report.facts());
    let entries = report.entries();
    let left = entries.len().saturating_sub(ROWS);
    let notes: Vec<_> = elsewhere(&entries).iter().map(|note| shown(note)).collect();
    let entries = entries.iter().take(ROWS).map(|entry| {
        let EntryRow { percentiles: [p50, p90, p99, p999], .. } = *entry;
        json!({
            "text": shown(entry.method),
            "kind": entry.kind.map(shown),
            "requests": entry.sums.requests,
            "failures": entry.sums.failures,
            "rate": entry.rate,
            "mean": nanos(entry.mean()),
            "p50": nanos(p50),
            "p90": nanos(p90),
            "p99": nanos(p99),
            "p999": nanos(p999),
            "longest": nanos(entry.longest),
            "cpu": nanos(entry.mean_cpu()),
            "bytes": entry.mean_bytes(),
            "moments": report.over_time(entry.method).iter().map(moment).collect::<Vec<_>>(),
            "divided": report.requests(entry.method, own).iter().map(|row| request(row, recorded)).collect::<Vec<_>>(),
        })
    });
    json!({ "entries": entries.collect::<Vec<_>>(), "left": left, "notes": notes })
}

fn nanos(time: Option<Nanos>) -> Option<u64> {
    time.map(|Nanos(nanos)| nanos)
}

fn moment(moment: &Moment) -> Value {
    let percentile = |share| nanos(moment.durations.percentile(share));
    json!({
        "from": moment.from.0,
        "until": moment.until.0,
        "requests": moment.sums.requests,
        "p50": percentile(0.5),
        "p99": percentile(0.99),
        "longest": percentile(1.0),
    })
}

fn request(row: &RequestRow<'_>, recorded: Recorded) -> Value {
    let part = |part: &Part| {
        json!({
            "kind": part.kind.as_str(),
            "text": recorded.label(part.kind),
            "time": part.time.0,
            "error": part.error.0,
        })
    };
    json!({
        "number": row.number,
        "place": row.place,
        "thread": shown(&row.thread.to_string()),
        "begun": row.begun.0,
        "took": row.took.0,
        "cpu": nanos(row.cpu),
        "bytes": row.bytes,
        "failed": row.failed,
        "parts": row.split.parts.iter().map(part).collect::<Vec<_>>(),
        "why": shown(&why(row)),
    })
}
