//! A trace as one page of HTML that needs nothing else: what is on it is gathered here, `page` shows it.
//!
//! The page adds up by itself what its reader asks for, by thread, by class, in a range of time. So it gets the trace's pieces, but no
//! more of them than can be shown: small ones are folded into others.

mod allocations;
mod calls;
mod cells;
mod cpu;
mod difference;
mod dump;
mod fleet;
mod leaks;
mod locks;
mod names;
mod page;
mod pairs;
mod requests;
mod start;
mod tree;
mod wait_stacks;
mod waits;

use std::io::{self, Write};
use std::{panic, thread};

use analysis::allocations::Naming;
use analysis::explain::Collections;
use analysis::own_code::OwnCode;
use serde_json::{Map, Value, json};
use trace::filter::Pattern;
use trace::time::Time;

use crate::input::whole::Whole;
pub(crate) use difference::write as write_difference;
pub(crate) use fleet::{Asked, Days, write as write_fleet};
use names::Names;
pub(crate) use page::REPORT;
pub(crate) use waits::Waits;

/// Writes a report. `head`: makes what the page begins with. `heap_dump`: what `martini heap --json` says of one. `cut`: stacks with a smaller part of all than this are folded.
pub(crate) fn write(
    head: impl FnOnce() -> Map<String, Value> + Send,
    whole: &Whole,
    waits: Waits,
    heap_dump: Option<Value>,
    own: Vec<Pattern>,
    cut: f64,
    out: &mut impl Write,
) -> io::Result<()> {
    let naming = Naming::Own(own.clone());
    let start = start::json(&whole.warm_up, &own);
    let requests = requests::json(&whole.requests, &own);
    let origin = origin(whole);
    let report = &whole.allocations.report;
    let beside = || {
        let mut data = head();
        data.insert("leaks".to_owned(), leaks::json(report, &naming));
        data
    };
    let (mut data, pieces) = both(beside, || {
        let mut names = Names::new(OwnCode::new(own));
        let allocations = allocations::json(report, &naming, origin, cut, &mut names);
        let cpu = cpu::json(&whole.cpu.report, &naming, cut, &mut names);
        let wall = whole.wall.as_ref().map_or(Value::Null, |wall| cpu::json(wall, &naming, cut, &mut names));
        let wait_stacks = wait_stacks::json(&whole.locks.report, cut, &mut names);
        let calls = calls::json(&whole.calls.report, cut, &mut names);
        let locks = locks::json(&whole.locks.report, waits, origin, &mut names);
        [
            ("allocations", allocations),
            ("cpu", cpu),
            ("wall", wall),
            ("wait_stacks", wait_stacks),
            ("calls", calls),
            ("locks", locks),
            ("names", names.json()),
        ]
    });
    data.insert("collections".to_owned(), collections(&whole.collections, origin));
    data.insert("start".to_owned(), start);
    data.insert("requests".to_owned(), requests);
    data.insert("length".to_owned(), length(whole).into());
    data.insert("dump".to_owned(), heap_dump.map_or(Value::Null, dump::shortened));
    data.extend(pieces.map(|(key, value)| (key.to_owned(), value)));
    data.insert("cut".to_owned(), json!(cut));
    page::write(&Value::Object(data), out)
}

/// Each collection; `null` if there was none.
fn collections(collections: &Collections, origin: Time) -> Value {
    let each = collections.each();
    if each.is_empty() {
        return Value::Null;
    }
    json!({
        "count": collections.count(),
        "pauses": collections.pauses().0,
        "since": each.iter().map(|one| one.since.since(origin).0).collect::<Vec<_>>(),
        "pause": each.iter().map(|one| one.pause.0).collect::<Vec<_>>(),
        "used": each.iter().map(|one| one.used).collect::<Vec<_>>(),
    })
}

/// Writes the report of a heap dump alone: what `martini heap --json` says of it.
pub(crate) fn write_dump(path: &str, dump: Value, out: &mut impl Write) -> io::Result<()> {
    page::write(&json!({ "is_dump": true, "path": path, "dump": dump::shortened(dump) }), out)
}

/// Does two things at the same time: each takes seconds for a large trace.
fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), other)
    })
}

/// How long the trace is, in nanoseconds; 0 if it has no times.
fn length(whole: &Whole) -> u64 {
    whole.locks.report.span().map_or(0, |(begin, end)| end.since(begin).0)
}

/// When the trace begins.
fn origin(whole: &Whole) -> Time {
    let begin = whole.allocations.report.facts().begin;
    whole.locks.report.span().map(|(begin, _)| begin).or(begin).unwrap_or_default()
}
