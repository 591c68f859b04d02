//! Trees of waits.

use std::io::Write;
use std::path::Path;

use analysis::allocations::Location;
use analysis::locks::{LockReport, WaitKind};
use serde_json::Value;
use trace::time::Nanos;

use super::{Arguments, Shown};
use crate::commands::selection::note;
use crate::commands::time_window::TimeWindow;
use crate::input::reading::Reading;
use crate::render::human::duration;
use crate::render::notes;
use crate::render::page::Page;
use crate::render::tree::Columns;

/// Whether any thread waited.
fn are_any(report: &LockReport) -> bool {
    report.stalls().iter().any(|totals| totals.count > 0)
}

/// Shows who waits for what.
///
/// # Errors
/// There is nothing of the part that counts; the output cannot be written.
pub(super) fn show(
    arguments: &Arguments,
    path: &Path,
    window: TimeWindow,
    reading: &Reading<LockReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    window.check(path, reading.report.span().map(|(begin, end)| end.since(begin)))?;
    let passes = |at: &Location<'_>| arguments.passes(at);
    let code: Option<&dyn Fn(&Location<'_>) -> bool> = (!arguments.code.is_empty()).then_some(&passes);
    let kind = if arguments.waits { WaitKind::Other } else { WaitKind::Contended };
    let root = reading.report.tree(&arguments.options(), kind, |class| arguments.selects(class), code);
    let is_all = arguments.filter.is_empty() && arguments.code.is_empty();
    if !arguments.waits && is_all && root.count == 0 && are_any(&reading.report) {
        note(path, "no lock was contended; --waits shows other waits");
    }
    if !arguments.filter.is_empty() && root.count == 0 {
        note(path, "no thread waited for a lock that matches --filter");
    }
    let mut notes = arguments.no_modules(!reading.report.has_modules());
    notes.extend(notes::of_locks(reading));
    let shown = Shown {
        root,
        columns: Columns::Weight,
        title: if arguments.waits { "Other waits" } else { "Waits for locks" },
        nouns: ["wait", "waits"],
        amount: |nanos| duration(Nanos(nanos)),
        heading: "time",
        leaf: if arguments.waits { "waits for " } else { "lock " },
        key: if arguments.waits { "waits" } else { "locks" },
        notes,
    };
    let document = super::show(arguments, path, reading, &shown, out)?;
    if !arguments.json && !arguments.folded && !shown.notes.is_empty() {
        writeln!(out)?;
    }
    Ok(document)
}
