//! Safepoints: tables of the VM's operations and of who was late, and the same as JSON.

use std::io::{self, Write};

use analysis::allocations::Location;
use analysis::safepoints::{LateBy, LateInside, LateRow, LateSubject, Operation, SafepointReport, SlowSums, StopSums};
use serde_json::{Map, Value, json};

use crate::render::allocation_json;
use crate::render::human::{self, count, counted, duration, percent, printable};
use crate::render::page::Page;
use crate::render::table::{Below, Table};

/// At most so many lines below a row say what ran there.
const MOST_INSIDE: usize = 3;
/// Frames of a stack that text shows.
const FRAMES: usize = 12;

/// All safepoints, in a sentence.
pub(crate) fn sums(report: &SafepointReport) -> String {
    let StopSums { count, sync, total } = report.sums();
    let SlowSums { count: slow, sync: slow_sync, longest } = report.slow();
    let all = format!(
        "{}: {} until all threads had stopped, {} in all",
        counted(count, "safepoint", "safepoints"),
        duration(sync),
        duration(total)
    );
    match slow {
        0 => format!("{all}; none took 1 ms to reach"),
        _ => format!(
            "{all}; {} took 1 ms or more to reach, {} together, the longest {}",
            human::count(slow),
            duration(slow_sync),
            duration(longest)
        ),
    }
}

/// A table of the VM's operations.
pub(crate) fn operations(operations: &[Operation<'_>]) -> Table {
    let mut table = Table::new(vec!["count", "to safepoint", "slow", "longest", "in all", "operation"]);
    for Operation { name, all, slow } in operations {
        table.push(vec![
            count(all.count),
            duration(all.sync),
            count(slow.count),
            // Those that took less are in no element of their own.
            if slow.count == 0 { "< 1 ms".to_owned() } else { duration(slow.longest) },
            duration(all.total),
            printable(name.unwrap_or("(unknown)")),
        ]);
    }
    table
}

/// A table of who was late, of all that took `slow` to reach.
pub(crate) fn late(rows: &[LateRow<'_>], by: LateBy, slow: &SlowSums) -> Table {
    let heading = match by {
        LateBy::Line => "late at",
        LateBy::Thread => "late thread",
    };
    let mut table = Table::new(vec!["time", "share", "delayed", "longest", heading]);
    for row in rows {
        let cells = vec![
            duration(row.time),
            percent(row.time.0, slow.sync.0),
            count(row.stops),
            duration(row.longest),
            printable(&row.subject.to_string()),
        ];
        table.push_above(cells, inside(row));
    }
    table
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
        for frame in row.stack.iter().take(FRAMES) {
            let frame = out.fit(4, &printable(&format!("at {frame}")));
            writeln!(out, "    {frame}")?;
        }
        if let Some(left) = row.stack.len().checked_sub(FRAMES).filter(|&left| left > 0) {
            writeln!(out, "    ... and {} more", counted(left as u64, "frame", "frames"))?;
        }
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
    let operations: Vec<Value> = report.operations().iter().map(operation_json).collect();
    let slow = report.slow();
    let mut fields = stops_json(&report.sums());
    fields.extend([
        ("slow".to_owned(), json!(slow.count)),
        ("slow_sync_nanos".to_owned(), json!(slow.sync.0)),
        ("longest_sync_nanos".to_owned(), json!((slow.count > 0).then_some(slow.longest.0))),
        ("unseen_nanos".to_owned(), json!(report.unseen().0)),
        ("operations".to_owned(), operations.into()),
    ]);
    fields
}

fn stops_json(sums: &StopSums) -> Map<String, Value> {
    let fields = [("safepoints", sums.count), ("sync_nanos", sums.sync.0), ("total_nanos", sums.total.0)];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn operation_json(operation: &Operation<'_>) -> Value {
    let mut fields = stops_json(&operation.all);
    fields.insert("operation".to_owned(), json!(operation.name));
    fields.insert("slow".to_owned(), json!(operation.slow.count));
    let longest = (operation.slow.count > 0).then_some(operation.slow.longest.0);
    fields.insert("longest_sync_nanos".to_owned(), json!(longest));
    fields.into()
}

/// A row, with exact numbers.
pub(crate) fn late_json(row: &LateRow<'_>) -> Value {
    let at = match row.subject {
        LateSubject::Line(at) => allocation_json::location(&at),
        _ => Value::Null,
    };
    let inside = row.inside.iter().map(|(inside, time)| json!({ "in": inside.to_string(), "nanos": time.0 }));
    let stack = |frames: &[Location<'_>]| frames.iter().map(allocation_json::location).collect::<Vec<_>>();
    json!({
        "name": row.subject.to_string(),
        "at": at,
        "nanos": row.time.0,
        "delayed": row.stops,
        "longest_nanos": row.longest.0,
        "inside": inside.collect::<Vec<_>>(),
        "stack": stack(&row.stack),
    })
}
