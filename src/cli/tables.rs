//! The tables of `stats`, `run` and `demo`: which columns there are, and in which order rows come.

use std::cmp::Ordering;

use analysis::heap::{By, Row};
use clap::ValueEnum;

use super::human;
use super::table::Table;

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
    rows.sort_by(|a, b| {
        let (x, y) = (&b.tally, &a.tally);
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
    });
}

/// The word for one row of a table.
pub(crate) fn noun(by: By) -> &'static str {
    match by {
        By::Package => "package",
        By::Class => "class",
        By::Site => "allocation site",
        By::Thread => "thread",
    }
}

/// A table of rows, as they are ordered.
pub(crate) fn table<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>, by: By) -> Table {
    let mut table =
        Table::new(vec!["live", "total", "collected", "active size", "total size", "avg age", "gens", noun(by)]);
    for Row { subject, tally } in rows {
        table.push(vec![
            human::count(tally.live()),
            human::count(tally.total()),
            human::count(tally.collected()),
            human::bytes(tally.live_bytes()),
            human::bytes(tally.total_bytes()),
            tally.average_age().map_or_else(|| "-".to_owned(), |age| format!("{age:.1}")),
            human::count(tally.generations()),
            human::printable(&subject.to_string()),
        ]);
    }
    table
}
