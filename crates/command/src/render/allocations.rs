//! The tables of what was allocated: which columns there are, and in which order rows come.
//!
//! A trace that counts objects instead of reporting them one by one has neither collected objects nor ages, so its tables have
//! fewer columns.

use std::cmp::{Ordering, Reverse};
use std::path::Path;

use analysis::allocations::{Account, AllocationReport, By, Inside, Line, ObjectTotals, Row, Subject};
use analysis::coverage::Millionths;
use analysis::own_code::is_jdk;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use trace::names;

use crate::input::reading::Reading;
use crate::render::human::{self, printable, tenths};
use crate::render::table::{Below, Table};
use crate::render::view::Cell::{self, Bytes, Count, Decimal, Text};
use crate::render::view::{View, fields, location};
use crate::render::{coverage, head};

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectColumn {
    /// Live instances
    Live,
    /// All instances
    Total,
    /// Collected instances
    Collected,
    /// Bytes of the live instances
    ActiveSize,
    /// Bytes of the live instances that survived a collection
    Survived,
    /// Bytes of all instances
    TotalSize,
    /// Average age of the live instances
    Age,
    /// Number of different ages of the live instances
    Generations,
    /// Of calls: time without what was called
    Base,
    /// Of calls: time with what was called
    Cumulative,
    /// Of calls: how many
    Calls,
    /// The name, from A to Z
    Name,
}

/// Sorts rows by a column, the largest number first; rows that are equal there, by size and name.
pub(crate) fn sort(rows: &mut [Row<'_>], column: ObjectColumn) {
    rows.sort_by(|a, b| order(a, b, column));
}

/// Sorts lines likewise.
pub(crate) fn sort_lines(lines: &mut [Line<'_>], column: ObjectColumn) {
    lines.sort_by(|a, b| order(&a.row, &b.row, column));
}

fn order(a: &Row<'_>, b: &Row<'_>, column: ObjectColumn) -> Ordering {
    let (x, y) = (&b.totals, &a.totals);
    let by_column = match column {
        ObjectColumn::Live => x.live().cmp(&y.live()),
        ObjectColumn::Total => x.total().cmp(&y.total()),
        ObjectColumn::Collected => x.collected().cmp(&y.collected()),
        ObjectColumn::ActiveSize => x.live_bytes().cmp(&y.live_bytes()),
        ObjectColumn::Survived => x.survived_bytes().cmp(&y.survived_bytes()),
        ObjectColumn::TotalSize => x.total_bytes().cmp(&y.total_bytes()),
        ObjectColumn::Age => x.average_age().partial_cmp(&y.average_age()).unwrap_or(Ordering::Equal),
        ObjectColumn::Generations => x.generations().cmp(&y.generations()),
        ObjectColumn::Base | ObjectColumn::Cumulative | ObjectColumn::Calls | ObjectColumn::Name => Ordering::Equal,
    };
    let by_size = || match column {
        ObjectColumn::Name => Ordering::Equal,
        _ => x.live_bytes().cmp(&y.live_bytes()).then(x.total_bytes().cmp(&y.total_bytes())),
    };
    by_column.then_with(by_size).then_with(|| a.subject.cmp(&b.subject))
}

/// The word for one row of a table.
pub(crate) fn noun(by: By) -> &'static str {
    match by {
        By::Package => "package",
        By::Class => "class",
        By::Site => "allocation site",
        By::Line => "line",
        By::Method => "method",
        By::Module => "module",
        By::Thread => "thread",
    }
}

/// The key of a table in JSON.
pub(crate) fn table_name(by: By) -> &'static str {
    if by == By::Site { "site" } else { noun(by) }
}

/// Which columns a trace has numbers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// Each one, from its allocation to its end.
    Objects,
    /// Some, with what they stand for.
    Samples {
        /// It is known which of them live.
        live: bool,
    },
    /// How many were allocated at each site.
    Counts {
        /// The heap was walked for those that live, or some were followed.
        live: bool,
        /// It is known where these were allocated.
        places: bool,
        /// A sampler estimated how many of the bytes the JIT let be allocated.
        estimates: bool,
    },
}

impl TableKind {
    /// The kind of a report's tables.
    pub(crate) fn of(report: &AllocationReport) -> Self {
        let places = report.has_live_samples() && report.facts().live_counts == 0;
        match report.is_counted() {
            false if report.is_sampled() => TableKind::Samples { live: places },
            false => TableKind::Objects,
            true => TableKind::Counts {
                live: places || report.facts().live_counts > 0,
                places,
                estimates: report.sum(|_| true).estimated_bytes().is_some(),
            },
        }
    }

    /// Whether it is known of lines of code what lives of their objects.
    pub(crate) fn has_live_lines(self) -> bool {
        match self {
            TableKind::Objects => true,
            TableKind::Samples { live } => live,
            TableKind::Counts { places, .. } => places,
        }
    }

    /// Why there is nothing to sort by in a column, and how to record it.
    pub(crate) fn lacks(self, column: ObjectColumn) -> Option<&'static str> {
        if matches!(column, ObjectColumn::Base | ObjectColumn::Cumulative | ObjectColumn::Calls) {
            return Some("only calls have this column (--calls)");
        }
        let (live, ages) = match self {
            TableKind::Objects => return None,
            TableKind::Samples { live } => (live, live),
            TableKind::Counts { live, places, .. } => (live, places),
        };
        match column {
            ObjectColumn::Collected | ObjectColumn::Survived | ObjectColumn::Age | ObjectColumn::Generations
                if !ages =>
            {
                Some("the trace has no deaths or ages; record them with martini run --sampled, or --heap events")
            }
            ObjectColumn::Live | ObjectColumn::ActiveSize if !live => {
                Some("the trace has no live objects; record them with martini run --live")
            }
            _ => None,
        }
    }

    /// The default column to sort by. Code is looked at for what it makes, not for what is left of that.
    pub(crate) fn column(self, by: By) -> ObjectColumn {
        match (self, by) {
            (_, By::Line | By::Method | By::Module) | (TableKind::Counts { .. } | TableKind::Samples { .. }, _) => {
                ObjectColumn::TotalSize
            }
            (TableKind::Objects, _) => ObjectColumn::ActiveSize,
        }
    }
}

/// The numbers of objects. What was only counted may have been there before, so what was collected is not known.
fn numbers<'a>(report: &AllocationReport) -> View<'a, ObjectTotals> {
    let has_collected = !report.is_counted() && !report.is_sampled();
    let interval = report.facts().estimate_interval;
    View::new()
        .both("live", "live", |totals: &ObjectTotals| Count(totals.live()))
        .both("total", "total", |totals| Count(totals.total()))
        .text("objects", |totals| Count(totals.total()))
        .both("collected", "collected", move |totals| has_collected.then(|| Count(totals.collected())))
        .both("active size", "active_bytes", |totals| Bytes(totals.live_bytes()))
        .text("survived", |totals| Bytes(totals.survived_bytes()))
        .both("total size", "total_bytes", |totals| Bytes(totals.total_bytes()))
        .both("avg age", "average_age", |totals| totals.average_age().map(Decimal))
        .both("gens", "generations", |totals| Count(totals.generations()))
        .text("removed by JIT", move |totals| removed(totals, interval))
        .json(move |totals| {
            json!({
                "estimated_bytes": totals.estimated_bytes(),
                "estimate_error_bytes": interval.and_then(|interval| totals.estimate_error(interval)),
                "active_error_bytes": (totals.live_samples() > 0).then(|| totals.live_error()),
                "survived_bytes": totals.survived_bytes(),
            })
        })
}

/// Rows without their names in the text.
fn unnamed<'a, 'r: 'a>(report: &AllocationReport) -> View<'a, Row<'r>> {
    numbers(report)
        .of(|row: &Row<'r>| &row.totals)
        .both("±", "error_bytes", |row| row.error.map(Bytes))
        .json(|row| json!({ "samples": row.samples }))
        .json(|row| subject(&row.subject))
}

/// Lines of code that make `whole` bytes in all.
fn code<'a, 'r: 'a>(by: By, whole: u64, report: &AllocationReport) -> View<'a, Line<'r>> {
    let inside = |inside: &Inside<'_>| json!({ "class": inside.class, "site": inside.at.as_ref().map(location), "total_bytes": inside.bytes });
    unnamed(report)
        .of(|line: &Line<'r>| &line.row)
        .text("share", move |line| tenths(line.row.totals.total_bytes(), whole))
        .text(noun(by), |line| marked(&line.row.subject))
        .below(|line| made(&line.row.subject, line.row.totals.total_bytes(), &line.inside))
        .json(move |line| json!({ "inside": line.inside.iter().map(inside).collect::<Vec<_>>() }))
}

/// A table of rows, as they are ordered.
pub(crate) fn table(rows: &[Row<'_>], by: By, report: &AllocationReport) -> Table {
    let (kind, interval) = (TableKind::of(report), report.facts().estimate_interval);
    let has_error = rows.iter().any(|row| row.error.is_some());
    let (live, ages, estimates) = match kind {
        TableKind::Objects => (true, true, false),
        TableKind::Samples { live } => (live, live, false),
        // Where the objects were allocated that a walk of the heap finds is not known.
        TableKind::Counts { live, places, estimates } => {
            (live && (places || matches!(by, By::Package | By::Class)), places, estimates)
        }
    };
    let has_removed = estimates && rows.iter().any(|row| removed(&row.totals, interval).is_some());
    let view = unnamed(report).text(noun(by), |row: &Row<'_>| Cell::Name(row.subject.to_string()));
    let view = match kind {
        TableKind::Objects => {
            view.select(&["live", "total", "collected", "active size", "total size", "avg age", "gens", noun(by)])
        }
        _ => view.select(&chosen([
            ("total", true),
            ("total size", true),
            ("±", has_error),
            ("removed by JIT", has_removed),
            ("live", live),
            ("active size", live),
            ("survived", ages),
            ("avg age", ages),
            ("gens", ages),
            (noun(by), true),
        ])),
    };
    view.table(rows)
}

/// A table of lines, methods or modules in their order, of all that makes `whole` bytes.
pub(crate) fn code_table(lines: &[Line<'_>], by: By, whole: u64, report: &AllocationReport) -> Table {
    let has_error = lines.iter().any(|line| line.row.error.is_some());
    let kind = TableKind::of(report);
    let live = kind.has_live_lines();
    let headings = chosen([
        ("total size", true),
        ("±", has_error),
        ("share", true),
        ("objects", true),
        ("live", live),
        ("active size", live),
        ("survived", live && kind != TableKind::Objects),
        (noun(by), true),
    ]);
    code(by, whole, report).select(&headings).table(lines)
}

fn chosen<const N: usize>(headings: [(&'static str, bool); N]) -> Vec<&'static str> {
    headings.into_iter().filter_map(|(heading, is_shown)| is_shown.then_some(heading)).collect()
}

/// Rows in JSON, in their order.
pub(crate) fn json(rows: &[Row<'_>], report: &AllocationReport) -> Value {
    unnamed(report).array(rows)
}

/// Lines of code in JSON, in their order.
pub(crate) fn code_json(lines: &[Line<'_>], report: &AllocationReport) -> Value {
    code(By::Line, 0, report).array(lines)
}

/// A whole trace in JSON.
pub(crate) fn trace_json(path: &Path, reading: &Reading, sum: &ObjectTotals) -> Map<String, Value> {
    let report = &reading.report;
    let facts = report.facts();
    let mut document = head::json(path, reading);
    document.extend(fields(json!({
        "of": "allocations",
        "begin_nanos": facts.begin.map(|time| time.0),
        "end_nanos": facts.end.map(|time| time.0),
        "elements": facts.elements,
        "allocations": facts.allocations,
        "site_counts": facts.site_counts,
        "frees": facts.frees,
        "collections": facts.collections,
        "calls": facts.calls,
        "sampled_objects": report.samples(),
        "sampled_interval_bytes": facts.sampled_interval,
        "estimate_interval_bytes": facts.estimate_interval,
        "problems": {
            "undefined_ids": facts.undefined_ids,
            "unknown_frees": facts.unknown_frees,
            "reused_ids": facts.reused_ids,
        },
        "coverage": coverage::json(&reading.coverage()),
        "sum": numbers(report).object(sum),
    })));
    document
}

/// The accounts of threads, those that allocated most first.
pub(crate) fn sort_accounts(accounts: &mut [Account<'_>]) {
    let key = |account: &Account<'_>| Reverse((account.vm_bytes.unwrap_or(account.bytes), account.bytes));
    accounts.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.thread.cmp(&b.thread)));
}

/// What threads allocated, and what the JVM accounts to them.
pub(crate) fn accounts<'a, 'r: 'a>() -> View<'a, Account<'r>> {
    let percent = |account: &Account<'_>| {
        account.vm_bytes.map(|vm_bytes| coverage::percent(Millionths::of(account.bytes, vm_bytes)))
    };
    View::new()
        .both("objects", "objects", |account: &Account<'r>| Count(account.instances))
        .both("reported", "bytes", |account| Bytes(account.bytes))
        .both("JVM", "vm_bytes", |account| account.vm_bytes.map(Bytes))
        .text("percent", percent)
        .text("thread", |account| Cell::Name(Subject::Thread(Some(account.thread)).to_string()))
        .json(|account| subject(&Subject::Thread(Some(account.thread))))
}

/// What the JIT removed of objects, with its error; `None` if that is not known to be more than nothing, as where few samples were taken.
fn removed(totals: &ObjectTotals, interval: Option<u64>) -> Option<Cell> {
    let removed = totals.removed_bytes()?;
    match interval.and_then(|interval| totals.estimate_error(interval)) {
        Some(error) if removed <= error => None,
        Some(error) => Some(Text(format!("{} ± {}", human::bytes(removed), human::bytes(error)))),
        None => Some(Bytes(removed)),
    }
}

/// At most so many lines below a row say what is made there.
const MOST_INSIDE: usize = 3;

/// They say no less than this part of it.
const LEAST_INSIDE: f64 = 0.1;

/// What is marked as code of the JDK: nobody else's is known there.
const OF_JDK: &str = " [JDK]";

/// What a row is called, with its mark.
pub(crate) fn marked(subject: &Subject<'_>) -> String {
    let mark = if is_of_jdk(subject) { OF_JDK } else { "" };
    format!("{}{mark}", printable(&subject.to_string()))
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
        let class = printable(made.class);
        let class = if inside.len() > 1 { format!("{} {class}", tenths(made.bytes, whole)) } else { class };
        match made.at {
            Some(at) if *subject != Subject::Line(Some(at)) => {
                Below { label: format!("{class} in "), name: printable(&at.to_string()) }
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

/// What a row is about, in JSON.
pub(crate) fn subject(subject: &Subject<'_>) -> Value {
    match subject {
        Subject::Package(name) => json!({ "package": name }),
        Subject::Class(name) => json!({ "class": name }),
        Subject::Site { class, at: None } => json!({ "class": class, "site": null }),
        Subject::Site { class, at: Some(at) } => json!({
            "class": class,
            "site": location(at),
        }),
        Subject::Line(at) => json!({ "line": at.as_ref().map(location) }),
        Subject::Method(at) => json!({
            "method": at.map(|(class, name)| json!({ "class": class, "method": names::jvm_method_name(name) })),
        }),
        Subject::Module(name) => json!({ "module": name }),
        Subject::Removed(None) => json!({ "removed_by_jit": true }),
        Subject::Removed(Some(class)) => json!({ "class": class, "removed_by_jit": true }),
        Subject::Uncounted(None) => json!({ "uncounted": true }),
        Subject::Uncounted(Some(class)) => json!({ "class": class, "uncounted": true }),
        Subject::Thread(None) => json!({ "thread": null }),
        Subject::Thread(Some(thread)) => json!({
            "thread": { "name": thread.name, "group": thread.group, "id": thread.id.0 },
        }),
    }
}

/// In percent, with one decimal.
fn rounded_down(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 * 1000.0 / whole as f64).floor() / 10.0 }
}

/// What has to be known to read a table of lines; one sentence each.
pub(crate) fn notes(all: &[Line<'_>], report: &AllocationReport) -> Vec<String> {
    let mut notes = Vec::new();
    let bytes = |line: &Line<'_>| line.row.totals.total_bytes();
    let whole: u64 = all.iter().map(bytes).fold(0, u64::saturating_add);
    let outside = outside_jdk(all);
    let rest = match (outside < whole, report.has_stacks(), report.has_samples()) {
        (true, true, true) => "; the rest has no such frame or no samples, or the JIT removed it",
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
    if all.iter().any(|line| matches!(line.row.subject, Subject::Removed(_))) {
        notes.push(
            "the JIT removed more objects than the sampling error explains; their callers are unknown, and lines with an \
             error show what was allocated, not what was executed"
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
pub(crate) const NO_MODULES: &str = "the trace has no module names: another profiler or an earlier version wrote it";

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
