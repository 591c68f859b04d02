//! `martini warmup`: where the start of a JVM went, and how it became warm.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::warm_up::WarmUpReport;
use serde_json::{Value, json};

use crate::attach::recording;
use crate::commands::per_file::{Files, each};
use crate::commands::readiness::{self, Readiness};
use crate::commands::table_arguments::TableArguments;
use crate::input::reading::{self, Reading};
use crate::render::page::Page;
use crate::render::{class_archive, head, notes, warm_up as render};

/// Show where the start of a JVM went, or whether a running JVM is warm
///
/// With a process id: whether it is warm, which it is once C2 has had nothing to do for a while although the program runs. Needs no agent; with
/// --wait for a startup probe: 0 if it is warm, 3 if not within --budget, 4 if it never will be. Of a trace:
///
/// Classes, static initialisers, compilations and collections on one time axis. Times are the JVM's own counters, since its start. Record with
/// warmup=on (martini run --warmup); CPU samples beside it show how much of the code was still interpreted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns over time:
  classes      classes loaded
  load         class loaders of the program, and defining classes
  link, verify each without the others
  init         static initialisers, without loading, linking and verifying
  compile      on threads of the JVM's own
  collect      garbage collection
  interp.      share of the program's CPU time that was interpreted

Columns of classes in no archive:
  about        what loading, linking and verifying them took: an estimate, which
               spreads each interval's sum evenly over its classes

Columns of initialisers:
  own          without other initialisers that it caused
  total        with them

Examples:
  martini run --warmup java -jar app.jar
  martini warmup martini-4711.trcxml
  martini warmup 4711 --wait --budget 90s
  martini run --warmup --ready java -jar app.jar &
  martini warmup 4711 --wait --methods 2000
  martini warmup app.trcxml --stacks --own com.acme.*
  martini warmup app.trcxml --json | jq '.traces[0].initialisers[0]'")]
pub(crate) struct Arguments {
    /// Traces to read, each for itself; - is standard input; or the process id of a JVM
    #[arg(required = true, value_name = "TRACE|PID")]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    readiness: Readiness,
    /// Show the call stack that caused each initialiser
    #[arg(long)]
    stacks: bool,
    #[command(flatten)]
    table: TableArguments,
}

/// In front of the command that has the JVM say why it does not use an archive.
const ASK: &str = "    the JVM says more:";
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if let Some(pid) = arguments.traces.iter().find_map(|trace| recording::pid(trace)) {
        return readiness::run(pid, &arguments.readiness, arguments.table.json);
    }
    each(
        &arguments.traces,
        arguments.table.json.then_some(Files { command: "warmup", list: "traces" }),
        arguments.table.width(),
        |path, out| {
            let reading = reading::warm_up(path)?;
            if arguments.table.json {
                return Ok(to_json(arguments, path, &reading));
            }
            print(arguments, path, &reading, out)?;
            Ok(Value::Null)
        },
    )
}

fn print(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading<WarmUpReport>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let (report, table) = (&reading.report, &arguments.table);
    head::write(path, reading, out)?;
    if !report.is_empty() {
        for sentence in render::sentences(report) {
            out.write_sentence(0, &sentence)?;
        }
        if let Some(question) = class_archive::question(report) {
            let command = out.command(ASK, &question);
            writeln!(out, "{ASK}{command}")?;
        }
        writeln!(out)?;
        render::intervals(report).table(&report.intervals()).write(out)?;
        writeln!(out)?;
        let (initialisers, left) = table.cut(report.initialisers(table.own.clone()));
        if !initialisers.is_empty() {
            render::initialisers(arguments.stacks).table(&initialisers).write_top(left, out)?;
        }
        let (loads, left) = table.cut(report.loads());
        if !loads.is_empty() {
            render::loads().table(&loads).write_top(left, out)?;
        }
        let (lookups, left) = table.cut(report.failed_lookups(table.own.clone()));
        if !lookups.is_empty() {
            render::lookups(arguments.stacks).table(&lookups).write_top(left, out)?;
        }
        let (methods, left) = table.cut(report.methods());
        if !methods.is_empty() {
            render::methods().table(&methods).write_top(left, out)?;
        }
        let (again, left) = table.cut(report.compiled_again());
        if !again.is_empty() {
            render::compiled_again().table(&again).write_top(left, out)?;
        }
    }
    let notes = notes::of_warm_up(reading);
    notes::write_last(&notes, out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading<WarmUpReport>) -> Value {
    let (report, table) = (&reading.report, &arguments.table);
    let mut fields = render::json(report);
    fields.insert("path".to_owned(), json!(path.display().to_string()));
    fields.insert("complete".to_owned(), json!(notes::is_complete(reading)));
    fields.insert("intervals".to_owned(), render::intervals(report).array(&report.intervals()));
    let initialisers = table.cut(report.initialisers(table.own.clone())).0;
    fields.insert("initialisers".to_owned(), render::initialisers(false).array(&initialisers));
    fields.insert("loads".to_owned(), render::loads().array(&table.cut(report.loads()).0));
    let lookups = table.cut(report.failed_lookups(table.own.clone())).0;
    fields.insert("failed_lookups".to_owned(), render::lookups(false).array(&lookups));
    fields.insert("methods".to_owned(), render::methods().array(&table.cut(report.methods()).0));
    fields.insert("notes".to_owned(), json!(notes::of_warm_up(reading)));
    fields.into()
}
