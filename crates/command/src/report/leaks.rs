//! What stays alive, and how old it is.

use std::cmp::Reverse;

use analysis::allocations::{AllocationReport, By, Naming, Row};
use serde_json::{Value, json};

use super::names::shown;

/// More rows are too small to be a leak.
const MOST_ROWS: usize = 300;

/// The classes and lines of which most survives; `null` if the trace does not say what is alive.
pub(super) fn json(report: &AllocationReport, naming: &Naming) -> Value {
    if report.sum(|_| true).live() == 0 {
        return Value::Null;
    }
    let names = report.site_names(naming);
    let table = |by: By| {
        let mut rows = report.rows_named(by, &names, |_| true);
        rows.retain(|row| row.totals.live() > 0);
        rows.sort_by(|a, b| {
            let size = |row: &Row<'_>| Reverse((row.totals.survived_bytes(), row.totals.live_bytes()));
            size(a).cmp(&size(b)).then_with(|| a.subject.cmp(&b.subject))
        });
        let left = rows.len().saturating_sub(MOST_ROWS);
        rows.truncate(MOST_ROWS);
        json!({ "rows": rows.iter().map(row).collect::<Vec<_>>(), "left": left })
    };
    let has_ages = report.sum(|_| true).average_age().is_some();
    json!({ "class": table(By::Class), "site": table(By::Site), "line": table(By::Line), "has_ages": has_ages })
}

fn row(row: &Row<'_>) -> Value {
    let totals = &row.totals;
    json!({
        "text": shown(&row.subject.to_string()),
        "live": totals.live(),
        "live_bytes": totals.live_bytes(),
        "live_error": totals.live_error(),
        "survived_bytes": totals.survived_bytes(),
        "total": totals.total(),
        "average_age": totals.average_age(),
        "generations": totals.generations(),
        "oldest": totals.oldest(),
        "is_growing": totals.is_growing(),
    })
}
