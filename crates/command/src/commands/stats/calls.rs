//! `martini stats --calls`: how often methods were called, and how long that took.

use std::cmp::Reverse;
use std::io::Write;
use std::path::Path;

use analysis::execution::{CallBy, CallRow, ExecutionReport};
use anyhow::bail;
use serde_json::{Map, Value};

use super::{Arguments, DEFAULT_TOP, SHORT_TOP, flags};
use crate::commands::selection::{note, row_limit};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::Reading;
use crate::render::allocations::ObjectColumn;
use crate::render::page::Page;
use crate::render::table::write_left_out;
use crate::render::{calls, head, notes};

/// What of a trace is to be shown.
pub(super) struct Calls<'a> {
    arguments: &'a Arguments,
    path: &'a Path,
    reading: Reading<ExecutionReport>,
    /// The only table.
    by: Option<CallBy>,
    sort: ObjectColumn,
}

/// Shows a trace, as text or JSON.
pub(super) fn show(calls: &Calls<'_>, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if calls.arguments.json {
        return Ok(calls.to_json());
    }
    calls.print(out)?;
    Ok(Value::Null)
}

impl<'a> Calls<'a> {
    /// Checks the flags.
    ///
    /// # Errors
    /// There are no such rows, or only a part of the time is asked for.
    pub(super) fn of(
        arguments: &'a Arguments,
        path: &'a Path,
        window: TimeWindow,
        reading: Reading<ExecutionReport>,
    ) -> anyhow::Result<Self> {
        if window.is_given() {
            bail!("{}: {}", path.display(), calls::NO_WINDOW);
        }
        let by = arguments.by.map(|rows| rows.of_calls(path)).transpose()?;
        let sort = flags::call_column(arguments.sort, path);
        let is_part = !arguments.code.is_empty() || !arguments.filter.is_empty();
        if is_part && reading.report.facts().calls > 0 && !reading.report.has_calls() {
            note(path, "no call matches --in and --filter");
        }
        Ok(Calls { arguments, path, reading, by, sort })
    }

    fn tables(&self) -> Vec<(CallBy, Vec<CallRow<'_>>)> {
        let all: &[CallBy] = self.by.as_ref().map_or(&CallBy::ALL, std::slice::from_ref);
        let rows = |by: CallBy| {
            let mut rows = self.reading.report.rows(by);
            match self.sort {
                ObjectColumn::Cumulative => rows.sort_by_key(|row| Reverse(row.cumulative)),
                ObjectColumn::Calls => rows.sort_by_key(|row| Reverse(row.calls)),
                ObjectColumn::Name => rows.sort_by_key(|row| row.subject),
                // As they come.
                _ => {}
            }
            (by, rows)
        };
        all.iter().copied().map(rows).collect()
    }

    fn to_json(&self) -> Value {
        let tables = self.tables().into_iter().map(|(by, mut rows)| {
            let view = calls::view(by, &rows, self.reading.report.sum().1);
            rows.truncate(row_limit(self.arguments.top, 0));
            (calls::noun(by).to_owned(), view.array(&rows))
        });
        calls::trace_json(self.path, &self.reading, tables.collect::<Map<_, _>>())
    }

    fn print(&self, out: &mut Page<'_>) -> anyhow::Result<()> {
        let report = &self.reading.report;
        head::write(self.path, &self.reading, out)?;
        out.write_sentence(0, &notes::calls_summary(report))?;
        let top = row_limit(self.arguments.top, if self.by.is_some() { DEFAULT_TOP } else { SHORT_TOP });
        for (by, mut rows) in self.tables().into_iter().filter(|(_, rows)| !rows.is_empty()) {
            writeln!(out)?;
            let (view, all) = (calls::view(by, &rows, report.sum().1), rows.len());
            rows.truncate(top);
            view.table(&rows).write(out)?;
            write_left_out(all - rows.len(), out)?;
        }
        if report.has_calls() {
            out.write_sentence(2, calls::LEGEND)?;
        }
        writeln!(out)?;
        notes::write_last(&notes::of_calls(&self.reading), out)?;
        Ok(())
    }
}
