//! `martini stats --cpu` and `--wall`: what threads did while they ran, or lived.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{Location, Naming, Scope, SiteNames};
use analysis::cpu::{CpuBy, CpuReport, CpuRow, SampleClock};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};
use trace::filter::Pattern;

use crate::commands::selection::{note, row_limit, selects_site};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::{self, Reading};
use crate::render::page::Page;
use crate::render::table::write_left_out;
use crate::render::{conservation, cpu_json, cpu_tables, line_table, notes};

/// Rows of a text table by default, where there is only one.
const DEFAULT_TOP: usize = 20;

/// Rows of each of several.
const SHORT_TOP: usize = 10;

/// The tables to show unless one is asked for.
const TABLES: [CpuBy; 4] = [CpuBy::Line, CpuBy::Method, CpuBy::Kind, CpuBy::Thread];

/// What of a trace is to be shown.
pub(super) struct SamplesOf<'a> {
    pub(super) path: &'a Path,
    pub(super) clock: SampleClock,
    pub(super) window: TimeWindow,
    /// The only table.
    pub(super) by: Option<CpuBy>,
    /// The frames that name stacks in the table of lines.
    pub(super) naming: Naming,
    /// And in other tables of code.
    pub(super) naming_of_others: Naming,
    /// Only stacks with a frame in this code.
    pub(super) code: &'a [Pattern],
    /// Sort by the time on the stack.
    pub(super) by_total: bool,
    pub(super) top: Option<usize>,
}

/// Shows a trace, as text or JSON.
///
/// # Errors
/// The trace cannot be read, or has nothing of this part.
pub(super) fn show(of: &SamplesOf<'_>, as_json: bool, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let scope = Scope { from: of.window.from(), to: of.window.to(), over_time: false };
    let mut reading = reading::samples(of.path, of.clock, &scope)?;
    of.window.check(of.path, Some(reading.report.whole_length()))?;
    if !of.code.is_empty() {
        let (had_any, passes) = (reading.report.sum().0 > 0, |at: &Location<'_>| selects_site(of.code, at));
        reading.report.retain(passes);
        if had_any && reading.report.sum().0 == 0 {
            note(of.path, "no stack has a frame that matches --in");
        }
    }
    let tables = of.tables(&reading.report);
    if as_json {
        let tables = tables.into_iter().map(|(by, mut rows)| {
            rows.truncate(row_limit(of.top, 0));
            (cpu_json::table_name(by).to_owned(), cpu_json::rows(&rows))
        });
        return Ok(cpu_json::trace(of.path, &reading, tables.collect::<Map<_, _>>()));
    }
    print(of, &reading, tables, out)?;
    Ok(Value::Null)
}

impl SamplesOf<'_> {
    fn tables<'r>(&self, report: &'r CpuReport) -> Vec<(CpuBy, Vec<CpuRow<'r>>)> {
        let all: &[CpuBy] = self.by.as_ref().map_or(&TABLES, std::slice::from_ref);
        let (lines, others) = (report.site_names(&self.naming), report.site_names(&self.naming_of_others));
        let rows = |by: CpuBy| {
            let names: &SiteNames = if by == CpuBy::Line { &lines } else { &others };
            let mut rows = report.rows(by, names);
            if self.by_total {
                rows.sort_by(|a, b| (b.total, b.time).cmp(&(a.total, a.time)).then_with(|| a.subject.cmp(&b.subject)));
            }
            (by, rows)
        };
        all.iter().copied().map(rows).collect()
    }
}

fn print(
    of: &SamplesOf<'_>,
    reading: &Reading<CpuReport>,
    tables: Vec<(CpuBy, Vec<CpuRow<'_>>)>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &reading.report;
    let path = of.path.display().to_string();
    let origin = out.behind(&path, &format!("({})", notes::origin(reading)));
    writeln!(out, "{}{origin}", path.bold())?;
    out.write_sentence(0, &notes::samples_summary(report))?;
    let (samples, whole) = report.sum();
    let top = row_limit(of.top, if of.by.is_some() { DEFAULT_TOP } else { SHORT_TOP });
    for (by, mut rows) in tables.into_iter().filter(|_| samples > 0) {
        writeln!(out)?;
        if by == CpuBy::Line {
            writeln!(out, "{}", "Where, in your code:".bold())?;
        }
        if !of.by_total && of.by.is_none() {
            // What is only called from is a matter of trees.
            rows.retain(|row| row.samples > 0);
        }
        let all = rows.len();
        rows.truncate(top);
        cpu_tables::table(&rows, by, whole, of.clock).write(out)?;
        write_left_out(all - rows.len(), out)?;
        if by == CpuBy::Module && !report.has_modules() {
            out.write_sentence(2, line_table::NO_MODULES)?;
        }
    }
    if samples > 0 {
        let has_code = of.by.is_none_or(CpuBy::is_code);
        out.write_sentence(2, &cpu_tables::legend(of.clock, has_code))?;
    }
    writeln!(out)?;
    notes::write(&notes::of_samples(reading), out)?;
    if samples > 0 {
        conservation::write(&reading.conservation(), out)?;
    }
    writeln!(out)?;
    Ok(())
}
