//! Locks and threads.

use std::cmp::Reverse;

use analysis::locks::{LockBy, LockReport, LockRow, LockSubject, State, ThreadSummary};
use serde_json::{Map, Value, json};
use trace::time::Time;

use super::names::{Names, shown};
use super::waits::Waits;
use crate::render::locks as render;
use crate::render::notes::recorded::RecordedWaits;

/// More rows of a table are left out, the shortest waits.
const MOST_ROWS: usize = 500;
/// More threads are.
const MOST_THREADS: usize = 400;

/// Tables of waits, threads, and single waits.
pub(super) fn json(report: &LockReport, waits: Waits, origin: Time, names: &mut Names) -> Value {
    let mut tables = Map::new();
    for by in [LockBy::Monitor, LockBy::Class, LockBy::Site, LockBy::Holder, LockBy::Waiter, LockBy::Pair] {
        for (kind, waits) in [("locks", false), ("waits", true)] {
            let table = table(&report.rows(by, false), waits);
            tables.insert(format!("{kind}.{}", render::table_name(by)), table);
        }
    }
    let mut threads = report.threads(false, |_| true);
    threads.sort_by_key(|thread| (thread.kind.is_some(), Reverse(thread.stalled()), thread.started));
    let left = threads.len().saturating_sub(MOST_THREADS);
    threads.truncate(MOST_THREADS);
    json!({
        "tables": tables,
        "ends": render::ends_json(report),
        "threads": threads.iter().map(|row| thread(row, origin)).collect::<Vec<_>>(),
        "threads_left": left,
        "slice": report.slice().0,
        "states": State::ALL.map(|state| RecordedWaits::of(report).word(state)),
        "waits": single(waits, origin, names),
    })
}

fn table(rows: &[LockRow<'_>], waits: bool) -> Value {
    let counts = |row: &&LockRow<'_>| render::lengths(row, waits).count() > 0 && (waits || !row.says_too_little());
    let mut rows: Vec<&LockRow<'_>> = rows.iter().filter(counts).collect();
    rows.sort_by(|a, b| {
        let total = |row: &LockRow<'_>| Reverse(render::lengths(row, waits).total());
        total(a).cmp(&total(b)).then_with(|| a.subject.cmp(&b.subject))
    });
    let left = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let row = |row: &&LockRow<'_>| {
        let lengths = render::lengths(row, waits);
        let longest = row.longest[usize::from(waits)].as_ref();
        let stack = |stack: &[analysis::allocations::Location<'_>]| {
            stack.iter().take(40).map(|at| shown(&at.to_string())).collect::<Vec<_>>()
        };
        let pair = match &row.subject {
            LockSubject::Pair { waiter, owner, .. } => json!([
                shown(&waiter.to_string()),
                owner.as_ref().map_or_else(|| "(unknown)".to_owned(), |owner| shown(&owner.to_string()))
            ]),
            _ => Value::Null,
        };
        json!({
            "text": shown(&row.subject.to_string()),
            "pair": pair,
            "count": lengths.count(),
            "total": lengths.total().0,
            "error": row.estimate.filter(|_| !waits).map(|estimate| estimate.error.0),
            "mean": lengths.mean().0,
            "p50": lengths.percentile(50.0).0,
            "p90": lengths.percentile(90.0).0,
            "p99": lengths.percentile(99.0).0,
            "max": lengths.max().0,
            "open": row.open,
            "longest": longest.map(|longest| json!({
                "waiter": shown(&longest.waiter.to_string()),
                "owner": longest.owner.as_ref().map(|owner| shown(&owner.to_string())),
                "stack": stack(&longest.stack),
                "owner_stack": stack(&longest.owner_stack),
            })),
        })
    };
    json!({ "rows": rows.iter().map(row).collect::<Vec<_>>(), "left": left })
}

fn thread(row: &ThreadSummary<'_>, origin: Time) -> Value {
    let slices = row.slices.iter().map(|states| states.map(|nanos| nanos.round() as u64).to_vec());
    json!({
        "name": shown(&row.thread.to_string()),
        "id": number(row.thread.id.map(|id| id.0)),
        "group": shown(row.thread.group),
        "is_java": row.kind.is_none(),
        "members": row.members,
        "started": row.started.since(origin).0,
        "ended": row.ended.since(origin).0,
        "times": [row.blocked.total.0, row.waiting.total.0, row.parked.total.0, row.sleeping.total.0, row.running.0],
        "cpu": row.processor.map(|processor| processor.cpu.0),
        "slices": slices.collect::<Vec<_>>(),
    })
}

/// The id of a thread, or -1.
fn number(id: Option<u64>) -> i64 {
    id.and_then(|id| i64::try_from(id).ok()).unwrap_or(-1)
}

fn single(waits: Waits, origin: Time, names: &mut Names) -> Value {
    let (waits, texts, left_out) = waits.finish();
    let mut text = |number: Option<u32>| {
        let number = names.number(number.map(|number| texts[number as usize].as_str()));
        names.keep(number)
    };
    json!({
        "left_out": left_out,
        "thread": waits.iter().map(|wait| text(Some(wait.thread))).collect::<Vec<_>>(),
        "id": waits.iter().map(|wait| number(wait.id)).collect::<Vec<_>>(),
        "state": waits.iter().map(|wait| wait.state).collect::<Vec<_>>(),
        "contended": waits.iter().map(|wait| u8::from(wait.is_contended)).collect::<Vec<_>>(),
        "open": waits.iter().map(|wait| u8::from(wait.is_open)).collect::<Vec<_>>(),
        "since": waits.iter().map(|wait| wait.since.since(origin).0).collect::<Vec<_>>(),
        "length": waits.iter().map(|wait| wait.length.0).collect::<Vec<_>>(),
        "class": waits.iter().map(|wait| text(wait.class)).collect::<Vec<_>>(),
        "at": waits.iter().map(|wait| text(wait.at)).collect::<Vec<_>>(),
        "owner": waits.iter().map(|wait| text(wait.owner)).collect::<Vec<_>>(),
        "owner_at": waits.iter().map(|wait| text(wait.owner_at)).collect::<Vec<_>>(),
    })
}
