//! Trees of samples: what threads did while they ran, or lived.

use std::io::Write;
use std::path::Path;

use analysis::allocations::Location;
use analysis::cpu::{CpuReport, SampleClock};
use anyhow::bail;
use serde_json::Value;
use trace::time::Nanos;

use super::{Arguments, Group, Shown};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::Reading;
use crate::render::human::duration;
use crate::render::page::Page;
use crate::render::samples::{clock_name, time_heading};
use crate::render::tree::Columns;
use crate::render::{conservation, notes};

/// Shows samples.
///
/// # Errors
/// They have no such groups, or nothing of the part that counts; the output cannot be written.
pub(super) fn show(
    arguments: &Arguments,
    path: &Path,
    window: TimeWindow,
    mut reading: Reading<CpuReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    if arguments.by == Some(Group::Class) {
        bail!("{}: samples have no object class; use --by thread or --frames class", path.display());
    }
    window.check(path, Some(reading.report.whole_length()))?;
    if !arguments.code.is_empty() {
        reading.report.retain(|at: &Location<'_>| arguments.passes(at));
    }
    let report = &reading.report;
    let root = report.tree(&arguments.options(), arguments.by == Some(Group::Carrier));
    let mut notes = arguments.no_modules(report.has_stacks() && !report.has_modules());
    notes.extend(notes::of_samples(&reading));
    let has_samples = root.count > 0;
    let shown = Shown {
        root,
        columns: Columns::Weight,
        title: match report.sample_clock() {
            SampleClock::Cpu => "CPU time",
            SampleClock::Wall => "Wall clock time",
        },
        nouns: ["sample", "samples"],
        amount: |nanos| duration(Nanos(nanos)),
        heading: time_heading(report.sample_clock()),
        leaf: "",
        key: clock_name(report.sample_clock()),
        notes,
    };
    let mut document = super::show(arguments, path, &reading, &shown, out)?;
    if arguments.json {
        document["conservation"] = conservation::json(&reading.conservation());
    } else if !arguments.folded {
        if has_samples {
            conservation::write(&reading.conservation(), out)?;
        }
        writeln!(out)?;
    }
    Ok(document)
}
