//! Classes and sites in a trace of which more objects survive with every collection.

use std::io::Write;

use analysis::allocations::{By, Row};
use owo_colors::OwoColorize;
use serde_json::Value;

use super::Arguments;
use super::source::Traced;
use crate::render::allocations::{self, ObjectColumn};
use crate::render::page::Page;

/// The classes and sites whose survivors accumulate, those of most live bytes first.
pub(crate) fn growing(arguments: &Arguments, traced: &Traced, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let report = &traced.report;
    let by = if report.has_sites() { By::Site } else { By::Class };
    let mut rows: Vec<Row<'_>> = report.rows(by, |class| arguments.selects(class));
    rows.retain(|row| row.totals.is_growing());
    allocations::sort(&mut rows, ObjectColumn::ActiveSize);
    let all = rows.len();
    rows.truncate(arguments.top());
    if arguments.json {
        return Ok(allocations::json(&rows, report));
    }
    if report.facts().collections == 0 {
        return Ok(Value::Null);
    }
    writeln!(out, "{}", "Growing: survivors of most collections since the first".bold())?;
    if rows.is_empty() {
        writeln!(out, "  nothing grows with every collection\n")?;
        return Ok(Value::Null);
    }
    allocations::table(&rows, by, report).write_top(all - rows.len(), out)?;
    Ok(Value::Null)
}
