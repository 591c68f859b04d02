//! What `threads` and `locks` print around their tables.

use std::io::{self, Write};
use std::path::Path;

use analysis::locks::{LockReport, ThreadSummary, TimeTotals, WaitSums};
use trace::time::Nanos;

use crate::input::reading::Reading;
use crate::render::human::{bytes, count, counted, duration};
use crate::render::notes::recorded::RecordedWaits;
use crate::render::page::Page;
use crate::render::{head, notes};

/// The first lines: which trace this is, and how much its threads waited.
pub(crate) fn write_head(path: &Path, reading: &Reading<LockReport>, out: &mut Page<'_>) -> io::Result<()> {
    let report = &reading.report;
    let origin = match report.log_start() {
        Some(start) => format!("lock log of {start}, {}", bytes(reading.bytes)),
        None if report.is_log() => format!("lock log, {}", bytes(reading.bytes)),
        None => notes::origin(reading),
    };
    head::write_named(path, &origin, out)?;
    out.write_sentence(0, &sums(report))
}

/// How much the threads of a trace waited, in a sentence.
pub(crate) fn sums(report: &LockReport) -> String {
    let length = report.counted().map_or(Nanos(0), |(since, until)| until.since(since));
    // Who sleeps waits for nobody.
    let [blocked, waiting, parked, _] = report.stalls();
    let stall = |state: &str, totals: TimeTotals| {
        format!("{state} {} for {}", counted(totals.count, "time", "times"), duration(totals.total))
    };
    let mut stalls = vec![stall("blocked", blocked)];
    if !report.is_log() {
        stalls.push(stall("waiting", waiting));
    }
    match report.estimate() {
        Some(estimate) => {
            let (total, error) = (duration(estimate.total), duration(estimate.error));
            stalls.push(format!("parked for locks for about {total} ± {error}"));
        }
        _ if parked.count > 0 => stalls.push(stall("parked", parked)),
        _ => {}
    }
    let threads = counted(report.thread_count(), "thread", "threads");
    let recorded = RecordedWaits::of(report);
    let threads = match report.other_thread_count() {
        0 => threads,
        others => format!("{threads} (and {others} VM and native threads)"),
    };
    match recorded.any {
        true => format!("{threads} in {}: {}", duration(length), stalls.join(", ")),
        false => format!("{threads} in {}; what they waited for was not recorded", duration(length)),
    }
}

/// Below the table of owners' places: which share of the waits is in it.
pub(crate) fn write_owner_stacks(sums: &WaitSums, out: &mut Page<'_>) -> io::Result<()> {
    let WaitSums { contended, with_owner_stack: with, .. } = sums;
    if contended.count == 0 {
        return Ok(());
    }
    let sentence = format!(
        "owner stacks known for {} of {} ({} %), {} of {}",
        count(with.count),
        counted(contended.count, "wait", "waits"),
        u128::from(with.count) * 100 / u128::from(contended.count),
        duration(with.total),
        duration(contended.total),
    );
    if with.count == 0 {
        writeln!(out)?;
    }
    out.write_sentence(2, &sentence)
}

/// What threads waited for besides locks, where that is not shown.
pub(crate) fn write_waited(sums: &WaitSums, out: &mut Page<'_>) -> io::Result<()> {
    let WaitSums { waited, idle, .. } = sums;
    if waited.count + idle.count > 0 {
        writeln!(out)?;
    }
    if waited.count == 0 {
        return Ok(());
    }
    let waits = counted(waited.count, "wait", "waits");
    writeln!(out, "  other waits: {waits} for {}; --waits shows them", duration(waited.total))
}

/// How much of what threads waited is in no table, since they had nothing to do.
pub(crate) fn write_idle(sums: &WaitSums, out: &mut Page<'_>) -> io::Result<()> {
    let WaitSums { idle, .. } = sums;
    if idle.count == 0 {
        return Ok(());
    }
    let waits = counted(idle.count, "wait", "waits");
    let sentence = format!(
        "left out: {waits} for {} by idle threads (pools, timers); --waits --idle includes them",
        duration(idle.total)
    );
    out.write_sentence(2, &sentence)
}

/// The last lines: what is missing or wrong in the numbers.
pub(crate) fn write_notes(reading: &Reading<LockReport>, out: &mut Page<'_>) -> io::Result<()> {
    let notes = notes::of_locks(reading);
    writeln!(out)?;
    notes::write_last(&notes, out)
}

/// A line for the threads that a table leaves out.
pub(crate) fn write_left_out(left: &[ThreadSummary<'_>], out: &mut Page<'_>) -> io::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let members = left.iter().map(|row| row.members).sum();
    let sum = |state: fn(&ThreadSummary<'_>) -> TimeTotals| {
        duration(Nanos(left.iter().fold(0_u64, |sum, row| sum.saturating_add(state(row).total.0))))
    };
    let sentence = format!(
        "... and {} more: {} blocked, {} waiting, {} parked, {} sleeping; --top 0 shows all, --pools merges pools",
        counted(members, "thread", "threads"),
        sum(|row| row.blocked),
        sum(|row| row.waiting),
        sum(|row| row.parked),
        sum(|row| row.sleeping),
    );
    out.write_sentence(2, &sentence)
}
