//! The tables of samples: which columns there are.

use analysis::cpu::{CpuBy, CpuInside, CpuRow, CpuSubject, SampleClock};
use analysis::own_code::is_jdk;
use trace::time::Nanos;

use crate::render::human::{count, duration, printable};
use crate::render::table::{Below, Table};

/// At most so many lines below a row say what ran there.
const MOST_INSIDE: usize = 3;

/// They say no less than this part of it.
const LEAST_INSIDE: f64 = 0.1;

/// The word for one row of a table.
pub(crate) fn noun(by: CpuBy) -> &'static str {
    match by {
        CpuBy::Line => "line",
        CpuBy::Method => "method",
        CpuBy::Class => "class",
        CpuBy::Package => "package",
        CpuBy::Module => "module",
        CpuBy::Thread | CpuBy::Carrier => "thread",
        CpuBy::Function => "function of native code",
        CpuBy::Kind => "how it ran",
    }
}

/// A table of rows, as they are ordered, of all that lasts `whole`.
pub(crate) fn table(rows: &[CpuRow<'_>], by: CpuBy, whole: Nanos, clock: SampleClock) -> Table {
    let time = match clock {
        SampleClock::Cpu => "cpu",
        SampleClock::Wall => "time",
    };
    let mut headings = vec![time, "±", "share", "samples"];
    if by.is_code() {
        headings.push("total");
    }
    headings.push(noun(by));
    let mut table = Table::new(headings);
    for row in rows {
        let mut cells = vec![duration(row.time), duration(row.error), percent(row.time, whole), count(row.samples)];
        if by.is_code() {
            cells.push(duration(row.total));
        }
        cells.push(marked(&row.subject));
        table.push_above(cells, ran(row));
    }
    table
}

/// What a row is called; code of the JDK with its mark.
pub(crate) fn marked(subject: &CpuSubject<'_>) -> String {
    let is_of_jdk = match subject {
        CpuSubject::Line(at) => is_jdk(at.class),
        CpuSubject::Method(class, _) | CpuSubject::Class(class) => is_jdk(class),
        _ => false,
    };
    format!("{}{}", printable(&subject.to_string()), if is_of_jdk { " [JDK]" } else { "" })
}

/// What ran at a line besides its own method.
fn ran(row: &CpuRow<'_>) -> Vec<Below> {
    let CpuSubject::Line(at) = row.subject else { return Vec::new() };
    let is_itself = |inside: &CpuInside<'_>| inside.subject == CpuSubject::Method(at.class, at.method);
    if row.inside.first().is_some_and(|first| row.inside.len() == 1 && is_itself(first)) {
        return Vec::new();
    }
    let is_much = |inside: &&CpuInside<'_>| inside.time.0 as f64 >= row.time.0 as f64 * LEAST_INSIDE;
    let below = |inside: &CpuInside<'_>| {
        let name = if is_itself(inside) { "(itself)".to_owned() } else { printable(&inside.subject.to_string()) };
        Below { label: format!("{} ", percent(inside.time, row.time)), name }
    };
    row.inside.iter().take(MOST_INSIDE).filter(is_much).map(below).collect()
}

fn percent(part: Nanos, whole: Nanos) -> String {
    format!("{:.1} %", if whole.0 == 0 { 0.0 } else { part.0 as f64 * 100.0 / whole.0 as f64 })
}

/// What has to be known to read the tables; `has_code`: some of them are of code.
pub(crate) fn legend(clock: SampleClock, has_code: bool) -> String {
    let (column, what) = match clock {
        SampleClock::Cpu => ("cpu", "ran"),
        SampleClock::Wall => ("time", "was innermost"),
    };
    let code = match has_code {
        true => format!(
            "{column}: while it {what}, of lines with all that they called outside your code; total: while it was anywhere on \
             the stack; "
        ),
        false => String::new(),
    };
    format!("{code}±: right within that, with 95 % confidence")
}
