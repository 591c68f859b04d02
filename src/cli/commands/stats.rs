//! `martini stats`: tables of what a trace says about the heap.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice;

use analysis::allocations::{Account, AllocationReport, By, Naming, Row, SiteNames, Subject};
use clap::ValueEnum;
use owo_colors::OwoColorize;
use serde_json::Value;
use trace::filter::Pattern;

use crate::cli::commands::per_file::each;
use crate::cli::commands::selection::{note, note_unmatched, row_limit, selects_class, selects_site, whole_number};
use crate::cli::input::reading::{self, Reading};
use crate::cli::render::allocation_tables::{self, Column, TableKind};
use crate::cli::render::page::{Page, PageArguments};
use crate::cli::render::table::write_left_out;
use crate::cli::render::{allocation_json, coverage, notes};

/// Shows what a program allocated, what is still alive, and how old that is
///
/// The trace may be XML or a zip of XML documents, by Martini or by the old TPTP profilers, complete or cut off. It is read as a
/// stream: memory grows with the number of objects alive at one time, not with the trace.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  live         objects that no collection had removed when the trace ended
  total        all objects allocated
  collected    objects that a collection removed
  active size  bytes of the live objects
  total size   bytes of all objects
  avg age      collections that the live objects survived, on average
  gens         generations: how many different ages the live objects have; many
               mean that the class is always allocated and never released
  removed by JIT
               bytes that a site executed and the JIT did not allocate, as a
               sampler estimates (`run --callers`); with 95 % confidence the
               error is at most the number behind ±
  objects      with --threads: objects of a thread that are in the trace
  reported     their bytes
  JVM          bytes that the JVM itself accounts to the thread
  percent      reported, of what the JVM accounts

Traces of heap=counts have neither collected objects nor ages.

Examples:
  martini stats app.trcxml                  packages, classes, allocation sites
  martini stats app.trcxml --by class --sort generations
  martini stats app.trcxml --by site --filter 'com.acme.*' --top 50
  martini stats app.trcxml --in com.acme.Main.run
                                            what this method allocates
  martini stats app.trcxml --threads        each thread, and the JVM's account
  martini stats app.trcxml --by site --caller 'com.acme.*'
                                            which of my lines allocate byte[]
  martini stats app.trcxml --json | jq '.traces[0].tables.class[0]'")]
pub(crate) struct Arguments {
    /// Traces to read, each for itself
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Show only one table, with a row for each of these
    #[arg(long, value_enum)]
    by: Option<Rows>,
    /// Show only the threads: what the trace reports of each, and what the JVM accounts to it
    #[arg(long, conflicts_with_all = ["by", "filter", "code", "caller", "sort"])]
    threads: bool,
    /// Sort by this column, the largest first [default: active-size; total-size where objects are only counted]
    #[arg(long, value_enum, value_name = "COLUMN")]
    sort: Option<Column>,
    /// Count only objects of these classes: a name, or one with a * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Count only objects that this code allocates: a class or class.method, or one with a * at its end or beginning (repeatable)
    #[arg(long = "in", value_name = "PATTERN")]
    code: Vec<Pattern>,
    /// Take the innermost frame in these classes as the allocation site, if the trace has stacks (`run --stack`; repeatable)
    #[arg(long, value_name = "PATTERN")]
    caller: Vec<Pattern>,
    /// Show at most this many rows of a table, 0 for all [default: 20, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    #[command(flatten)]
    page: PageArguments,
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

/// Rows of a text table by default.
const DEFAULT_TOP: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(&arguments.traces, arguments.json.then_some("traces"), arguments.page.width(), |path, out| {
        let mut reading = reading::allocations(path)?;
        let names = reading.report.site_names(&arguments.naming());
        arguments.note_without_effect(path, &reading.report, &names);
        if !arguments.code.is_empty() {
            reading.report.retain_sites(&names, |at| selects_site(&arguments.code, at));
        }
        if arguments.json {
            return Ok(to_json(arguments, path, &reading, &names));
        }
        print(arguments, path, &reading, &names, out)?;
        Ok(Value::Null)
    })
}

impl Arguments {
    /// Notes each flag that has no effect on this trace.
    fn note_without_effect(&self, path: &Path, report: &AllocationReport, names: &SiteNames) {
        let facts = report.facts();
        if facts.allocations == 0 && facts.site_counts == 0 {
            // That nothing is there is noted already.
            return;
        }
        if !self.filter.is_empty() {
            let classes = report.rows(By::Class, |_| true);
            let names = classes.iter().filter_map(|row| match row.subject {
                Subject::Class(name) => Some(name),
                _ => None,
            });
            note_unmatched(path, &self.filter, names);
        }
        self.note_unmatched_code(path, report, names);
        if !self.caller.is_empty() && !report.has_stacks() {
            note(path, "--caller has no effect without call stacks; record them with martini run --stack 16");
        }
        if let Some((column, missing)) =
            self.sort.and_then(|column| Some((column, TableKind::of(report).lacks(column)?)))
        {
            let column = column.to_possible_value().expect("no column is hidden");
            note(path, &format!("--sort {} has no effect: {missing}", column.get_name()));
        }
    }

    /// Notes each pattern of `--in` that no site matches.
    fn note_unmatched_code(&self, path: &Path, report: &AllocationReport, names: &SiteNames) {
        if self.code.is_empty() {
            return;
        }
        if !report.has_sites() {
            let sentence = "--in selects nothing without allocation sites; record them with martini run --allocsites";
            return note(path, sentence);
        }
        let rows = report.rows_named(By::Site, names, |_| true);
        let sites = || {
            rows.iter().filter_map(|row| match row.subject {
                Subject::Site { at, .. } => at,
                _ => None,
            })
        };
        for pattern in &self.code {
            if !sites().any(|at| selects_site(slice::from_ref(pattern), &at)) {
                note(path, &format!("no code that allocates matches --in '{pattern}'"));
            }
        }
    }

    fn naming(&self) -> Naming {
        if self.caller.is_empty() { Naming::Innermost } else { Naming::Callers(self.caller.clone()) }
    }

    fn selects(&self, class: &str) -> bool {
        selects_class(&self.filter, class)
    }

    /// The tables to show. Sites only where the trace has some, unless they are asked for.
    fn tables(&self, report: &AllocationReport) -> Vec<By> {
        match self.by {
            _ if self.shows_accounts(report) => vec![],
            Some(rows) => vec![rows.into()],
            None if report.has_sites() => vec![By::Package, By::Class, By::Site],
            None => vec![By::Package, By::Class],
        }
    }

    /// Whether threads are shown by their accounts. A trace that only counts knows nothing else of them.
    fn shows_accounts(&self, report: &AllocationReport) -> bool {
        self.threads || self.by == Some(Rows::Thread) && report.is_counted()
    }

    /// The accounts to show, and how many there are in all.
    fn accounts<'a>(&self, report: &'a AllocationReport, default_top: usize) -> (Vec<Account<'a>>, usize) {
        let mut accounts: Vec<Account<'_>> = report.accounts().collect();
        let all = accounts.len();
        allocation_tables::sort_accounts(&mut accounts);
        self.cut(&mut accounts, default_top);
        (accounts, all)
    }

    fn cut<T>(&self, rows: &mut Vec<T>, default_top: usize) {
        rows.truncate(row_limit(self.top, default_top));
    }

    /// The rows of a table to show, and how many there are in all.
    fn rows<'a>(
        &self,
        report: &'a AllocationReport,
        by: By,
        names: &SiteNames,
        default_top: usize,
    ) -> (Vec<Row<'a>>, usize) {
        let mut rows = report.rows_named(by, names, |class| self.selects(class));
        let all = rows.len();
        allocation_tables::sort(&mut rows, self.sort.unwrap_or(TableKind::of(report).column()));
        self.cut(&mut rows, default_top);
        (rows, all)
    }
}

fn print(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading,
    names: &SiteNames,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &reading.report;
    let sum = report.sum(|class| arguments.selects(class));
    let path = path.display().to_string();
    let origin = out.behind(&path, &format!("({})", notes::origin(reading)));
    writeln!(out, "{}{origin}", path.bold())?;
    out.write_sentence(0, &notes::summary(&sum, report.facts()))?;
    if sum.total() > 0 {
        for by in arguments.tables(report) {
            let (rows, all) = arguments.rows(report, by, names, DEFAULT_TOP);
            writeln!(out)?;
            allocation_tables::table(&rows, by, TableKind::of(report)).write(out)?;
            write_left_out(all - rows.len(), out)?;
        }
    }
    if arguments.shows_accounts(report) {
        let (accounts, all) = arguments.accounts(report, DEFAULT_TOP);
        writeln!(out)?;
        allocation_tables::accounts(&accounts).write(out)?;
        write_left_out(all - accounts.len(), out)?;
    }
    writeln!(out)?;
    notes::write(&notes::of_allocations(reading), out)?;
    coverage::write(&reading.coverage(), out)?;
    writeln!(out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading, names: &SiteNames) -> Value {
    let report = &reading.report;
    let tables = arguments.tables(report).into_iter();
    let rows = |by| allocation_json::rows(&arguments.rows(report, by, names, 0).0, report.is_counted());
    let mut tables: serde_json::Map<_, _> =
        tables.map(|by| (allocation_json::table_name(by).to_owned(), rows(by))).collect();
    if arguments.shows_accounts(report) {
        tables.insert("accounts".to_owned(), allocation_json::accounts(&arguments.accounts(report, 0).0));
    }
    let sum = report.sum(|class| arguments.selects(class));
    allocation_json::trace(path, reading, &sum, tables)
}
