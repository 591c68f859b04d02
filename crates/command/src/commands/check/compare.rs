//! Two commands in turn: which of them allocates more, and is that so when their order is reversed?

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use analysis::comparison::{Comparison, compare};
use analysis::ledger::{Ledger, Measure, Place, Unit};
use anyhow::{Context, bail};

use super::{Arguments, costs};
use crate::commands::diff;
use crate::exit;
use crate::render::comparison::Found;

/// Rows of a table.
const ROWS: usize = 10;

pub(super) fn run(arguments: &Arguments, a: &str, b: &str) -> anyhow::Result<u8> {
    let measured = |is_reversed: bool| -> anyhow::Result<Comparison> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for run in 1..=arguments.runs {
            let mut turns = [(a, &mut before), (b, &mut after)];
            if is_reversed {
                turns.reverse();
            }
            for (command, side) in turns {
                anstream::eprintln!("martini: run {run} of {}: {command}", arguments.runs);
                side.push(bytes(command)?);
            }
        }
        let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        Ok(compare(Measure::Bytes, &before, &after, arguments.least / 100.0))
    };
    let mut comparison = measured(false)?;
    let mut notes = Vec::new();
    let has_more = |comparison: &Comparison| comparison.changes.iter().any(|change| change.amount > 0.0);
    if has_more(&comparison) {
        anstream::eprintln!("martini: once more in reverse order");
        let again = measured(true)?;
        let is_confirmed =
            |place: &Place| again.changes.iter().any(|change| change.place == *place && change.amount > 0.0);
        let all = comparison.changes.len();
        comparison.changes.retain(|change| change.amount <= 0.0 || is_confirmed(&change.place));
        if comparison.changes.len() < all {
            notes.push(format!(
                "{} more methods differed in one order only, and are left out",
                all - comparison.changes.len()
            ));
        }
    }
    let comparisons = [comparison];
    let found = Found {
        before: vec![a.to_owned()],
        after: vec![b.to_owned()],
        per: None,
        notes,
        comparisons: &comparisons,
        callers: [Vec::new(), Vec::new()],
        rows: ROWS,
        unit: Unit::Method.words(),
        is_by_callers: false,
    };
    let mut out = anstream::stdout().lock();
    diff::print("check", &found, arguments.json, arguments.markdown, arguments.page.width(), &mut out)?;
    let more: Vec<_> = comparisons[0].changes.iter().filter(|change| change.amount > 0.0).collect();
    if arguments.github {
        for change in &more {
            let text = format!("{} allocates {:.0} bytes more than before", change.place, change.amount);
            writeln!(out, "{}", crate::render::budgets::annotation(&text))?;
        }
    }
    out.flush()?;
    Ok(if more.is_empty() { exit::OK } else { exit::INVALID })
}

/// What all JVMs of a command allocate, by method.
fn bytes(command: &str) -> anyhow::Result<Ledger> {
    let folder = tempfile::tempdir().context("there is no place for traces")?;
    let traces = folder.path().join("%p.trcxml");
    let itself = std::env::current_exe().context("the command martini has no path")?;
    let mut run = Command::new(itself);
    run.args(["run", "--quiet", "--file"]).arg(&traces).args(["--", "sh", "-c", command]);
    // What it prints is not what this command prints.
    let status = run.stdout(Stdio::null()).status().context("martini run cannot be started")?;
    if !status.success() {
        bail!("'{command}' failed: {status}");
    }
    let found = traces_in(folder.path())?;
    if found.is_empty() {
        bail!("'{command}' has started no JVM");
    }
    let costs = costs::read(&found, false)?;
    let mut methods = Ledger::new(Measure::Bytes);
    for (item, amount) in costs.code.iter().filter(|ledger| ledger.measure() == Measure::Bytes).flat_map(Ledger::iter) {
        methods.add(item.place.coarser(Unit::Method), &item.of, amount);
    }
    Ok(methods)
}

fn traces_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).context("the folder of traces cannot be read")?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "trcxml")).collect())
}
