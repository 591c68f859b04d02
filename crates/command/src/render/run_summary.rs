//! What `run` prints of a trace: what stands out and the lines that cost most, in ten lines besides notes.

use std::cmp::Reverse;
use std::io;

use analysis::allocations::{AllocationReport, Line, SiteNames};
use analysis::cpu::{CpuBy, CpuReport, CpuSubject};
use analysis::locks::{LockBy, LockReport};
use trace::time::Nanos;

use crate::render::cpu_tables;
use crate::render::human::{bytes, count, duration, percent, printable};
use crate::render::line_table::marked;
use crate::render::page::Page;
use crate::render::table::Table;

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
    let size = |line: &Line<'_>| line.row.totals.total_bytes();
    lines.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.row.subject.cmp(&b.row.subject)));
    lines.truncate(rows);
    let all = report.sum(|_| true).total_bytes();
    let has_error = lines.iter().any(|line| line.row.error.is_some());
    let mut headings = vec!["size", "share", "±", "where, in your code"];
    if !has_error {
        headings.remove(2);
    }
    let mut table = Table::new(headings);
    for line in &lines {
        let mut row = vec![bytes(size(line)), percent(size(line), all)];
        if has_error {
            row.push(line.row.error.map_or("exact".to_owned(), |error| percent(error, all)));
        }
        row.push(marked(&line.row.subject));
        table.push(row);
    }
    if lines.is_empty() { Ok(()) } else { table.write(out) }
}

/// Rows of each of two tables.
pub(crate) fn half(rows: usize) -> usize {
    (rows / 2).max(LEAST_ROWS)
}

/// Writes the lines that take most of the CPU time.
pub(crate) fn write_cpu(report: &CpuReport, names: &SiteNames, rows: usize, out: &mut Page<'_>) -> io::Result<()> {
    let mut lines = report.rows(CpuBy::Line, names);
    lines.retain(|line| line.samples > 0);
    let mut others = 0;
    // Threads that compile or collect leave room for the program, however much they take.
    lines.retain(|line| {
        let is_other = matches!(line.subject, CpuSubject::VmThreads(_) | CpuSubject::Lost(_));
        others += usize::from(is_other);
        !is_other || others <= rows / 2
    });
    lines.truncate(rows);
    let whole = report.sum().1;
    let mut table = Table::new(vec!["cpu", "share", "±", "where, in your code"]);
    for line in &lines {
        let share = |time: Nanos| percent(time.0, whole.0);
        table.push(vec![duration(line.time), share(line.time), share(line.error), cpu_tables::marked(&line.subject)]);
    }
    if lines.is_empty() { Ok(()) } else { table.write(out) }
}

/// Writes where threads wait longest, for whatever.
pub(crate) fn write_waits(report: &LockReport, rows: usize, out: &mut Page<'_>) -> io::Result<()> {
    let waits = report.rows(LockBy::Site, false).into_iter();
    let mut waits: Vec<_> = waits
        .map(|row| {
            let total = Nanos(row.contended.total().0.saturating_add(row.waited.total().0));
            (total, row.contended.count() + row.waited.count(), printable(&row.subject.to_string()))
        })
        .collect();
    waits.sort_by_key(|(total, _, name)| (Reverse(*total), name.clone()));
    waits.truncate(rows);
    let mut table = Table::new(vec!["waited", "times", "where threads wait"]);
    let is_empty = waits.is_empty();
    for (total, times, name) in waits {
        table.push(vec![duration(total), count(times), name]);
    }
    if is_empty { Ok(()) } else { table.write(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_are_enough() {
        assert_eq!([0, 1, 2, 3, 5, 9].map(rows_beside), [6, 5, 4, 3, 2, 2]);
    }
}
