//! `martini stats --cpu` and `--wall`: what threads did while they ran, or lived.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{Location, Naming};
use analysis::cpu::{CpuBy, CpuReport, CpuRow};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use super::{Arguments, DEFAULT_TOP, SHORT_TOP, flags};
use crate::commands::closest;
use crate::commands::selection::{note, row_limit, selects_site};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::Reading;
use crate::render::page::Page;
use crate::render::table::{write_left_out, write_too_few};
use crate::render::{allocations, conservation, head, notes, samples};

/// The tables to show unless one is asked for.
const TABLES: [CpuBy; 4] = [CpuBy::Line, CpuBy::Method, CpuBy::Kind, CpuBy::Thread];

/// What of a trace is to be shown.
pub(super) struct Samples<'a> {
    arguments: &'a Arguments,
    path: &'a Path,
    reading: Reading<CpuReport>,
    /// The only table.
    by: Option<CpuBy>,
    /// Sort by the time on the stack.
    by_total: bool,
}

/// Shows a trace, as text or JSON.
pub(super) fn show(samples: Samples<'_>, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if samples.arguments.json {
        return Ok(samples.to_json());
    }
    samples.print(out)?;
    Ok(Value::Null)
}

impl<'a> Samples<'a> {
    /// Leaves what the flags select.
    ///
    /// # Errors
    /// There are no such rows, or nothing of the part of the trace that counts.
    pub(super) fn of(
        arguments: &'a Arguments,
        path: &'a Path,
        window: TimeWindow,
        mut reading: Reading<CpuReport>,
    ) -> anyhow::Result<Self> {
        let by = arguments.by.map(|rows| rows.of_samples(path)).transpose()?;
        let by_total = flags::by_total(arguments.sort, path);
        window.check(path, Some(reading.report.whole_length()))?;
        if !arguments.code.is_empty() {
            let had_any = reading.report.sum().0 > 0;
            let methods = reading.report.rows(CpuBy::Method, &reading.report.site_names(&Naming::Innermost));
            let methods: Vec<String> = methods.iter().map(|row| row.subject.to_string()).collect();
            reading.report.retain(|at: &Location<'_>| selects_site(&arguments.code, at));
            if had_any && reading.report.sum().0 == 0 {
                let wanted = arguments.code.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                let close = closest::hint(&wanted, methods.iter().map(String::as_str));
                note(path, &format!("no stack has a frame that matches --in{close}"));
            }
        }
        Ok(Samples { arguments, path, reading, by, by_total })
    }

    fn tables(&self) -> Vec<(CpuBy, Vec<CpuRow<'_>>)> {
        let report = &self.reading.report;
        let all: &[CpuBy] = self.by.as_ref().map_or(&TABLES, std::slice::from_ref);
        let lines = report.site_names(&self.arguments.naming_of_code());
        let others = report.site_names(&self.arguments.naming_of_sites());
        let rows = |by: CpuBy| {
            let mut rows = report.rows(by, if by == CpuBy::Line { &lines } else { &others });
            if self.by_total {
                rows.sort_by(|a, b| (b.total, b.time).cmp(&(a.total, a.time)).then_with(|| a.subject.cmp(&b.subject)));
            }
            (by, rows)
        };
        all.iter().copied().map(rows).collect()
    }

    fn to_json(&self) -> Value {
        let (clock, whole) = (self.reading.report.sample_clock(), self.reading.report.sum().1);
        let tables = self.tables().into_iter().map(|(by, mut rows)| {
            rows.truncate(row_limit(self.arguments.top, 0));
            (samples::table_name(by).to_owned(), samples::view(by, whole, clock).array(&rows))
        });
        samples::trace_json(self.path, &self.reading, tables.collect::<Map<_, _>>())
    }

    fn print(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        let report = &self.reading.report;
        head::write(self.path, &self.reading, out)?;
        out.write_sentence(0, &notes::samples_summary(report))?;
        let (clock, (number, whole)) = (report.sample_clock(), report.sum());
        let top = row_limit(self.arguments.top, if self.by.is_some() { DEFAULT_TOP } else { SHORT_TOP });
        for (by, mut rows) in self.tables().into_iter().filter(|_| number > 0) {
            writeln!(out)?;
            if by == CpuBy::Line {
                writeln!(out, "{}", "Where, in your code:".bold())?;
            }
            if !self.by_total && self.by.is_none() {
                // What is only called from is a matter of trees.
                rows.retain(|row| row.samples > 0);
            }
            let too_few = rows.extract_if(.., |row| row.has_few_samples()).count();
            let all = rows.len();
            rows.truncate(top);
            if !rows.is_empty() {
                samples::view(by, whole, clock).table(&rows).write(out)?;
            }
            write_left_out(all - rows.len(), out)?;
            write_too_few(too_few, out)?;
            if by == CpuBy::Module && !report.has_modules() {
                out.write_sentence(2, allocations::NO_MODULES)?;
            }
        }
        if number > 0 {
            out.write_sentence(2, &samples::legend(clock, self.by.is_none_or(CpuBy::is_code)))?;
        }
        writeln!(out)?;
        notes::write(&notes::of_samples(&self.reading), out)?;
        if number > 0 {
            conservation::write(&self.reading.conservation(), out)?;
        }
        writeln!(out)?;
        Ok(())
    }
}
