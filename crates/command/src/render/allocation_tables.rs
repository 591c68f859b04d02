//! The tables of `stats`, `run` and `demo`: which columns there are, and in which order rows come.
//!
//! A trace that counts objects instead of reporting them one by one has neither collected objects nor ages, so its tables have
//! fewer columns.

use std::cmp::{Ordering, Reverse};

use analysis::allocations::{Account, AllocationReport, By, Line, ObjectTotals, Row, Subject};
use analysis::coverage::Millionths;
use clap::ValueEnum;

use crate::render::table::Table;
use crate::render::{coverage, human};

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Column {
    /// Live instances
    Live,
    /// All instances
    Total,
    /// Collected instances
    Collected,
    /// Bytes of the live instances
    ActiveSize,
    /// Bytes of all instances
    TotalSize,
    /// Average age of the live instances
    Age,
    /// Number of different ages of the live instances
    Generations,
    /// The name, from A to Z
    Name,
}

/// Sorts rows by a column, the largest number first; rows that are equal there, by size and name.
pub(crate) fn sort(rows: &mut [Row<'_>], column: Column) {
    rows.sort_by(|a, b| order(a, b, column));
}

/// Sorts lines likewise.
pub(crate) fn sort_lines(lines: &mut [Line<'_>], column: Column) {
    lines.sort_by(|a, b| order(&a.row, &b.row, column));
}

fn order(a: &Row<'_>, b: &Row<'_>, column: Column) -> Ordering {
    let (x, y) = (&b.totals, &a.totals);
    let by_column = match column {
        Column::Live => x.live().cmp(&y.live()),
        Column::Total => x.total().cmp(&y.total()),
        Column::Collected => x.collected().cmp(&y.collected()),
        Column::ActiveSize => x.live_bytes().cmp(&y.live_bytes()),
        Column::TotalSize => x.total_bytes().cmp(&y.total_bytes()),
        Column::Age => x.average_age().partial_cmp(&y.average_age()).unwrap_or(Ordering::Equal),
        Column::Generations => x.generations().cmp(&y.generations()),
        Column::Name => Ordering::Equal,
    };
    let by_size = || match column {
        Column::Name => Ordering::Equal,
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
        /// Bytes between two of its samples.
        interval: Option<u64>,
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
                interval: report.facts().estimate_interval,
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
    pub(crate) fn lacks(self, column: Column) -> Option<&'static str> {
        let (live, ages) = match self {
            TableKind::Objects => return None,
            TableKind::Samples { live } => (live, live),
            TableKind::Counts { live, places, .. } => (live, places),
        };
        match column {
            Column::Collected | Column::Age | Column::Generations if !ages => {
                Some("the trace has no deaths and no ages; record them with martini run --sampled, or --heap events")
            }
            Column::Live | Column::ActiveSize if !live => {
                Some("the trace does not have what is alive; record it with martini run --live")
            }
            _ => None,
        }
    }

    /// The default column to sort by. Code is looked at for what it makes, not for what is left of that.
    pub(crate) fn column(self, by: By) -> Column {
        match (self, by) {
            (_, By::Line | By::Method | By::Module) | (TableKind::Counts { .. } | TableKind::Samples { .. }, _) => {
                Column::TotalSize
            }
            (TableKind::Objects, _) => Column::ActiveSize,
        }
    }
}

/// A table of rows, as they are ordered.
pub(crate) fn table<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>, by: By, kind: TableKind) -> Table {
    match kind {
        TableKind::Objects => objects(rows, by),
        TableKind::Samples { live } => {
            let rows: Vec<&Row<'_>> = rows.into_iter().collect();
            counts(&rows, by, Live { amount: live, ages: live }, false, None)
        }
        // Where the objects were allocated that a walk of the heap finds is not known.
        TableKind::Counts { live, places, estimates, interval } => {
            let rows: Vec<&Row<'_>> = rows.into_iter().collect();
            let amount = live && (places || matches!(by, By::Package | By::Class));
            counts(&rows, by, Live { amount, ages: places }, estimates, interval)
        }
    }
}

fn objects<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>, by: By) -> Table {
    let mut table =
        Table::new(vec!["live", "total", "collected", "active size", "total size", "avg age", "gens", noun(by)]);
    for Row { subject, totals, .. } in rows {
        table.push(vec![
            human::count(totals.live()),
            human::count(totals.total()),
            human::count(totals.collected()),
            human::bytes(totals.live_bytes()),
            human::bytes(totals.total_bytes()),
            average_age(totals),
            human::count(totals.generations()),
            human::printable(&subject.to_string()),
        ]);
    }
    table
}

/// Which columns there are of what lives.
#[derive(Clone, Copy)]
struct Live {
    amount: bool,
    ages: bool,
}

fn counts(rows: &[&Row<'_>], by: By, live: Live, estimates: bool, interval: Option<u64>) -> Table {
    let removed: Vec<_> = rows.iter().map(|row| removed(&row.totals, interval)).collect();
    let estimates = estimates && removed.iter().any(Option::is_some);
    let is_spread = rows.iter().any(|row| row.error.is_some());
    let mut headings = vec!["total", "total size"];
    if is_spread {
        headings.push("±");
    }
    if estimates {
        headings.push("removed by JIT");
    }
    if live.amount {
        headings.extend(["live", "active size"]);
    }
    if live.ages {
        headings.extend(["avg age", "gens"]);
    }
    headings.push(noun(by));
    let mut table = Table::new(headings);
    for (Row { subject, totals, error }, removed) in rows.iter().zip(removed) {
        let mut row = vec![human::count(totals.total()), human::bytes(totals.total_bytes())];
        if is_spread {
            row.push(spread(*error));
        }
        if estimates {
            row.push(removed.unwrap_or_else(|| "-".to_owned()));
        }
        if live.amount {
            row.extend([human::count(totals.live()), human::bytes(totals.live_bytes())]);
        }
        if live.ages {
            row.extend([average_age(totals), human::count(totals.generations())]);
        }
        row.push(human::printable(&subject.to_string()));
        table.push(row);
    }
    table
}

fn average_age(totals: &ObjectTotals) -> String {
    totals.average_age().map_or_else(|| "-".to_owned(), |age| format!("{age:.1}"))
}

/// What the JIT removed of objects, with its error; `None` if that is not known to be more than nothing, as where few samples were taken.
fn removed(totals: &ObjectTotals, interval: Option<u64>) -> Option<String> {
    let removed = totals.removed_bytes()?;
    match interval.and_then(|interval| totals.estimate_error(interval)) {
        Some(error) if removed <= error => None,
        Some(error) => Some(format!("{} ± {}", human::bytes(removed), human::bytes(error))),
        None => Some(human::bytes(removed)),
    }
}

/// How far a size may be off.
pub(crate) fn spread(error: Option<u64>) -> String {
    error.map_or_else(|| "-".to_owned(), human::bytes)
}

/// The accounts of threads, those that allocated most first.
pub(crate) fn sort_accounts(accounts: &mut [Account<'_>]) {
    let key = |account: &Account<'_>| Reverse((account.vm_bytes.unwrap_or(account.bytes), account.bytes));
    accounts.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.thread.cmp(&b.thread)));
}

/// A table of accounts, as they are ordered.
pub(crate) fn accounts<'a>(accounts: impl IntoIterator<Item = &'a Account<'a>>) -> Table {
    let mut table = Table::new(vec!["objects", "reported", "JVM", "percent", "thread"]);
    for account in accounts {
        let vm = |text: fn(u64, u64) -> String| {
            account.vm_bytes.map_or_else(|| "-".to_owned(), |vm_bytes| text(account.bytes, vm_bytes))
        };
        table.push(vec![
            human::count(account.instances),
            human::bytes(account.bytes),
            vm(|_, vm_bytes| human::bytes(vm_bytes)),
            vm(|bytes, vm_bytes| coverage::percent(Millionths::of(bytes, vm_bytes))),
            human::printable(&Subject::Thread(Some(account.thread)).to_string()),
        ]);
    }
    table
}
