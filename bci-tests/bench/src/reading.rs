//! How fast the command reads a large trace, and in how much memory, beside an XML parser that does nothing with it.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::martini::workspace;
use serde_json::{Value, json};

use crate::alternate::{Outcome, all_ran, alternate};
use crate::built;
use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::run::{Run, run};
use crate::table::Table;

const ROUNDS: usize = 5;
const MEBIBYTES: &str = "1024";
const COMMANDS: [&str; 4] = ["stats", "threads", "locks", "validate"];

/// Runs the benchmark and prints a table. The error counts the commands that failed.
pub(crate) fn measure(request: &Request) -> Result<(), String> {
    let target = built::build()?.target;
    let trace = made_trace(&target)?;
    let bytes = fs::metadata(&trace).map_err(|e| format!("{}: {e}", trace.display()))?.len() as f64;
    let readers = readers(&target.join("release/martini"), request.against.as_deref());
    let (machine, rounds) = (Machine::now(), request.rounds.unwrap_or(ROUNDS));
    let outcomes = alternate(readers.len(), rounds, |_, index| {
        let mut command = Command::new(&readers[index].1[0]);
        run(command.args(&readers[index].1[1..]).arg(&trace), request.limit)
    });
    let head = format!("{}\n{:.0} MB, rounds: {rounds}; median (least .. most)\n", machine.line(), bytes / 1e6);
    match request.form() {
        Form::Text => println!("{head}\n{}", table(bytes, &readers, &outcomes).text()),
        Form::Markdown => println!("{head}\n{}", table(bytes, &readers, &outcomes).markdown()),
        Form::Json => println!(
            "{:#}",
            json!({ "machine": machine.json(), "bytes": bytes, "results": to_json(&readers, &outcomes) })
        ),
    }
    all_ran(outcomes.iter().filter(|outcome| outcome.failure.is_some()).count())
}

/// The trace, which is made once: it is always the same.
fn made_trace(target: &Path) -> Result<PathBuf, String> {
    let path = target.join("bench-traces").join(format!("made-{MEBIBYTES}.trcxml"));
    if !path.exists() {
        let unfinished = path.with_extension("unfinished");
        let out = File::create(&unfinished).map_err(|e| format!("{}: {e}", unfinished.display()))?;
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["run", "--quiet", "--release", "-p", "analysis", "--example", "make_trace", "--target-dir"]);
        built::succeed(cargo.arg(target).args(["--", MEBIBYTES]).current_dir(workspace()).stdout(out))?;
        fs::rename(&unfinished, &path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(path)
}

/// What reads the trace: a name for the table, and a command with its first arguments.
fn readers(this: &Path, other: Option<&Path>) -> Vec<(String, Vec<PathBuf>)> {
    let mut readers = vec![("xmllint --stream".to_owned(), vec!["xmllint".into(), "--stream".into()])];
    for command in COMMANDS {
        readers.push((format!("martini {command}"), vec![this.into(), command.into()]));
        if let Some(other) = other {
            readers.push((format!("martini {command}, other build"), vec![other.into(), command.into()]));
        }
    }
    readers
}

fn table(bytes: f64, readers: &[(String, Vec<PathBuf>)], outcomes: &[Outcome<Run>]) -> Table {
    let mut table = Table::new(&["reader", "MB/s", "times xmllint", "most memory, MiB"]);
    let base = outcomes[0].complete();
    for ((name, _), outcome) in readers.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        let speed = Spread::of(runs.iter().map(|run| bytes / 1e6 / run.wall.as_secs_f64()));
        let ratio = base.map(|base| Spread::of_quotients(base, runs, |run| run.wall.as_secs_f64()));
        let memory = Spread::of(runs.iter().map(|run| run.rss_bytes as f64 / f64::from(1 << 20)));
        let ratio = ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        table.row([name.clone(), format!("{speed:.0}"), ratio, format!("{:.1}", memory.median)]);
    }
    table
}

fn to_json(readers: &[(String, Vec<PathBuf>)], outcomes: &[Outcome<Run>]) -> Vec<Value> {
    let runs = |outcome: &Outcome<Run>| -> Vec<Value> {
        let run = |run: &Run| json!({ "seconds": run.wall.as_secs_f64(), "cpuSeconds": run.cpu.as_secs_f64(), "mostMemory": run.rss_bytes });
        outcome.runs.iter().map(run).collect()
    };
    let row = |((name, _), outcome): (&(String, _), _)| {
        let outcome: &Outcome<Run> = outcome;
        json!({ "reader": name, "runs": runs(outcome), "failed": outcome.failure })
    };
    readers.iter().zip(outcomes).map(row).collect()
}
