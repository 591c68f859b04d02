//! What is printed about a trace besides its tables: who recorded it, its sums, and what is missing or wrong in it.

mod allocations;
mod counters;
mod locks;

use std::io::{self, Write};

use owo_colors::OwoColorize;

use crate::cli::input::reading::{Reading, Report};
use crate::cli::render::human::{bytes, count, counted};
use crate::cli::render::page::Page;

pub(crate) use allocations::{of_allocations, summary};
pub(crate) use locks::of_locks;

/// Writes notes, each from the beginning of a line.
pub(crate) fn write(notes: &[String], out: &mut Page<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|note| {
        let note = out.behind("note:", note);
        writeln!(out, "{}{note}", "note:".yellow().bold())
    })
}

/// Who recorded the trace, and how large it is.
pub(crate) fn origin<R: Report>(reading: &Reading<R>) -> String {
    let facts = reading.report.facts();
    let mut parts = Vec::new();
    if let Some(origin) = facts.origins.first() {
        parts.push(format!("{} {}", origin.agent, origin.version));
        parts.push(format!("pid {} on {}", origin.pid, origin.host));
    }
    if facts.documents > 1 {
        parts.push(format!("{} documents", count(facts.documents)));
    }
    parts.push(bytes(reading.bytes));
    parts.join(", ")
}

/// Was the trace written and read to its end?
pub(crate) fn is_complete<R: Report>(reading: &Reading<R>) -> bool {
    let facts = reading.report.facts();
    reading.broken.is_none() && facts.documents > 0 && facts.ended >= facts.documents
}

/// What is missing or wrong in any trace; one sentence each.
fn completeness<R: Report>(reading: &Reading<R>) -> Vec<String> {
    let facts = reading.report.facts();
    let mut notes = Vec::new();
    if let Some(broken) = &reading.broken {
        notes.push(format!("only a part of the trace could be read: {broken}"));
    } else if !is_complete(reading) {
        let cut = facts.documents.saturating_sub(facts.ended);
        let which = match facts.documents {
            0 | 1 => "the trace was".to_owned(),
            documents => format!("{} of {} documents were", count(cut), count(documents)),
        };
        notes.push(format!("{which} cut off, as when the JVM is killed; the numbers show what was written until then"));
    }
    if reading.malformed > 0 {
        let elements = counted(reading.malformed, "element is malformed and", "elements are malformed and");
        let first = reading.first_malformed.as_deref().unwrap_or_default();
        notes.push(format!("{elements} not counted; the first is at {first}"));
    }
    if facts.undefined_ids > 0 {
        let ids = counted(
            facts.undefined_ids,
            "id of a class, thread, method or stack is",
            "ids of classes, threads, methods or stacks are",
        );
        notes.push(format!("{ids} used without a definition; the tables call them (undefined ...)"));
    }
    notes
}
