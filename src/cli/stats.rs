//! `martini stats`: tables of what a trace says about the heap.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::heap::{By, HeapReport, Row};
use clap::ValueEnum;
use owo_colors::OwoColorize;
use trace::filter::Pattern;
use trace::names;

use super::reading::{self, Reading};
use super::tables::{self, Column};
use super::{exit, human, json, notes};

/// Shows what a trace says about the heap: what was allocated, what stays alive, how old it is
///
/// The trace may be XML or a zip of XML documents, of Martini or of the old TPTP profilers, complete or cut off. It is read as a
/// stream: memory grows with the objects alive at one time, not with the trace.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  live         objects not collected when the trace ended
  total        all objects allocated
  collected    total less live
  active size  bytes of the live objects
  total size   bytes of all objects
  avg age      collections that the live objects survived, on average
  gens         generations: how many different ages the live objects have; a class that is
               made all the time and never let go has many

Examples:
  martini stats app.trcxml                                   packages, classes, allocation sites
  martini stats app.trcxml --by class --sort generations
  martini stats app.trcxml --by site --filter 'com.acme.*' --top 50
  martini stats app.trcxml --by site --caller 'com.acme.*'   which of my lines make byte[]?
  martini stats app.trcxml --json | jq '.traces[0].tables.class[0]'")]
pub(super) struct Arguments {
    /// Traces to read, each for itself
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Show only the table with one row per ...
    #[arg(long, value_enum)]
    by: Option<Rows>,
    /// Sort by this column, the largest first
    #[arg(long, value_enum, default_value = "active-size", value_name = "COLUMN")]
    sort: Column,
    /// Count only objects of these classes: a name, or one with a * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Name as allocation site the innermost call from these classes, where the trace has stacks (`run --stack`; repeatable)
    #[arg(long, value_name = "PATTERN")]
    caller: Vec<Pattern>,
    /// Show at most this many rows of a table, 0 for all [default: 20, with --json: 0]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print JSON, with exact numbers
    #[arg(long)]
    json: bool,
}

/// What `--by` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    Package,
    Class,
    Site,
    Thread,
}

impl From<Rows> for By {
    fn from(rows: Rows) -> By {
        match rows {
            Rows::Package => By::Package,
            Rows::Class => By::Class,
            Rows::Site => By::Site,
            Rows::Thread => By::Thread,
        }
    }
}

/// Rows of a text table where `--top` does not say.
const DEFAULT_TOP: usize = 20;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut documents = Vec::new();
    for path in &arguments.traces {
        let reading = reading::heap(path, &arguments.caller)?;
        if arguments.json {
            documents.push(to_json(arguments, path, &reading));
        } else {
            let mut out = anstream::stdout().lock();
            print(arguments, path, &reading, &mut out)?;
            out.flush()?;
        }
    }
    if arguments.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &serde_json::json!({ "traces": documents }))
            .map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    Ok(exit::OK)
}

impl Arguments {
    fn selects(&self, class: &str) -> bool {
        // As in a filter list, a pattern for a class is one for its arrays, too.
        let matches = |pattern: &Pattern| pattern.matches(class) || pattern.matches(names::element_name(class));
        self.filter.is_empty() || self.filter.iter().any(matches)
    }

    /// The tables to show. Sites only where the trace has some, unless they are asked for.
    fn tables(&self, report: &HeapReport) -> Vec<By> {
        match self.by {
            Some(rows) => vec![rows.into()],
            None if report.has_sites() => vec![By::Package, By::Class, By::Site],
            None => vec![By::Package, By::Class],
        }
    }

    /// The rows of a table to show, and how many there are in all.
    fn rows<'a>(&self, report: &'a HeapReport, by: By, default_top: usize) -> (Vec<Row<'a>>, usize) {
        let mut rows = report.rows(by, |class| self.selects(class));
        let all = rows.len();
        tables::sort(&mut rows, self.sort);
        match self.top.unwrap_or(default_top) {
            0 => {}
            top => rows.truncate(top),
        }
        (rows, all)
    }
}

fn print(arguments: &Arguments, path: &Path, reading: &Reading, out: &mut impl Write) -> anyhow::Result<()> {
    let report = &reading.report;
    let sum = report.sum(|class| arguments.selects(class));
    writeln!(out, "{} ({})", path.display().bold(), notes::origin(reading))?;
    writeln!(out, "{}", notes::summary(&sum, report.facts()))?;
    if sum.total() > 0 {
        for by in arguments.tables(report) {
            let (rows, all) = arguments.rows(report, by, DEFAULT_TOP);
            writeln!(out)?;
            tables::table(&rows, by).write(out)?;
            if rows.len() < all {
                let left = (all - rows.len()) as u64;
                writeln!(out, "  ... and {} more; --top 0 shows all", human::count(left))?;
            }
        }
    } else if !arguments.filter.is_empty() && report.facts().allocations > 0 {
        writeln!(out, "No class of the trace matches --filter.")?;
    }
    let notes = notes::notes(reading);
    if !notes.is_empty() {
        writeln!(out)?;
    }
    for note in notes {
        writeln!(out, "{} {note}", "note:".yellow().bold())?;
    }
    writeln!(out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading) -> serde_json::Value {
    let report = &reading.report;
    let tables = arguments.tables(report).into_iter();
    let tables = tables.map(|by| (json::table_name(by).to_owned(), json::rows(&arguments.rows(report, by, 0).0)));
    let sum = report.sum(|class| arguments.selects(class));
    json::trace(path, reading, &sum, tables.collect())
}
