//! The tables of `martini stats` about objects.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{Account, AllocationReport, By, Line, Row, SiteNames};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use super::{Arguments, DEFAULT_TOP, SHORT_TOP};
use crate::commands::selection::{row_limit, selects_site};
use crate::input::reading::Reading;
use crate::render::allocations::{self, TableKind};
use crate::render::page::Page;
use crate::render::table::{write_left_out, write_too_few};
use crate::render::{coverage, head, human, notes};

/// The frames that name stacks.
pub(super) struct Names {
    /// In tables of code, and for `--in`.
    pub(super) code: SiteNames,
    /// In tables of sites.
    sites: SiteNames,
}

impl Names {
    pub(super) fn of(arguments: &Arguments, report: &AllocationReport) -> Self {
        Names {
            code: report.site_names(&arguments.naming_of_code()),
            sites: report.site_names(&arguments.naming_of_sites()),
        }
    }

    fn of_rows(&self, by: By) -> &SiteNames {
        if is_code(by) { &self.code } else { &self.sites }
    }
}

/// Whether rows are places in code that allocates.
fn is_code(by: By) -> bool {
    matches!(by, By::Line | By::Method | By::Module)
}

/// Leaves what `--in` selects.
pub(super) fn retain(arguments: &Arguments, report: &mut AllocationReport, names: &Names) {
    if !arguments.code.is_empty() {
        report.retain_sites(&names.code, |at| selects_site(&arguments.code, at));
    }
}

/// What of a trace is to be shown.
pub(super) struct Objects<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) path: &'a Path,
    pub(super) reading: &'a Reading,
    pub(super) names: Names,
}

/// Shows a trace, as text or JSON.
pub(super) fn show(objects: &Objects<'_>, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if objects.arguments.json {
        return objects.to_json();
    }
    objects.print(out)?;
    Ok(Value::Null)
}

impl<'a> Objects<'a> {
    /// The tables to show. Code only where the trace has some, unless it is asked for.
    fn tables(&self) -> anyhow::Result<Vec<By>> {
        let report = &self.reading.report;
        Ok(match self.arguments.by {
            _ if self.arguments.shows_accounts(report) => vec![],
            Some(rows) => vec![rows.of_objects(self.path)?],
            None if report.has_sites() => vec![By::Line, By::Package, By::Class, By::Site],
            None => vec![By::Package, By::Class],
        })
    }

    /// How many rows of a table to show.
    fn top(&self) -> usize {
        let is_alone = self.arguments.by.is_some() || self.arguments.threads;
        let default = match is_alone {
            _ if self.arguments.json => 0,
            true => DEFAULT_TOP,
            false => SHORT_TOP,
        };
        row_limit(self.arguments.top, default)
    }

    /// The accounts to show, and how many more there are.
    fn accounts(&self) -> (Vec<Account<'a>>, usize) {
        let mut accounts: Vec<Account<'_>> = self.reading.report.accounts().collect();
        allocations::sort_accounts(&mut accounts);
        let left_out = cut(&mut accounts, self.top());
        (accounts, left_out)
    }

    /// All rows of a table.
    fn rows(&self, by: By) -> Vec<Row<'a>> {
        let report = &self.reading.report;
        let mut rows = report.rows_named(by, self.names.of_rows(by), |class| self.arguments.selects(class));
        allocations::sort(&mut rows, self.arguments.sort.unwrap_or(TableKind::of(report).column(by)));
        rows
    }

    /// All rows of a table of code.
    fn code(&self, by: By) -> Vec<Line<'a>> {
        let report = &self.reading.report;
        let mut lines = report.code(by, self.names.of_rows(by), |class| self.arguments.selects(class));
        allocations::sort_lines(&mut lines, self.arguments.sort.unwrap_or(TableKind::of(report).column(by)));
        lines
    }

    fn print(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        let report = &self.reading.report;
        let (sum, error) = report.sum_and_error(|class| self.arguments.selects(class));
        head::write(self.path, self.reading, out)?;
        let mut summary = notes::summary_of_classes(&sum, report.facts(), &self.arguments.filter);
        if let Some(error) = error {
            // What is left of the sites is known by samples.
            summary.push_str(&format!("; sampling error ± {}", human::bytes(error)));
        }
        out.write_sentence(0, &summary)?;
        let is_empty = sum.total() == 0 && sum.live() == 0;
        for by in if is_empty { Vec::new() } else { self.tables()? } {
            writeln!(out)?;
            if is_code(by) {
                self.print_code(by, sum.total_bytes(), out)?;
                continue;
            }
            let mut rows = self.rows(by);
            let too_few = rows.extract_if(.., |row| row.has_few_samples()).count();
            let left_out = cut(&mut rows, self.top());
            if !rows.is_empty() {
                allocations::table(&rows, by, report).write(out)?;
            }
            write_left_out(left_out, out)?;
            write_too_few(too_few, out)?;
        }
        if self.arguments.shows_accounts(report) {
            self.print_accounts(out)?;
        }
        writeln!(out)?;
        notes::write(&notes::of_allocations(self.reading), out)?;
        coverage::write(&self.reading.coverage(), out)?;
        writeln!(out)?;
        Ok(())
    }

    /// A table of code, of all that makes `whole` bytes, and below it what has to be known to read it.
    fn print_code(&self, by: By, whole: u64, out: &mut Page<'_>) -> anyhow::Result<()> {
        let report = &self.reading.report;
        let lines = self.code(by);
        let (few, mut shown): (Vec<_>, Vec<_>) = lines.iter().cloned().partition(|line| line.row.has_few_samples());
        let left_out = cut(&mut shown, self.top());
        writeln!(out, "{}", "Where, in your code:".bold())?;
        if !shown.is_empty() {
            allocations::code_table(&shown, by, whole, report).write(out)?;
        }
        write_left_out(left_out, out)?;
        write_too_few(few.len(), out)?;
        for sentence in allocations::notes(&lines, report) {
            out.write_sentence(2, &sentence)?;
        }
        Ok(())
    }

    fn print_accounts(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        let (accounts, left_out) = self.accounts();
        writeln!(out)?;
        allocations::accounts().table(&accounts).write(out)?;
        write_left_out(left_out, out)?;
        let is_more = |account: &Account<'_>| account.vm_bytes.is_some_and(|vm| account.bytes > vm);
        if self.reading.report.is_counted() && accounts.iter().any(is_more) {
            out.write_sentence(
                2,
                "more than 100 %: sites count every allocation they execute, even those the JIT removed",
            )?;
        }
        Ok(())
    }

    fn to_json(&self) -> anyhow::Result<Value> {
        let report = &self.reading.report;
        let (mut tables, mut outside) = (Map::new(), None);
        for by in self.tables()? {
            let table = if is_code(by) {
                let mut lines = self.code(by);
                outside = Some(allocations::outside_jdk(&lines));
                cut(&mut lines, self.top());
                allocations::code_json(&lines, report)
            } else {
                let mut rows = self.rows(by);
                cut(&mut rows, self.top());
                allocations::json(&rows, report)
            };
            tables.insert(allocations::table_name(by).to_owned(), table);
        }
        if self.arguments.shows_accounts(report) {
            tables.insert("accounts".to_owned(), allocations::accounts().array(&self.accounts().0));
        }
        let sum = report.sum(|class| self.arguments.selects(class));
        let mut document = allocations::trace_json(self.path, self.reading, &sum);
        document.insert("tables".to_owned(), tables.into());
        document.extend(outside.map(|outside| ("outside_jdk_bytes".to_owned(), outside.into())));
        Ok(document.into())
    }
}

/// Leaves the first rows, and gives back how many more there were.
fn cut<T>(rows: &mut Vec<T>, top: usize) -> usize {
    let all = rows.len();
    rows.truncate(top);
    all - rows.len()
}
