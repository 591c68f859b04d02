//! Where in the code a program allocates: a table of lines or methods, and what has to be known to read it.

use analysis::allocations::{AllocationReport, By, Inside, Line, Row, Subject};
use analysis::own_code::is_jdk;

use crate::render::allocation_tables::{TableKind, noun, spread};
use crate::render::human;
use crate::render::table::{Below, Table};

/// At most so many lines below a row say what is made there.
const MOST_INSIDE: usize = 3;

/// They say no less than this part of it.
const LEAST_INSIDE: f64 = 0.1;

/// What is marked as code of the JDK: nobody else's is known there.
const OF_JDK: &str = " [JDK]";

/// A table of lines or methods in their order, of all that makes `whole` bytes.
pub(crate) fn table(lines: &[Line<'_>], by: By, whole: u64, kind: TableKind) -> Table {
    let is_spread = lines.iter().any(|line| line.row.error.is_some());
    let has_live = kind.has_live_lines();
    let mut headings = vec!["total size"];
    if is_spread {
        headings.push("±");
    }
    headings.extend(["share", "objects"]);
    if has_live {
        headings.extend(["live", "active size"]);
    }
    headings.push(noun(by));
    let mut table = Table::new(headings);
    for Line { row: Row { subject, totals, error }, inside } in lines {
        let mut row = vec![human::bytes(totals.total_bytes())];
        if is_spread {
            row.push(spread(*error));
        }
        row.extend([percent(totals.total_bytes(), whole), human::count(totals.total())]);
        if has_live {
            row.extend([human::count(totals.live()), human::bytes(totals.live_bytes())]);
        }
        row.push(marked(subject));
        table.push_above(row, made(subject, totals.total_bytes(), inside));
    }
    table
}

/// What a row is called, with its mark.
pub(crate) fn marked(subject: &Subject<'_>) -> String {
    let mark = if is_of_jdk(subject) { OF_JDK } else { "" };
    format!("{}{mark}", human::printable(&subject.to_string()))
}

fn is_of_jdk(subject: &Subject<'_>) -> bool {
    match subject {
        Subject::Line(Some(at)) => is_jdk(at.class),
        Subject::Method(Some((class, _))) => is_jdk(class),
        Subject::Module(Some(module)) => is_jdk(&format!("{module}.*")),
        _ => false,
    }
}

/// What a line makes, and which innermost frame does it.
fn made(subject: &Subject<'_>, whole: u64, inside: &[Inside<'_>]) -> Vec<Below> {
    let text = |made: &Inside<'_>| {
        let class = human::printable(made.class);
        let class = if inside.len() > 1 { format!("{} {class}", percent(made.bytes, whole)) } else { class };
        match made.at {
            Some(at) if *subject != Subject::Line(Some(at)) => {
                Below { label: format!("{class} in "), name: human::printable(&at.to_string()) }
            }
            _ => Below { label: String::new(), name: class },
        }
    };
    let is_much = |made: &Inside<'_>| made.bytes as f64 >= whole as f64 * LEAST_INSIDE;
    inside
        .iter()
        .enumerate()
        .take_while(|(at, made)| *at == 0 || *at < MOST_INSIDE && is_much(made))
        .map(|(_, made)| text(made))
        .collect()
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

/// In percent, with one decimal.
fn rounded_down(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 * 1000.0 / whole as f64).floor() / 10.0 }
}

/// What has to be known to read a table of lines, of which only some are shown; one sentence each.
pub(crate) fn notes(all: &[Line<'_>], shown: usize, report: &AllocationReport) -> Vec<String> {
    let mut notes = Vec::new();
    let bytes = |line: &Line<'_>| line.row.totals.total_bytes();
    let whole: u64 = all.iter().map(bytes).fold(0, u64::saturating_add);
    let outside = outside_jdk(all);
    let rest = match (outside < whole, report.has_stacks(), report.has_samples()) {
        (true, true, true) => "; the rest has no such frame, or was too little to be sampled",
        (true, true, false) => "; the rest has no such frame",
        _ => "",
    };
    notes.push(format!(
        "{:.1} % of the bytes are attributed to lines outside the JDK{rest}",
        rounded_down(outside, whole)
    ));
    let is_of_modules = matches!(all.first().map(|line| line.row.subject), Some(Subject::Module(_)));
    if is_of_modules && !report.has_modules() {
        notes.push(NO_MODULES.to_owned());
    }
    if !report.has_stacks() {
        notes.push(no_stacks(report));
    }
    let is_removed = |line: &&Line<'_>| {
        let totals = &line.row.totals;
        line.row.error.is_some() && totals.removed_bytes().is_some_and(|removed| removed > totals.total_bytes() / 2)
    };
    if all[..shown].iter().any(|line| is_removed(&line)) {
        notes.push(
            "the JIT removed more than half of what some of these lines executed; their split over callers is that of \
             what was left"
                .to_owned(),
        );
    }
    notes
}

/// Bytes whose line is not of the JDK.
pub(crate) fn outside_jdk(lines: &[Line<'_>]) -> u64 {
    let outside = lines.iter().filter(|line| line.is_outside_jdk());
    outside.map(|line| line.row.totals.total_bytes()).fold(0, u64::saturating_add)
}

/// That no class has its module.
pub(crate) const NO_MODULES: &str =
    "the trace does not say in which modules classes are: another profiler or an earlier version wrote it";

/// That callers are not known, and how to record them.
pub(crate) fn no_stacks(report: &AllocationReport) -> String {
    format!(
        "the trace has no callers, so these are the innermost frames; martini run {} records callers",
        how_to_record(report)
    )
}

/// The flag of `martini run` that records callers in the same mode.
pub(crate) fn how_to_record(report: &AllocationReport) -> &'static str {
    if report.is_counted() { "--callers 16k" } else { "--stack 16" }
}
