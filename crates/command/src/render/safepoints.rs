//! Safepoints: tables of the VM's operations and of who was late, and the same as JSON.

use std::io::{self, Write};

use analysis::safepoints::{LateBy, LateInside, LateRow, LateSubject, Operation, SafepointReport, SlowSums, StopSums};
use serde_json::{Map, Value, json};
use trace::time::Nanos;

use crate::render::human::{self, counted, duration, percent, printable};
use crate::render::lock_stacks::write_stack;
use crate::render::page::Page;
use crate::render::table::Below;
use crate::render::view::Cell::{Count, Name};
use crate::render::view::{View, fields, location, stack};

/// At most so many lines below a row say what ran there.
const MOST_INSIDE: usize = 3;

/// All safepoints, in a sentence.
pub(crate) fn sums(report: &SafepointReport) -> String {
    let StopSums { count, sync, total } = report.sums();
    let SlowSums { count: slow, sync: slow_sync, longest } = report.slow();
    let all = format!(
        "{}: {} to stop all threads, {} in all",
        counted(count, "safepoint", "safepoints"),
        duration(sync),
        duration(total)
    );
    match slow {
        0 => format!("{all}; none took 1 ms or more to reach"),
        _ => format!(
            "{all}; {} took 1 ms or more to reach, {} together, the longest {}",
            human::count(slow),
            duration(slow_sync),
            duration(longest)
        ),
    }
}

/// The VM's operations.
pub(crate) fn operations<'a, 'r: 'a>() -> View<'a, Operation<'r>> {
    View::new()
        .both("count", "safepoints", |row: &Operation<'r>| Count(row.all.count))
        .both("to safepoint", "sync_nanos", |row| row.all.sync)
        .both("slow", "slow", |row| Count(row.slow.count))
        // Those that took less are in no element of their own.
        .text("longest", |row| longest(&row.slow).map_or("< 1 ms".to_owned(), duration))
        .both("in all", "total_nanos", |row| row.all.total)
        .text("operation", |row| Name(row.name.unwrap_or("(unknown)").to_owned()))
        .json(|row| json!({ "operation": row.name, "longest_sync_nanos": longest(&row.slow).map(|time| time.0) }))
}

fn longest(slow: &SlowSums) -> Option<Nanos> {
    (slow.count > 0).then_some(slow.longest)
}

/// Who was late, of all that took `slow` to reach.
pub(crate) fn late<'a, 'r: 'a>(by: LateBy, slow: Nanos) -> View<'a, LateRow<'r>> {
    let (all, heading) = (slow.0, if by == LateBy::Line { "late at" } else { "late thread" });
    View::new()
        .both("time", "nanos", |row: &LateRow<'r>| row.time)
        .text("share", move |row| percent(row.time.0, all))
        .both("delayed", "delayed", |row| Count(row.stops))
        .both("longest", "longest_nanos", |row| row.longest)
        .both(heading, "name", |row| Name(row.subject.to_string()))
        .below(inside)
        .json(|row| {
            let at = if let LateSubject::Line(at) = &row.subject { location(at) } else { Value::Null };
            let inside = row.inside.iter().map(|(inside, time)| json!({ "in": inside.to_string(), "nanos": time.0 }));
            json!({ "at": at, "inside": inside.collect::<Vec<_>>(), "stack": stack(&row.stack) })
        })
}

/// A row in JSON.
pub(crate) fn late_json(row: &LateRow<'_>) -> Value {
    late(LateBy::Line, Nanos(0)).object(row).into()
}

/// What ran in a row, unless its name says that already.
fn inside(row: &LateRow<'_>) -> Vec<Below> {
    let is_said = |inside: &LateInside<'_>| match (inside, row.subject) {
        (LateInside::Line(at), LateSubject::Line(of)) => *at == of,
        (LateInside::Function(name), LateSubject::Function(of)) => *name == of,
        (LateInside::Unknown, _) => true,
        _ => false,
    };
    if row.inside.len() == 1 && is_said(&row.inside[0].0) {
        return Vec::new();
    }
    let is_much = |time: u64| time.saturating_mul(10) >= row.time.0;
    row.inside
        .iter()
        .take(MOST_INSIDE)
        .filter(|(_, time)| is_much(time.0))
        .map(|(inside, time)| {
            let share = percent(time.0, row.time.0);
            let label = if row.inside.len() > 1 { format!("{share} in ") } else { "in ".to_owned() };
            Below { label, name: printable(&inside.to_string()) }
        })
        .collect()
}

/// Writes the stack of each row's longest time.
pub(crate) fn write_stacks(rows: &[LateRow<'_>], out: &mut Page<'_>) -> io::Result<()> {
    for row in rows.iter().filter(|row| !row.stack.is_empty()) {
        out.write_sentence(2, &printable(&format!("{}: {}", row.subject, duration(row.time))))?;
        write_stack(&row.stack, 4, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// What `by` is called in JSON.
pub(crate) fn table_name(by: LateBy) -> &'static str {
    match by {
        LateBy::Line => "late_lines",
        LateBy::Thread => "late_threads",
    }
}

/// Totals and operations, with exact numbers.
pub(crate) fn json(report: &SafepointReport) -> Map<String, Value> {
    let (all, slow) = (report.sums(), report.slow());
    fields(json!({
        "safepoints": all.count,
        "sync_nanos": all.sync.0,
        "total_nanos": all.total.0,
        "slow": slow.count,
        "slow_sync_nanos": slow.sync.0,
        "longest_sync_nanos": longest(&slow).map(|time| time.0),
        "unseen_nanos": report.unseen().0,
        "operations": operations().array(&report.operations()),
    }))
}
