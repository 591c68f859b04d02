//! `martini safepoints`: how long threads took to stop for the JVM, for what, and who was late.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::safepoints::{LateBy, SafepointReport};
use clap::ValueEnum;
use serde_json::{Value, json};
use trace::time::Nanos;

use crate::commands::per_file::{Files, each};
use crate::commands::table_arguments::TableArguments;
use crate::input::reading::{self, Reading};
use crate::render::page::Page;
use crate::render::{head, notes, safepoints as render};

/// Show how long threads took to reach safepoints, and which were late
///
/// At a safepoint the JVM stops all threads, to collect garbage, write a dump or the like. It waits for the last one: a thread in a long loop
/// without a safepoint poll, or one that copies or touches much memory, delays all others. Record with ttsp=on (martini run --ttsp).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns of operations:
  count         number of safepoints for the operation
  to safepoint  total time until all threads had stopped
  slow          safepoints that took 1 ms or more to reach
  longest       the slowest of these
  in all        total time until the threads were resumed

Columns of late threads:
  time          their share of the time to reach slow safepoints, while they
                had not stopped yet
  share         of all that time
  delayed       number of safepoints they delayed
  longest       the largest delay of one safepoint

Examples:
  martini safepoints app.trcxml
  martini safepoints app.trcxml --stacks
  martini safepoints app.trcxml --by thread
  martini safepoints app.trcxml --json | jq '.traces[0].late_lines[0]'")]
pub(crate) struct Arguments {
    /// Traces to read, each for itself; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Show late code by line or by thread [default: both]
    #[arg(long, value_enum)]
    by: Option<Rows>,
    /// Show the call stack of each row's longest time
    #[arg(long)]
    stacks: bool,
    #[command(flatten)]
    table: TableArguments,
}

/// What `--by` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Line of code
    Line,
    /// Thread
    Thread,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.table.json.then_some(Files { command: "safepoints", list: "traces" }),
        arguments.table.width(),
        |path, out| {
            let reading = reading::safepoints(path)?;
            if arguments.table.json {
                return Ok(to_json(arguments, path, &reading));
            }
            print(arguments, path, &reading, out)?;
            Ok(Value::Null)
        },
    )
}

impl Arguments {
    fn tables(&self) -> impl Iterator<Item = LateBy> {
        let by = |wanted| self.by.is_none_or(|by| by == wanted);
        let tables = [(Rows::Line, LateBy::Line), (Rows::Thread, LateBy::Thread)];
        tables.into_iter().filter(move |(rows, _)| by(*rows)).map(|(_, by)| by)
    }
}

fn print(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading<SafepointReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &reading.report;
    head::write(path, reading, out)?;
    out.write_sentence(0, &render::sums(report))?;
    writeln!(out)?;
    let (operations, left) = arguments.table.cut(report.operations());
    if !operations.is_empty() {
        render::operations().table(&operations).write_top(left, out)?;
    }
    for by in arguments.tables() {
        let (rows, left) = arguments.table.cut(report.late(by, arguments.table.own.clone()));
        if rows.is_empty() {
            continue;
        }
        render::late(by, report.slow().sync).table(&rows).write_top(left, out)?;
        if arguments.stacks && by == LateBy::Line {
            render::write_stacks(&rows, out)?;
        }
    }
    let notes = notes::of_safepoints(reading);
    notes::write_last(&notes, out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading<SafepointReport>) -> Value {
    let mut fields = render::json(&reading.report);
    fields.insert("path".to_owned(), json!(path.display().to_string()));
    fields.insert("complete".to_owned(), json!(notes::is_complete(reading)));
    for by in arguments.tables() {
        let rows = arguments.table.cut(reading.report.late(by, arguments.table.own.clone())).0;
        fields.insert(render::table_name(by).to_owned(), render::late(by, Nanos(0)).array(&rows));
    }
    fields.into()
}
