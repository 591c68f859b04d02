//! Deadlocks, blocked threads and longest waits, with their call stacks.

use std::collections::HashMap;
use std::io::Write;

use analysis::allocations::Location;
use analysis::locks::{CalledLock, LockReport, LockRow, Stuck};
use owo_colors::OwoColorize;

use crate::render::human::{count, counted, duration, printable};
use crate::render::notes::recorded::RecordedWaits;
use crate::render::page::Page;

/// Frames of a stack that text shows.
const FRAMES: usize = 12;

/// Writes deadlocks, with the stacks of their threads.
pub(crate) fn write_deadlocks(report: &LockReport, out: &mut Page<'_>) -> std::io::Result<()> {
    let recorded = RecordedWaits::of(report);
    for deadlock in report.deadlocks() {
        let threads = counted(deadlock.members.len() as u64, "thread had waited", "threads had waited");
        let title =
            format!("DEADLOCK: {threads} for each other for {} when the trace ended", duration(deadlock.length));
        writeln!(out, "\n{}", title.red().bold())?;
        for member in &deadlock.members {
            write_one(member, recorded, out)?;
        }
    }
    Ok(())
}

/// Writes the threads that were still blocked at the end; those that wait for the same lock are one entry, of `top` at most.
pub(crate) fn write_stuck(report: &LockReport, top: usize, out: &mut Page<'_>) -> std::io::Result<()> {
    let recorded = RecordedWaits::of(report);
    let (stuck, more) = report.stuck();
    let all = stuck.len() as u64 + more;
    if all == 0 {
        return Ok(());
    }
    let title = format!("{} still blocked when the trace ended", counted(all, "thread was", "threads were"));
    writeln!(out, "\n{}", title.bold())?;
    let mut groups: Vec<(&Stuck<'_>, u64)> = Vec::new();
    let mut known = HashMap::new();
    for one in &stuck {
        let group = *known.entry((one.class, one.object, one.owner)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, others)) if one.object.is_some() => *others += 1,
            _ => groups.push((one, 0)),
        }
    }
    for &(one, others) in groups.iter().take(top) {
        write_one(one, recorded, out)?;
        if others > 0 {
            writeln!(out, "    {} for it as well", counted(others, "other thread waits", "other threads wait"))?;
        }
    }
    let shown: u64 = groups.iter().take(top).map(|(_, others)| 1 + others).sum();
    if all > shown {
        writeln!(out, "  ... and {} more", count(all - shown))?;
    }
    Ok(())
}

fn write_one(stuck: &Stuck<'_>, recorded: RecordedWaits, out: &mut Page<'_>) -> std::io::Result<()> {
    let lock = stuck.object.map(|object| CalledLock { name: stuck.name, class: stuck.class, object });
    let lock = lock.map_or_else(String::new, |lock| format!(" for {lock}"));
    let owner = match &stuck.owner {
        Some((owner, state)) => format!(", owned by {owner} ({})", recorded.word(*state)),
        None => String::new(),
    };
    let state = stuck.state.as_str();
    let line = format!("{}: {state} for {}{lock}{owner}", stuck.thread, duration(stuck.length));
    out.write_sentence(2, &printable(&line))?;
    write_stack(&stuck.stack, 4, out)?;
    if !stuck.owner_stack.is_empty() {
        writeln!(out, "    the owner was at")?;
        write_stack(&stuck.owner_stack, 6, out)?;
    }
    Ok(())
}

/// Writes the longest wait of each row, with the stacks of both threads.
pub(crate) fn write_longest(
    rows: &[LockRow<'_>],
    waits: bool,
    report: &LockReport,
    out: &mut Page<'_>,
) -> std::io::Result<()> {
    let begin = report.span().map(|(begin, _)| begin).unwrap_or_default();
    for row in rows {
        let Some(longest) = &row.longest[usize::from(waits)] else { continue };
        let (length, after) = (duration(longest.length), duration(longest.since.since(begin)));
        let line = format!("{}: {length} at {after}, {} waited", row.subject, longest.waiter);
        let line = out.sentence(2, &printable(&line));
        writeln!(out, "\n{}", line.bold())?;
        write_stack(&longest.stack, 4, out)?;
        if let Some(owner) = longest.owner {
            out.write_sentence(4, &printable(&format!("{owner} owned it")))?;
            write_stack(&longest.owner_stack, 6, out)?;
        }
    }
    Ok(())
}

/// Writes a call stack behind `indent` columns.
pub(crate) fn write_stack(stack: &[Location<'_>], indent: usize, out: &mut Page<'_>) -> std::io::Result<()> {
    for frame in stack.iter().take(FRAMES) {
        let frame = out.fit(indent, &printable(&format!("at {frame}")));
        writeln!(out, "{:indent$}{frame}", "")?;
    }
    match stack.len().saturating_sub(FRAMES) {
        0 => Ok(()),
        left => writeln!(out, "{:indent$}... and {} more", "", counted(left as u64, "frame", "frames")),
    }
}
