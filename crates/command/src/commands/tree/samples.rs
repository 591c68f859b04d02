//! Trees of samples: what threads did while they ran, or lived.

use std::io::Write;
use std::path::Path;

use analysis::allocations::{AllocationReport, Location, Scope};
use analysis::cpu::SampleClock;
use anyhow::bail;
use serde_json::Value;
use trace::time::Nanos;

use super::{Arguments, Group, Shown};
use crate::input::reading;
use crate::render::human::duration;
use crate::render::page::Page;
use crate::render::{conservation, cpu_json, notes};

/// Whether a trace has samples of CPU clocks, and no allocations.
pub(super) fn are_all(report: &AllocationReport) -> bool {
    report.facts().cpu_samples > 0 && !report.has_objects()
}

/// Shows the samples of a clock.
///
/// # Errors
/// The trace cannot be read, or has nothing of the part that counts; the output cannot be written.
pub(super) fn show(
    arguments: &Arguments,
    path: &Path,
    clock: SampleClock,
    out: &mut Page<'_>,
) -> anyhow::Result<Value> {
    if arguments.by == Some(Group::Class) {
        bail!("{}: samples have no object class; use --by thread or --frames class", path.display());
    }
    let window = arguments.window.of(path)?;
    let scope = Scope { from: window.from(), to: window.to(), over_time: false };
    let mut reading = reading::samples(path, clock, &scope)?;
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
        title: match clock {
            SampleClock::Cpu => "CPU time",
            SampleClock::Wall => "Wall clock time",
        },
        nouns: ["sample", "samples"],
        amount: |nanos| duration(Nanos(nanos)),
        heading: match clock {
            SampleClock::Cpu => "cpu",
            SampleClock::Wall => "time",
        },
        leaf: "",
        key: cpu_json::of(clock),
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
