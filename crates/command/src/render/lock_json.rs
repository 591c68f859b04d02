//! Threads and monitors as JSON. Numbers are exact: lengths of time in nanoseconds, times in nanoseconds since 1970, or since the
//! start of a lock log.

use std::path::Path;

use analysis::allocations::Location;
use analysis::locks::{
    Durations, LockBy, LockName, LockReport, LockRow, LockSubject, State, Stuck, ThreadName, ThreadSummary, TimeTotals,
    WaitSums,
};
use serde_json::{Map, Value, json};

use crate::input::reading::Reading;
use crate::render::{allocation_json, lock_tables, notes};

/// What is said of a trace as a whole.
pub(crate) fn head(path: &Path, reading: &Reading<LockReport>) -> Map<String, Value> {
    let report = &reading.report;
    let facts = report.facts();
    let oddities = report.problems();
    let [blocked, waiting, parked, sleeping] = report.stalls();
    let complete = match report.is_log() {
        true => !reading.is_log_cut && reading.broken.is_none(),
        false => notes::is_complete(reading),
    };
    let fields = [
        ("path", json!(path.display().to_string())),
        ("bytes", json!(reading.bytes)),
        ("kind", json!(if report.is_log() { "lock log" } else { "trace" })),
        ("documents", json!(facts.documents)),
        ("complete", json!(complete)),
        ("agents", facts.origins.iter().map(allocation_json::origin).collect()),
        ("log_start", json!(report.log_start().map(|clock| clock.to_string()))),
        ("begin_nanos", json!(report.span().map(|(begin, _)| begin.0))),
        ("end_nanos", json!(report.span().map(|(_, end)| end.0))),
        ("counted_from_nanos", json!(report.counted().map(|(begin, _)| begin.0))),
        ("counted_to_nanos", json!(report.counted().map(|(_, end)| end.0))),
        ("elements", json!(facts.elements)),
        ("thread_count", json!(report.thread_count())),
        ("other_thread_count", json!(report.other_thread_count())),
        ("blocked", totals(blocked)),
        ("waiting", totals(waiting)),
        ("parked", totals(parked)),
        ("sleeping", totals(sleeping)),
        (
            "problems",
            json!({
                "malformed": reading.malformed,
                "undefined_ids": facts.undefined_ids,
                "without_begin": oddities.without_begin,
                "without_end": oddities.without_end,
                "shared_names": oddities.shared_names,
            }),
        ),
        ("counts", allocation_json::counts(facts)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// How much threads waited for locks and for anything else, as far as it was selected.
pub(crate) fn sums(sums: &WaitSums) -> Map<String, Value> {
    let fields = [
        ("contended", sums.contended),
        ("with_owner_stack", sums.with_owner_stack),
        ("waited", sums.waited),
        ("idle", sums.idle),
    ];
    fields.map(|(name, totals)| (name.to_owned(), self::totals(totals))).into_iter().collect()
}

/// The state when the trace ended.
pub(crate) fn ends(report: &LockReport) -> Map<String, Value> {
    let (stuck, more) = report.stuck();
    let deadlocks: Vec<Value> = report
        .deadlocks()
        .iter()
        .map(|deadlock| {
            json!({
                "since_nanos": deadlock.since.0,
                "nanos": deadlock.length.0,
                "threads": deadlock.members.iter().map(self::stuck).collect::<Vec<_>>(),
            })
        })
        .collect();
    let fields = [
        ("deadlocks", json!(deadlocks)),
        ("still_blocked", stuck.iter().map(self::stuck).collect()),
        ("still_blocked_more", json!(more)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// What a thread did with its time.
pub(crate) fn thread(row: &ThreadSummary<'_>, report: &LockReport) -> Value {
    let at_end: Map<String, Value> =
        State::ALL.iter().zip(row.at_end).map(|(state, threads)| (state.as_str().to_owned(), threads.into())).collect();
    let processor = row.processor.as_ref();
    let queued = processor.and_then(|processor| processor.queued);
    let elsewhere = processor.and_then(|processor| processor.elsewhere);
    json!({
        "thread": name(&row.thread),
        "kind": row.kind.map(|kind| kind.as_str()),
        "members": row.members,
        "started_nanos": row.started.0,
        "ended_nanos": row.ended.0,
        "alive_nanos": row.alive().0,
        "running_nanos": row.running.0,
        "cpu_nanos": processor.map(|processor| processor.cpu.0),
        "queued_nanos": queued.map(|queued| queued.0),
        "elsewhere_nanos": elsewhere.map(|elsewhere| elsewhere.0),
        "blocked": totals(row.blocked),
        "waiting": totals(row.waiting),
        "parked": totals(row.parked),
        "sleeping": totals(row.sleeping),
        "at_end": at_end,
        "over_time": lock_tables::timeline(row, report.slice(), report.is_log()),
    })
}

/// The key of a table.
pub(crate) fn table_name(by: LockBy) -> &'static str {
    match by {
        LockBy::Monitor => "monitor",
        LockBy::Class => "class",
        LockBy::Site => "site",
        LockBy::Holder => "holder",
        LockBy::Waiter => "waiter",
        LockBy::Pair => "pair",
    }
}

/// A row of a table of waits.
pub(crate) fn row(row: &LockRow<'_>, waits: bool) -> Value {
    let mut fields = subject(&row.subject);
    fields.extend(lengths(lock_tables::lengths(row, waits)));
    if waits {
        fields.insert("timed_out".to_owned(), json!(row.timed_out));
    }
    fields.insert("still_there".to_owned(), json!(row.open));
    let longest = row.longest[usize::from(waits)].as_ref().map(|longest| {
        json!({
            "nanos": longest.length.0,
            "since_nanos": longest.since.0,
            "waiter": name(&longest.waiter),
            "owner": longest.owner.as_ref().map(name),
            "stack": stack(&longest.stack),
            "owner_stack": stack(&longest.owner_stack),
        })
    });
    fields.insert("longest".to_owned(), json!(longest));
    fields.into()
}

fn lengths(lengths: &Durations) -> Map<String, Value> {
    let percentile = |percent| json!(lengths.percentile(percent).0);
    let fields = [
        ("count", json!(lengths.count())),
        ("total_nanos", json!(lengths.total().0)),
        ("mean_nanos", json!(lengths.mean().0)),
        ("p50_nanos", percentile(50.0)),
        ("p90_nanos", percentile(90.0)),
        ("p99_nanos", percentile(99.0)),
        ("max_nanos", json!(lengths.max().0)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn subject(subject: &LockSubject<'_>) -> Map<String, Value> {
    let place = |at: &Option<Location<'_>>| at.as_ref().map(allocation_json::location);
    let fields = match subject {
        LockSubject::Monitor { name, class, object } => {
            json!({ "class": class, "object": object.map(|(id, _)| id.0), "name": lock_name(name) })
        }
        LockSubject::Class(class) => json!({ "class": class }),
        LockSubject::Site { class, at } => json!({ "class": class, "site": place(at) }),
        LockSubject::Thread(thread) => json!({ "waiter": name(thread) }),
        LockSubject::Pair { waiter, owner, class } => {
            json!({ "waiter": name(waiter), "owner": owner.as_ref().map(name), "class": class })
        }
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn lock_name(name: &Option<LockName<'_>>) -> Value {
    json!(name.map(|name| name.to_string()))
}

/// A thread that is blocked when the trace ends.
pub(crate) fn stuck(stuck: &Stuck<'_>) -> Value {
    json!({
        "thread": name(&stuck.thread),
        "state": stuck.state.as_str(),
        "class": stuck.class,
        "object": stuck.object.map(|object| object.0),
        "name": lock_name(&stuck.name),
        "since_nanos": stuck.since.0,
        "nanos": stuck.length.0,
        "owner": stuck.owner.as_ref().map(|(owner, _)| name(owner)),
        "owner_state": stuck.owner.as_ref().map(|(_, state)| state.as_str()),
        "stack": stack(&stuck.stack),
        "owner_stack": stack(&stuck.owner_stack),
    })
}

/// The name of a thread.
pub(crate) fn name(thread: &ThreadName<'_>) -> Value {
    json!({ "name": thread.name, "group": thread.group, "id": thread.id.map(|id| id.0) })
}

fn totals(totals: TimeTotals) -> Value {
    json!({ "count": totals.count, "total_nanos": totals.total.0, "max_nanos": totals.max.0 })
}

fn stack(stack: &[Location<'_>]) -> Value {
    stack.iter().map(allocation_json::location).collect()
}
