//! `martini stats --over-time`: when it is allocated.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{By, RowOverTime};
use serde_json::{Map, Value};

use super::Arguments;
use crate::commands::selection::row_limit;
use crate::input::reading::Reading;
use crate::render::over_time::{Picture, slices_json};
use crate::render::page::Page;
use crate::render::{allocations, coverage, head, notes};

/// Rows of a table by default, also as JSON: each has numbers for each slice.
const DEFAULT_TOP: usize = 10;

/// What of a trace is to be shown.
pub(super) struct OverTimeOf<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) path: &'a Path,
    pub(super) reading: &'a Reading,
    /// The only table besides that of the slices.
    pub(super) by: Option<By>,
}

/// Shows a trace, as text or JSON.
pub(super) fn show(of: &OverTimeOf<'_>, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if of.arguments.json {
        return Ok(of.to_json());
    }
    of.print(out)?;
    Ok(Value::Null)
}

impl OverTimeOf<'_> {
    fn tables(&self) -> Vec<By> {
        match self.by {
            Some(by) => vec![by],
            None if self.reading.report.has_sites() => vec![By::Class, By::Line],
            None => vec![By::Class],
        }
    }

    fn rows(&self, by: By) -> Vec<RowOverTime<'_>> {
        let report = &self.reading.report;
        let names = report.site_names(&self.arguments.naming_of_code());
        let top = row_limit(self.arguments.top, DEFAULT_TOP);
        report.rows_over_time(by, &names, |class| self.arguments.selects(class), top)
    }

    fn print(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        let report = &self.reading.report;
        head::write(self.path, self.reading, out)?;
        let sum = report.sum(|class| self.arguments.selects(class));
        out.write_sentence(0, &notes::summary_of_classes(&sum, report.facts(), &self.arguments.filter))?;
        let over_time = report.over_time(|class| self.arguments.selects(class)).unwrap_or_default();
        if sum.total() > 0 && !over_time.slices.is_empty() {
            let picture = Picture::of(&over_time);
            writeln!(out)?;
            picture.slices(report.beginning(), out.width()).write(out)?;
            for by in self.tables() {
                writeln!(out)?;
                let rows = self.rows(by);
                picture.rows(&rows, by).table(&rows).write(out)?;
            }
            out.write_sentence(2, &picture.legend())?;
        }
        writeln!(out)?;
        let mut notes = notes::of_allocations(self.reading);
        let facts = report.facts();
        if facts.allocations > 0 && facts.site_counts > 0 {
            notes.push("time slices show the trace's single objects, not the counts of its other documents".to_owned());
        }
        notes::write(&notes, out)?;
        coverage::write(&self.reading.coverage(), out)?;
        writeln!(out)?;
        Ok(())
    }

    fn to_json(&self) -> Value {
        let report = &self.reading.report;
        let sum = report.sum(|class| self.arguments.selects(class));
        let over_time = report.over_time(|class| self.arguments.selects(class)).unwrap_or_default();
        let picture = Picture::of(&over_time);
        let mut fields = Map::from_iter([("slices".to_owned(), slices_json(&over_time))]);
        for by in self.tables() {
            let rows = self.rows(by);
            fields.insert(allocations::table_name(by).to_owned(), picture.rows(&rows, by).array(&rows));
        }
        let mut document = allocations::trace_json(self.path, self.reading, &sum);
        document.insert("tables".to_owned(), Map::new().into());
        document.insert("over_time".to_owned(), fields.into());
        document.into()
    }
}
