//! One request, whole: its parts, initialisers, waits with their owners, and the lines that it was seen at.

use std::io::{self, Write};

use analysis::allocations::Location;
use analysis::requests::{CodePart, InitialiserPart, Part, PartKind, RequestRow, WaitPart};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::time::Nanos;

use super::parts::{Recorded, work_label};
use super::{called, known, nanos};
use crate::render::human::{bytes, count, duration, percent, printable};
use crate::render::page::Page;
use crate::render::table::Below;
use crate::render::view::Cell::{Count, Name, Text};
use crate::render::view::{View, location, stack};

/// Frames of a stack that text shows.
const FRAMES: usize = 6;

/// Writes one request; `top` rows of each table.
pub(crate) fn write(row: &RequestRow<'_>, recorded: Recorded, top: usize, out: &mut Page<'_>) -> io::Result<()> {
    let failed = if row.failed { ", and failed" } else { "" };
    let handed = if row.handed_over { ", then handed over (startAsync)" } else { "" };
    let head = format!(
        "{}: {}{failed}{handed}, on thread {}, {} after the beginning; CPU time {}, allocated {}",
        called(row),
        duration(row.took),
        row.thread,
        duration(row.begun),
        known(row.cpu, duration),
        known(row.bytes, bytes),
    );
    let head = out.sentence(0, &printable(&head));
    writeln!(out, "{}\n", head.bold())?;
    let took = row.took;
    let parts: View<'_, Part> = View::new()
        .text("time", |part: &Part| part.time)
        .text("±", |part| Some(part.error).filter(|error| error.0 > 0))
        .text("share", move |part| Text(percent(part.time.0, took.0)))
        .text("part", move |part| Text(recorded.label(part.kind).to_owned()));
    parts.table(&row.split.parts).write(out)?;
    let missing: Vec<_> = recorded.missing(row).map(PartKind::as_str).collect();
    if !missing.is_empty() {
        out.write_sentence(2, &format!("not recorded: {}", missing.join(", ")))?;
    }
    writeln!(out)?;
    let cut = |all: usize| all.saturating_sub(top);
    let (initialisers, waits, code) = (&row.initialisers, &row.waits, &row.code);
    if !initialisers.is_empty() {
        initialiser_view().table(initialisers.iter().take(top)).write_top(cut(initialisers.len()), out)?;
    }
    if !waits.is_empty() {
        wait_view(recorded).table(waits.iter().take(top)).write_top(cut(waits.len()), out)?;
    }
    if !code.is_empty() {
        code_view().table(code.iter().take(top)).write_top(cut(code.len()), out)?;
    }
    Ok(())
}

fn initialiser_view<'a, 'r: 'a>() -> View<'a, InitialiserPart<'r>> {
    View::new()
        .both("own", "own_nanos", |part: &InitialiserPart<'r>| part.own)
        .both("total", "total_nanos", |part| part.total)
        .both("after", "after_nanos", |part| part.after)
        .both("static initialiser of", "class", |part| Name(part.class.to_owned()))
        .below(|part| {
            let cause = part.caused_by.iter();
            let cause = cause.map(|at| Below { label: "caused by ".to_owned(), name: printable(&at.to_string()) });
            cause.chain(frames("at ", &part.stack)).collect()
        })
        .json(|part| {
            json!({
                "caused_by": part.caused_by.as_ref().map_or(Value::Null, location),
                "running": part.runs_on,
                "stack": stack(&part.stack),
            })
        })
}

fn wait_view<'a, 'r: 'a>(recorded: Recorded) -> View<'a, WaitPart<'r>> {
    View::new()
        .both("time", "nanos", |part: &WaitPart<'r>| part.time)
        .both("waits", "waits", |part| Count(part.waits))
        .both("longest", "longest_nanos", |part| part.longest)
        .text("wait", move |part| {
            let class = part.class.map_or(String::new(), |class| format!(": {class}"));
            Name(format!("{}{class}", recorded.label(part.kind)))
        })
        .below(|part| {
            let mut below = frames("at ", &part.stack);
            if let Some(owner) = part.owner {
                below.push(Below { label: "owned by ".to_owned(), name: printable(&owner.to_string()) });
                below.extend(frames("at ", &part.owner_stack));
            }
            below
        })
        .json(|part| {
            json!({
                "part": part.kind.as_str(),
                "class": part.class,
                "at": part.at.as_ref().map_or(Value::Null, location),
                "stack": stack(&part.stack),
                "owner": part.owner.map(|owner| owner.to_string()),
                "owner_at": part.owner_at.as_ref().map_or(Value::Null, location),
                "owner_stack": stack(&part.owner_stack),
            })
        })
}

fn code_view<'a, 'r: 'a>() -> View<'a, CodePart<'r>> {
    View::new()
        .both("CPU", "cpu_nanos", |part: &CodePart<'r>| part.cpu)
        .both("samples", "samples", |part| Count(part.samples))
        .text("what", |part| {
            Text(if part.in_initialiser { "static initialiser" } else { work_label(part.work) }.to_owned())
        })
        .text("line", |part| part.at.map_or(Text("-".to_owned()), |at| Name(at.to_string())))
        .json(|part| {
            json!({
                "part": part.work.as_str(),
                "in_initialiser": part.in_initialiser,
                "at": part.at.as_ref().map_or(Value::Null, location),
                "stack": stack(&part.stack),
            })
        })
}

fn frames(label: &str, stack: &[Location<'_>]) -> Vec<Below> {
    let below = |at: &Location<'_>| Below { label: label.to_owned(), name: printable(&at.to_string()) };
    let mut lines: Vec<_> = stack.iter().take(FRAMES).map(below).collect();
    if stack.len() > FRAMES {
        let more = format!("{} more frames", count((stack.len() - FRAMES) as u64));
        lines.push(Below { label: "... ".to_owned(), name: more });
    }
    lines
}

/// The parts of a request's time in JSON.
pub(crate) fn parts_json(row: &RequestRow<'_>) -> Value {
    let part = |part: &Part| json!({ "part": part.kind.as_str(), "nanos": part.time.0, "error_nanos": part.error.0 });
    row.split.parts.iter().map(part).collect()
}

/// A request in JSON.
pub(crate) fn json(row: &RequestRow<'_>, recorded: Recorded) -> Value {
    let Nanos(cpu_in_waits) = row.split.cpu_in_waits;
    json!({
        "number": row.number,
        "place_among_slowest": row.place,
        "thread": row.thread.to_string(),
        "begun_nanos": row.begun.0,
        "nanos": row.took.0,
        "cpu_nanos": nanos(row.cpu),
        "ready_nanos": nanos(row.ready),
        "bytes": row.bytes,
        "failed": row.failed,
        "handed_over": row.handed_over,
        "parts": parts_json(row),
        "not_recorded": recorded.missing(row).map(PartKind::as_str).collect::<Vec<_>>(),
        "cpu_in_waits_nanos": cpu_in_waits,
        "partial": row.is_partial,
        "why": super::why(row),
        "initialisers": initialiser_view().array(&row.initialisers),
        "waits": wait_view(recorded).array(&row.waits),
        "code": code_view().array(&row.code),
    })
}
