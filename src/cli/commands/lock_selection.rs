//! What `threads` and `locks` share: what to count of a trace, and what has to be said about it.

use std::io::Write;
use std::path::Path;

use analysis::locks::{LockReport, Selection, ThreadSummary, TimeTotals};
use owo_colors::OwoColorize;
use trace::filter::Pattern;
use trace::time::Nanos;

use crate::cli::input::reading::Reading;
use crate::cli::render::human::{counted, duration};
use crate::cli::render::notes;

/// Which part of a trace counts.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Part {
    /// Count only threads of these names: a name, or one with a * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) thread: Vec<Pattern>,
    /// Count only what happened from so many seconds after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    from: Option<Nanos>,
    /// Count only what happened until so many seconds after the beginning of the trace
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    to: Option<Nanos>,
    /// Name as the place of a wait the innermost call from these classes, where the trace has stacks (repeatable)
    #[arg(long, value_name = "PATTERN")]
    caller: Vec<Pattern>,
    /// Show threads whose names differ in numbers only as one: pool-1-thread-7 is of pool-*-thread-*
    #[arg(long)]
    pub(crate) pools: bool,
}

impl Part {
    /// The part, of waits for monitors of some classes.
    pub(crate) fn selection(&self, classes: &[Pattern]) -> Selection {
        Selection {
            classes: classes.to_vec(),
            threads: self.thread.clone(),
            callers: self.caller.clone(),
            from: self.from.unwrap_or_default(),
            to: self.to,
        }
    }

    /// Whether a thread is shown.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.thread.is_empty() || self.thread.iter().any(|pattern| pattern.matches(name))
    }
}

fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Nanos((seconds * 1e9) as u64)),
        _ => Err("give a number of seconds, such as 12.5".to_owned()),
    }
}

/// The first lines: which trace this is, and how much its threads waited.
pub(crate) fn head(path: &Path, reading: &Reading<LockReport>, out: &mut impl Write) -> std::io::Result<()> {
    let report = &reading.report;
    let origin = match report.log_start() {
        Some(start) => format!("lock log of {start}, {}", crate::cli::render::human::bytes(reading.bytes)),
        None if report.is_log() => format!("lock log, {}", crate::cli::render::human::bytes(reading.bytes)),
        None => notes::origin(reading),
    };
    writeln!(out, "{} ({origin})", path.display().bold())?;
    let length = report.counted().map_or(Nanos(0), |(since, until)| until.since(since));
    let [blocked, waiting, parked] = report.stalls();
    let told = |state: &str, sums: TimeTotals| {
        format!("{state} {} for {}", counted(sums.count, "time", "times"), duration(sums.total))
    };
    let mut stalls = vec![told("blocked", blocked)];
    if !report.is_log() {
        stalls.push(told("waiting", waiting));
    }
    if parked.count > 0 {
        stalls.push(told("parked", parked));
    }
    let threads = counted(report.thread_count(), "thread", "threads");
    writeln!(out, "{threads} in {}: {}", duration(length), stalls.join(", "))
}

/// What makes the numbers less than the whole coverage.
pub(crate) fn tail(reading: &Reading<LockReport>, out: &mut impl Write) -> std::io::Result<()> {
    let notes = monitor_notes(reading);
    writeln!(out)?;
    for note in &notes {
        writeln!(out, "{} {note}", "note:".yellow().bold())?;
    }
    if notes.is_empty() { Ok(()) } else { writeln!(out) }
}

fn monitor_notes(reading: &Reading<LockReport>) -> Vec<String> {
    let report = &reading.report;
    let mut notes = Vec::new();
    let stalls: u64 = report.stalls().iter().map(|stall| stall.count).sum();
    if stalls == 0 && report.problems().without_begin == 0 {
        notes.push(match report.is_log() {
            true => "no thread waits in this log".to_owned(),
            false => "no thread waits in this trace: nothing was contended in what is counted, or it was recorded \
                      without the thread profiler"
                .to_owned(),
        });
    }
    if report.is_log() {
        notes.push("a lock log tells neither the monitor nor its owner; a trace does".to_owned());
    }
    notes.extend(notes::of_monitors(reading));
    notes
}

/// A line for the threads that a table leaves out.
pub(crate) fn tell_left(left: &[ThreadSummary<'_>], out: &mut impl Write) -> std::io::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let members = left.iter().map(|row| row.members).sum();
    let sum = |state: fn(&ThreadSummary<'_>) -> TimeTotals| {
        duration(Nanos(left.iter().fold(0_u64, |sum, row| sum.saturating_add(state(row).total.0))))
    };
    writeln!(
        out,
        "  ... and {} more: {} blocked, {} waiting, {} parked; --top 0 shows all, --pools adds up those of a pool",
        counted(members, "thread", "threads"),
        sum(|row| row.blocked),
        sum(|row| row.waiting),
        sum(|row| row.parked),
    )
}
