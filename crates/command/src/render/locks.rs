//! The tables of `locks`: which columns there are, and in which order rows come.

use std::path::Path;

use analysis::allocations::Location;
use analysis::locks::{
    Durations, LockBy, LockName, LockReport, LockRow, LockSubject, Longest, Stuck, ThreadName, TimeTotals, WaitSums,
};
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use trace::time::Nanos;

use crate::input::reading::Reading;
use crate::render::head;
use crate::render::view::Cell::{Count, Name};
use crate::render::view::{View, fields, location, stack};

/// A column of `locks` to sort by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LockColumn {
    /// How often
    Count,
    /// Time in all
    #[default]
    Total,
    /// Average time
    Mean,
    /// Time that half of the waits do not exceed
    P50,
    /// Time that 99 of 100 waits do not exceed
    P99,
    /// Longest time
    Max,
    /// The name, from A to Z
    Name,
}

/// The waits of a row that a table is about.
pub(crate) fn lengths<'a>(row: &'a LockRow<'_>, waits: bool) -> &'a Durations {
    if waits { &row.waited } else { &row.contended }
}

/// Sorts rows by a column, the largest number first; rows that are equal there, by time and name.
pub(crate) fn sort_locks(rows: &mut [LockRow<'_>], column: LockColumn, waits: bool) {
    let key = |row: &LockRow<'_>| {
        let lengths = lengths(row, waits);
        match column {
            LockColumn::Count => lengths.count(),
            LockColumn::Total => lengths.total().0,
            LockColumn::Mean => lengths.mean().0,
            LockColumn::P50 => lengths.percentile(50.0).0,
            LockColumn::P99 => lengths.percentile(99.0).0,
            LockColumn::Max => lengths.max().0,
            LockColumn::Name => 0,
        }
    };
    let time = |row: &LockRow<'_>| if column == LockColumn::Name { Nanos(0) } else { lengths(row, waits).total() };
    rows.sort_by_cached_key(|row| {
        let name = row.subject.to_string();
        (std::cmp::Reverse((key(row), time(row))), name, format!("{:?}", row.subject))
    });
}

/// What the rows of a table are.
fn noun(by: LockBy) -> &'static str {
    match by {
        LockBy::Monitor => "monitor",
        LockBy::Class => "class",
        LockBy::Site => "where threads wait",
        LockBy::Holder => "where the owner was",
        LockBy::Waiter => "thread that waits",
        LockBy::Pair => "who waits <- who owns",
    }
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

/// Rows of waits for locks, or with `waits` of others; with the error of times if some of them are estimates.
pub(crate) fn view<'a, 'r: 'a>(by: LockBy, waits: bool, has_estimates: bool) -> View<'a, LockRow<'r>> {
    let of = move |row: &LockRow<'_>, time: fn(&Durations) -> Nanos| time(lengths(row, waits));
    let counted = View::new().both(if waits { "waits" } else { "contended" }, "count", move |row: &LockRow<'r>| {
        Count(lengths(row, waits).count())
    });
    let counted = match waits {
        true => counted.both("timed out", "timed_out", |row| Count(row.timed_out)),
        false => counted,
    };
    counted
        .both("total", "total_nanos", move |row| of(row, Durations::total))
        .text((has_estimates && !waits).then_some("±"), |row| row.estimate.map(|estimate| estimate.error))
        .both("mean", "mean_nanos", move |row| of(row, Durations::mean))
        .both("p50", "p50_nanos", move |row| of(row, |lengths| lengths.percentile(50.0)))
        .both("p90", "p90_nanos", move |row| of(row, |lengths| lengths.percentile(90.0)))
        .both("p99", "p99_nanos", move |row| of(row, |lengths| lengths.percentile(99.0)))
        .both("max", "max_nanos", move |row| of(row, Durations::max))
        .text(noun(by), |row| Name(row.subject.to_string()))
        .json(|row| subject(&row.subject))
        .json(move |row| {
            let longest = row.longest[usize::from(waits)].as_ref().map(longest_json);
            let estimate = row.estimate.filter(|_| !waits);
            json!({
                "still_there": row.open,
                "longest": longest,
                "error_nanos": estimate.map(|estimate| estimate.error.0),
                "looks": estimate.map(|estimate| estimate.looks),
            })
        })
}

/// The longest of some waits.
pub(crate) fn longest_json(longest: &Longest<'_>) -> Value {
    json!({
        "nanos": longest.length.0,
        "since_nanos": longest.since.0,
        "waiter": name(&longest.waiter),
        "owner": longest.owner.as_ref().map(name),
        "stack": stack(&longest.stack),
        "owner_stack": stack(&longest.owner_stack),
    })
}

fn subject(subject: &LockSubject<'_>) -> Value {
    let place = |at: &Option<Location<'_>>| at.as_ref().map(location);
    match subject {
        LockSubject::Monitor { name, class, object } => {
            json!({ "class": class, "object": object.map(|(id, _)| id.0), "name": lock_name(name) })
        }
        LockSubject::Class(class) => json!({ "class": class }),
        LockSubject::Site { class, at } => json!({ "class": class, "site": place(at) }),
        LockSubject::Thread(thread) => json!({ "waiter": name(thread) }),
        LockSubject::Pair { waiter, owner, class } => {
            json!({ "waiter": name(waiter), "owner": owner.as_ref().map(name), "class": class })
        }
    }
}

fn lock_name(name: &Option<LockName<'_>>) -> Value {
    json!(name.map(|name| name.to_string()))
}

/// What is said of a trace as a whole, in JSON.
pub(crate) fn head_json(path: &Path, reading: &Reading<LockReport>) -> Map<String, Value> {
    let report = &reading.report;
    let facts = report.facts();
    let oddities = report.problems();
    let [blocked, waiting, parked, sleeping] = report.stalls().map(totals);
    let mut document = head::json(path, reading);
    document.extend(fields(json!({
        "kind": if report.is_log() { "lock log" } else { "trace" },
        "log_start": report.log_start().map(|clock| clock.to_string()),
        "begin_nanos": report.span().map(|(begin, _)| begin.0),
        "end_nanos": report.span().map(|(_, end)| end.0),
        "counted_from_nanos": report.counted().map(|(begin, _)| begin.0),
        "counted_to_nanos": report.counted().map(|(_, end)| end.0),
        "elements": facts.elements,
        "thread_count": report.thread_count(),
        "other_thread_count": report.other_thread_count(),
        "blocked": blocked,
        "waiting": waiting,
        "parked": parked,
        "sleeping": sleeping,
        "problems": {
            "malformed": reading.malformed,
            "undefined_ids": facts.undefined_ids,
            "without_begin": oddities.without_begin,
            "without_end": oddities.without_end,
            "shared_names": oddities.shared_names,
        },
    })));
    if report.is_log() {
        document.insert("complete".to_owned(), json!(!reading.is_log_cut && reading.broken.is_none()));
    }
    document
}

/// How much threads waited for locks and for anything else, as far as it was selected.
pub(crate) fn sums_json(sums: &WaitSums) -> Map<String, Value> {
    fields(json!({
        "contended": totals(sums.contended),
        "with_owner_stack": totals(sums.with_owner_stack),
        "waited": totals(sums.waited),
        "idle": totals(sums.idle),
    }))
}

/// Who waited when the trace ended.
pub(crate) fn ends_json(report: &LockReport) -> Map<String, Value> {
    let (stuck, more) = report.stuck();
    let all = |stuck: &[Stuck<'_>]| stuck.iter().map(stuck_json).collect::<Vec<_>>();
    let deadlocks = report.deadlocks().into_iter().map(|deadlock| {
        json!({
            "since_nanos": deadlock.since.0,
            "nanos": deadlock.length.0,
            "threads": all(&deadlock.members),
        })
    });
    fields(json!({
        "deadlocks": deadlocks.collect::<Vec<_>>(),
        "still_blocked": all(&stuck),
        "still_blocked_more": more,
    }))
}

/// A thread that is blocked when the trace ends.
pub(crate) fn stuck_json(stuck: &Stuck<'_>) -> Value {
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

/// The name of a thread, in JSON.
pub(crate) fn name(thread: &ThreadName<'_>) -> Value {
    json!({ "name": thread.name, "group": thread.group, "id": thread.id.map(|id| id.0) })
}

pub(crate) fn totals(totals: TimeTotals) -> Value {
    json!({ "count": totals.count, "total_nanos": totals.total.0, "max_nanos": totals.max.0 })
}
