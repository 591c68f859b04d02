//! What is printed about a trace besides its tables: who recorded it, its sums, and what is missing or wrong in it.

mod allocations;
mod calls;
mod counters;
mod locks;
pub(crate) mod recorded;
mod requests;
mod safepoints;
mod samples;
mod warm_up;

use std::io::{self, Write};

use analysis::allocations::{Facts, Origin};
use owo_colors::OwoColorize;

use crate::input::reading::{Reading, Report};
use crate::render::human::{bytes, count, counted};
use crate::render::page::Page;

pub(crate) use allocations::{of_allocations, of_allocations_in_short, short_summary, summary, summary_of_classes};
pub(crate) use calls::{calls_summary, of_calls};
pub(crate) use locks::of_locks;
pub(crate) use requests::{elsewhere, of_requests};
pub(crate) use safepoints::of_safepoints;
pub(crate) use samples::{of_samples, samples_summary};
pub(crate) use warm_up::of_warm_up;

/// Writes notes, each from the beginning of a line.
pub(crate) fn write(notes: &[String], out: &mut Page<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|note| {
        let note = out.behind("note:", note);
        writeln!(out, "{}{note}", "note:".yellow().bold())
    })
}

/// The same, and an empty line behind them if there are some.
pub(crate) fn write_last(notes: &[String], out: &mut Page<'_>) -> io::Result<()> {
    write(notes, out)?;
    if notes.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Who recorded the trace, and how large it is.
pub(crate) fn origin<R: Report>(reading: &Reading<R>) -> String {
    let facts = reading.report.facts();
    let mut parts = Vec::new();
    if let Some(origin) = facts.origins.first() {
        let agent = format!("{} {}", origin.agent, origin.version);
        match origin.imported_from {
            Some(_) => parts.extend([format!("imported from {agent}"), format!("pid {}", origin.pid)]),
            None => parts.extend([agent, format!("pid {} on {}", origin.pid, origin.host)]),
        }
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

/// Why documents have no end; one sentence for those of Martini, one for those of other profilers.
fn no_end(facts: &Facts, is_growing: bool) -> Vec<String> {
    // One whose head is cut off names no profiler.
    let is_other = |origin: &&Origin| !origin.has_end && !origin.agent.is_empty() && !origin.is_martini();
    let of_others = facts.origins.iter().filter(is_other).count() as u64;
    let cut = facts.documents.saturating_sub(facts.ended).saturating_sub(of_others);
    let which = |some: u64, one: &str, many: &str| match facts.documents {
        0 | 1 => format!("the trace {one}"),
        documents => format!("{} of {} documents {many}", count(some), count(documents)),
    };
    let mut notes = Vec::new();
    if of_others > 0 {
        let which = which(of_others, "has", "have");
        notes.push(format!("{which} no end tag, as often with other profilers; something may be missing"));
    }
    if cut > 0 && is_growing {
        notes.push("the trace is still being written; the numbers show what is in it so far".to_owned());
    } else if cut > 0 || facts.documents == 0 {
        let which = which(cut, "was", "were");
        notes
            .push(format!("{which} cut off, as when the JVM is killed; the numbers cover what was written until then"));
    }
    notes
}

/// What is missing or wrong in a trace, whatever it says; one sentence each.
pub(crate) fn of_any<R: Report>(reading: &Reading<R>) -> Vec<String> {
    let mut notes = completeness(reading);
    notes.extend(counters::notes(&reading.report.facts().counts, |_| true));
    notes
}

/// What is missing or wrong in any trace; one sentence each.
pub(crate) fn completeness<R: Report>(reading: &Reading<R>) -> Vec<String> {
    let facts = reading.report.facts();
    let mut notes = Vec::new();
    if let Some(broken) = &reading.broken {
        notes.push(format!("only a part of the trace could be read: {broken}"));
    } else if !is_complete(reading) {
        notes.extend(no_end(facts, reading.is_growing));
    }
    if reading.malformed > 0 {
        let elements = counted(reading.malformed, "element is malformed and", "elements are malformed and");
        let first = reading.first_malformed.as_deref().unwrap_or_default();
        notes.push(format!("{elements} not counted; the first is at {first}"));
    }
    if facts.unknown > 0 {
        let elements = counted(facts.unknown, "element is of an unknown kind and", "elements are of unknown kinds and");
        notes.push(format!("{elements} not counted: a newer release, or another program, wrote the trace"));
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
