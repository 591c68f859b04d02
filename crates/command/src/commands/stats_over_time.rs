//! `martini stats --over-time`: when it is allocated.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{AllocationReport, By, CountedPart, Naming, RowOverTime};
use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::{Map, Value};
use trace::filter::Pattern;
use trace::time::Nanos;

use crate::commands::selection::{row_limit, selects_class};
use crate::input::reading::Reading;
use crate::render::over_time::{self, Picture};
use crate::render::page::Page;
use crate::render::{allocation_json, coverage, notes};

/// Rows of a table by default, also as JSON: each has numbers for each slice.
const DEFAULT_TOP: usize = 10;

/// What of a trace is to be shown.
pub(super) struct OverTimeOf<'a> {
    pub(super) path: &'a Path,
    pub(super) reading: &'a Reading,
    pub(super) naming: Naming,
    /// The only table besides that of the slices.
    pub(super) by: Option<By>,
    pub(super) filter: &'a [Pattern],
    pub(super) top: Option<usize>,
}

/// Checks that counts were written in the part of the trace that counts.
///
/// # Errors
/// They were not.
pub(super) fn check_counted_part(path: &Path, report: &AllocationReport) -> anyhow::Result<()> {
    let seconds = |nanos: Nanos| nanos.0 as f64 / 1e9;
    match report.counted_part() {
        Some(CountedPart::Nothing(Some(near))) => bail!(
            "{}: --from and --to are too close: counts were written at {:.3} and {:.3} s; choose these or a longer \
             range",
            path.display(),
            seconds(near.from),
            seconds(near.to)
        ),
        _ => Ok(()),
    }
}

/// Shows a trace, as text or JSON.
pub(super) fn show(of: &OverTimeOf<'_>, as_json: bool, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if as_json {
        return Ok(to_json(of));
    }
    print(of, out)?;
    Ok(Value::Null)
}

impl OverTimeOf<'_> {
    fn selects(&self, class: &str) -> bool {
        selects_class(self.filter, class)
    }

    fn tables(&self) -> Vec<By> {
        match self.by {
            Some(by) => vec![by],
            None if self.reading.report.has_sites() => vec![By::Class, By::Line],
            None => vec![By::Class],
        }
    }

    fn rows(&self, by: By) -> Vec<RowOverTime<'_>> {
        let report = &self.reading.report;
        let names = report.site_names(&self.naming);
        report.rows_over_time(by, &names, |class| self.selects(class), row_limit(self.top, DEFAULT_TOP))
    }
}

fn print(of: &OverTimeOf<'_>, out: &mut Page<'_>) -> anyhow::Result<()> {
    let report = &of.reading.report;
    let path = of.path.display().to_string();
    let origin = out.behind(&path, &format!("({})", notes::origin(of.reading)));
    writeln!(out, "{}{origin}", path.bold())?;
    let sum = report.sum(|class| of.selects(class));
    let summary = out.sentence(0, &notes::summary_of_classes(&sum, report.facts(), of.filter));
    writeln!(out, "{summary}")?;
    let over_time = report.over_time(|class| of.selects(class)).unwrap_or_default();
    if sum.total() > 0 && !over_time.slices.is_empty() {
        let picture = Picture::of(&over_time);
        writeln!(out)?;
        picture.slices(report.beginning(), out.width()).write(out)?;
        for by in of.tables() {
            writeln!(out)?;
            picture.rows(&of.rows(by), by).write(out)?;
        }
        let legend = out.sentence(2, &picture.legend());
        writeln!(out, "{legend}")?;
    }
    writeln!(out)?;
    let mut notes = notes::of_allocations(of.reading);
    let facts = report.facts();
    if facts.allocations > 0 && facts.site_counts > 0 {
        notes.push("time slices show the trace's single objects, not the counts of its other documents".to_owned());
    }
    notes::write(&notes, out)?;
    coverage::write(&of.reading.coverage(), out)?;
    writeln!(out)?;
    Ok(())
}

fn to_json(of: &OverTimeOf<'_>) -> Value {
    let report = &of.reading.report;
    let sum = report.sum(|class| of.selects(class));
    let over_time = report.over_time(|class| of.selects(class)).unwrap_or_default();
    let mut fields = over_time::json(&over_time);
    for by in of.tables() {
        fields.insert(allocation_json::table_name(by).to_owned(), over_time::rows_json(&of.rows(by)));
    }
    let mut trace = allocation_json::trace(of.path, of.reading, &sum, Map::new());
    if let Value::Object(trace) = &mut trace {
        trace.insert("over_time".to_owned(), fields.into());
    }
    trace
}
