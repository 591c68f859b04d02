//! What `run` prints of a trace: what stands out and the lines that cost most, in ten lines besides notes.

use std::cmp::Reverse;
use std::io;

use analysis::allocations::{AllocationReport, Line, SiteNames};
use analysis::cpu::{CpuBy, CpuReport, CpuRow, CpuSubject};
use analysis::locks::{LockBy, LockReport, LockRow};
use trace::time::Nanos;

use crate::render::human::{percent, printable};
use crate::render::page::Page;
use crate::render::view::Cell::{Bytes, Count, Name};
use crate::render::view::View;
use crate::render::{allocations, samples};

/// Lines of findings and rows together: with the head, the headings, the coverage and the next commands these are ten.
const LINES: usize = 6;
/// Rows at least, however many findings there are.
const LEAST_ROWS: usize = 2;

/// How many rows there are room for beside findings.
pub(crate) fn rows_beside(findings: usize) -> usize {
    LINES.saturating_sub(findings).max(LEAST_ROWS)
}

/// Writes the lines that allocate most.
pub(crate) fn write_lines(
    report: &AllocationReport,
    names: &SiteNames,
    rows: usize,
    out: &mut Page<'_>,
) -> io::Result<()> {
    let mut lines = report.lines(names, |_| true);
    lines.retain(|line| !line.row.has_few_samples());
    let size = |line: &Line<'_>| line.row.totals.total_bytes();
    lines.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.row.subject.cmp(&b.row.subject)));
    lines.truncate(rows);
    let all = report.sum(|_| true).total_bytes();
    let has_error = lines.iter().any(|line| line.row.error.is_some());
    let share = move |part| percent(part, all);
    let table = View::new()
        .text("size", |line: &Line<'_>| Bytes(size(line)))
        .text("share", |line| share(size(line)))
        .text(has_error.then_some("±"), |line| line.row.error.map_or("exact".to_owned(), share))
        .text("where, in your code", |line| allocations::marked(&line.row.subject))
        .table(&lines);
    if lines.is_empty() { Ok(()) } else { table.write(out) }
}

/// Rows of each of two tables.
pub(crate) fn half(rows: usize) -> usize {
    (rows / 2).max(LEAST_ROWS)
}

/// Writes the lines that take most of the CPU time.
pub(crate) fn write_cpu(report: &CpuReport, names: &SiteNames, rows: usize, out: &mut Page<'_>) -> io::Result<()> {
    let mut lines = report.rows(CpuBy::Line, names);
    lines.retain(|line| line.samples > 0 && !line.has_few_samples());
    let mut others = 0;
    // Threads that compile or collect leave room for the program, however much they take.
    lines.retain(|line| {
        let is_other = matches!(line.subject, CpuSubject::VmThreads(_) | CpuSubject::Lost(_));
        others += usize::from(is_other);
        !is_other || others <= rows / 2
    });
    lines.truncate(rows);
    let whole = report.sum().1;
    let share = move |time: Nanos| percent(time.0, whole.0);
    let table = View::new()
        .text("cpu", |line: &CpuRow<'_>| line.time)
        .text("share", |line| share(line.time))
        .text("±", |line| share(line.error))
        .text("where, in your code", |line| samples::marked(&line.subject))
        .table(&lines);
    if lines.is_empty() { Ok(()) } else { table.write(out) }
}

/// Writes where threads wait longest, for whatever.
pub(crate) fn write_waits(report: &LockReport, rows: usize, out: &mut Page<'_>) -> io::Result<()> {
    let total = |row: &LockRow<'_>| Nanos(row.contended.total().0.saturating_add(row.waited.total().0));
    let mut waits = report.rows(LockBy::Site, false);
    waits.sort_by_cached_key(|row| (Reverse(total(row)), printable(&row.subject.to_string())));
    waits.truncate(rows);
    let table = View::new()
        .text("waited", total)
        .text("times", |row| Count(row.contended.count() + row.waited.count()))
        .text("where threads wait", |row| Name(row.subject.to_string()))
        .table(&waits);
    if waits.is_empty() { Ok(()) } else { table.write(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_are_enough() {
        assert_eq!([0, 1, 2, 3, 5, 9].map(rows_beside), [6, 5, 4, 3, 2, 2]);
    }
}
