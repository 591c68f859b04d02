//! Trees of calls.

use std::io::Write;
use std::path::Path;

use analysis::execution::ExecutionReport;
use anyhow::bail;
use serde_json::Value;
use trace::time::Nanos;

use super::{Arguments, Group, Shown};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::Reading;
use crate::render::calls::NO_WINDOW;
use crate::render::human::duration;
use crate::render::notes;
use crate::render::page::Page;
use crate::render::tree::Columns;

/// Shows which methods called which.
///
/// # Errors
/// Calls have no such groups, classes of objects or parts; the output cannot be written.
pub(super) fn show(
    arguments: &Arguments,
    path: &Path,
    window: TimeWindow,
    reading: &Reading<ExecutionReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    if matches!(arguments.by, Some(Group::Class | Group::Carrier)) || !arguments.filter.is_empty() {
        bail!("{}: calls have no object class and no carrier thread; use --by thread or --in", path.display());
    }
    if window.is_given() {
        bail!("{}: {NO_WINDOW}", path.display());
    }
    let report = &reading.report;
    let mut notes = arguments.no_modules(true);
    notes.extend(notes::of_calls(reading));
    let shown = Shown {
        root: report.tree(&arguments.options()),
        columns: if arguments.bottom_up { Columns::CallsBottomUp } else { Columns::Calls },
        title: "Calls",
        nouns: ["call", "calls"],
        amount: |nanos| duration(Nanos(nanos)),
        heading: "",
        leaf: "",
        key: "calls",
        notes,
    };
    let document = super::show(arguments, path, reading, &shown, out)?;
    if !arguments.json && !arguments.folded && !shown.notes.is_empty() {
        writeln!(out)?;
    }
    Ok(document)
}
