//! `martini stats`: tables of what a trace says about the heap.

mod flags;
mod rows;

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::allocations::{Account, AllocationReport, By, Line, Naming, ObjectTotals, Row, Scope, SiteNames};
use analysis::cpu::SampleClock;
use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::Value;
use trace::filter::Pattern;

use crate::commands::per_file::each;
use crate::commands::selection::{row_limit, selects_class, selects_site, whole_number};
use crate::commands::stats_over_time::{self, OverTimeOf};
use crate::commands::stats_samples::{self, SamplesOf};
use crate::commands::time_window::TimeFlags;
use crate::input::reading::{self, Reading};
use crate::render::allocation_tables::{self, Column, TableKind};
use crate::render::page::{Page, PageArguments};
use crate::render::table::write_left_out;
use crate::render::{allocation_json, coverage, human, line_table, notes};
use rows::Rows;

/// Show what a program allocated, what is still alive, and how old it is
///
/// Reads XML traces or zips of them, from Martini or the old TPTP profilers, complete or truncated. The trace is streamed: memory use grows with
/// the number of live objects, not with the trace.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first table shows the lines of your code: the innermost frame of each call
stack outside the JDK and known runtimes, or in your own code (--own). Below
each line: what it allocates, and the innermost frame.

Columns:
  ±            95 % error margin of the total size, where samples attribute a
               site's exact bytes to its callers
  share        of all bytes
  objects      all allocated objects
  live         objects not collected when the trace ended
  total        all allocated objects
  collected    objects freed by a collection
  active size  bytes of the live objects
  total size   bytes of all objects
  avg age      collections that the live objects survived, on average
  gens         generations: number of different ages of the live objects; many
               mean that the class is allocated steadily and never released
  removed by JIT
               bytes of a site that the JIT did not allocate, estimated by
               sampling (`run --callers`), with a 95 % error margin (±); - if
               the estimate may be zero; hidden if that holds for all rows
  reported     with --threads: bytes of a thread in the trace
  JVM          bytes the JVM accounts to the thread
  percent      reported, as a share of the JVM's account

Traces with heap=counts have no collected objects and no ages.

Examples:
  martini stats app.trcxml                  lines, classes, sites
  martini stats app.trcxml --by line --own 'com.acme.*'
  martini stats app.trcxml --by class --sort generations
  martini stats app.trcxml --by site --filter 'com.acme.*' --top 50
  martini stats app.trcxml --in com.acme.Main.run
                                            what this method allocates
  martini stats app.trcxml --threads        coverage of each thread
  martini stats app.trcxml --by site --own 'com.acme.*' --filter 'byte[]'
                                            which of my lines allocate byte[]
  martini stats app.trcxml --over-time      allocation and live size over time
  martini stats app.trcxml --from 60 --to 90
                                            only this time range
  martini stats app.trcxml --json | jq '.traces[0].tables.class[0]'")]
pub(crate) struct Arguments {
    /// Traces to read, one by one
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Show one table only, with a row for each
    #[arg(long, value_enum)]
    by: Option<Rows>,
    /// Show CPU samples (`run --cpu`)
    #[arg(long, conflicts_with_all = ["filter", "threads", "over_time"])]
    cpu: bool,
    /// Show wall clock samples (`run --wall`)
    #[arg(long, conflicts_with_all = ["cpu", "filter", "threads", "over_time"])]
    wall: bool,
    /// Show only threads: bytes in the trace, and bytes the JVM accounts for
    #[arg(long, conflicts_with_all = ["by", "filter", "code", "caller", "own", "sort", "from", "to", "over_time"])]
    threads: bool,
    /// Show allocation over time: the largest classes and lines per time slice, ten each unless --top is given
    #[arg(long, conflicts_with = "sort")]
    over_time: bool,
    #[command(flatten)]
    window: TimeFlags,
    /// Sort by this column, largest first [default: active-size; total-size for code and for counts]
    #[arg(long, value_enum, value_name = "COLUMN")]
    sort: Option<Column>,
    /// Only objects of these classes: a name, with an optional * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Only objects allocated by this code, directly or through the JDK: a class or class.method, with an optional * at its end or
    /// beginning (repeatable)
    #[arg(long = "in", value_name = "PATTERN")]
    code: Vec<Pattern>,
    /// Classes of your own code: lines, methods and sites show the innermost frame in them, if a call stack has one (repeatable)
    /// [default: all outside the JDK and known runtimes]
    #[arg(long, value_name = "PATTERN")]
    own: Vec<Pattern>,
    /// In all tables, show the innermost frame in these classes, or the innermost frame if there is none (repeatable)
    #[arg(long, value_name = "PATTERN", conflicts_with = "own")]
    caller: Vec<Pattern>,
    /// Rows per table, 0 for all [default: 20, or 10 if there are several tables; with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
}

/// Rows of a text table by default.
const DEFAULT_TOP: usize = 20;

/// Rows of each of several.
const SHORT_TOP: usize = 10;

/// The frames that name stacks.
struct Names {
    /// In tables of code, and for `--in`.
    code: SiteNames,
    /// In tables of sites.
    sites: SiteNames,
}

impl Names {
    fn of(&self, by: By) -> &SiteNames {
        match by {
            By::Line | By::Method | By::Module => &self.code,
            By::Package | By::Class | By::Site | By::Thread => &self.sites,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(&arguments.traces, arguments.json.then_some("traces"), arguments.page.width(), |path, out| {
        if let Some(clock) = arguments.clock() {
            return stats_samples::show(&arguments.samples(path, clock)?, arguments.json, out);
        }
        let mut reading = arguments.read(path)?;
        if arguments.may_be_of_samples(path) && has_only_samples(&reading.report) {
            return stats_samples::show(&arguments.samples(path, SampleClock::Cpu)?, arguments.json, out);
        }
        let names = arguments.names(&reading.report);
        flags::note_without_effect(arguments, path, &reading.report, &names);
        if !arguments.code.is_empty() {
            reading.report.retain_sites(&names.code, |at| selects_site(&arguments.code, at));
        }
        if arguments.over_time {
            return stats_over_time::show(&arguments.over_time(path, &reading)?, arguments.json, out);
        }
        if arguments.json {
            return to_json(arguments, path, &reading, &names);
        }
        print(arguments, path, &reading, &names, out)?;
        Ok(Value::Null)
    })
}

/// Whether a trace has samples of CPU clocks, and no allocations.
fn has_only_samples(report: &AllocationReport) -> bool {
    report.facts().cpu_samples > 0 && !report.has_objects()
}

impl Arguments {
    /// Which samples are asked for.
    fn clock(&self) -> Option<SampleClock> {
        self.cpu.then_some(SampleClock::Cpu).or(self.wall.then_some(SampleClock::Wall))
    }

    /// Whether no flag says that it is to be about objects, and the trace can be read again.
    fn may_be_of_samples(&self, path: &Path) -> bool {
        !self.threads && !self.over_time && self.filter.is_empty() && path.as_os_str() != "-" && path.is_file()
    }

    fn samples<'a>(&'a self, path: &'a Path, clock: SampleClock) -> anyhow::Result<SamplesOf<'a>> {
        let naming = self.naming_of_code();
        Ok(SamplesOf {
            path,
            clock,
            window: self.window.of(path)?,
            by: self.by.map(|rows| rows.of_samples(path)).transpose()?,
            naming_of_others: self.naming_of_sites(&naming),
            naming,
            code: &self.code,
            by_total: flags::by_total(self.sort, path),
            top: self.top,
        })
    }

    /// Reads the part of a trace that counts.
    ///
    /// # Errors
    /// The trace cannot be read, or has nothing of this part.
    fn read(&self, path: &Path) -> anyhow::Result<Reading> {
        let window = self.window.of(path)?;
        let (from, to) = (window.from(), window.to());
        let reading = reading::allocations_in(path, &Scope { from, to, over_time: self.over_time })?;
        window.check(path, Some(reading.report.length()))?;
        stats_over_time::check_counted_part(path, &reading.report)?;
        if window.is_given() && self.shows_accounts(&reading.report) {
            bail!("{}: thread accounts cover the whole trace; leave out --from and --to", path.display());
        }
        Ok(reading)
    }

    fn over_time<'a>(&'a self, path: &'a Path, reading: &'a Reading) -> anyhow::Result<OverTimeOf<'a>> {
        let by = self.by.map(|rows| rows.of_objects(path)).transpose()?;
        Ok(OverTimeOf { path, reading, naming: self.naming_of_code(), by, filter: &self.filter, top: self.top })
    }

    fn naming_of_code(&self) -> Naming {
        if self.caller.is_empty() { Naming::Own(self.own.clone()) } else { Naming::Callers(self.caller.clone()) }
    }

    fn names(&self, report: &AllocationReport) -> Names {
        let code = self.naming_of_code();
        Names { sites: report.site_names(&self.naming_of_sites(&code)), code: report.site_names(&code) }
    }

    /// The frames that name stacks in other tables than those of code: innermost ones, unless a flag says which.
    fn naming_of_sites(&self, code: &Naming) -> Naming {
        match self.caller.is_empty() && self.own.is_empty() {
            true => Naming::Innermost,
            false => code.clone(),
        }
    }

    fn selects(&self, class: &str) -> bool {
        selects_class(&self.filter, class)
    }

    /// The tables to show. Code only where the trace has some, unless it is asked for.
    fn tables(&self, path: &Path, report: &AllocationReport) -> anyhow::Result<Vec<By>> {
        Ok(match self.by {
            _ if self.shows_accounts(report) => vec![],
            Some(rows) => vec![rows.of_objects(path)?],
            None if report.has_sites() => vec![By::Line, By::Package, By::Class, By::Site],
            None => vec![By::Package, By::Class],
        })
    }

    /// Rows of a text table.
    fn default_top(&self) -> usize {
        if self.by.is_some() || self.threads { DEFAULT_TOP } else { SHORT_TOP }
    }

    /// Whether threads are shown by their accounts. A trace that only counts knows nothing else of them, unless samples say which
    /// part of each site is theirs.
    fn shows_accounts(&self, report: &AllocationReport) -> bool {
        let is_part = !self.filter.is_empty() || !self.code.is_empty();
        let by_samples = is_part && report.has_samples();
        self.threads || self.by == Some(Rows::Thread) && report.is_counted() && !by_samples
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
    fn rows<'a>(&self, report: &'a AllocationReport, by: By, names: &Names, top: usize) -> (Vec<Row<'a>>, usize) {
        let mut rows = report.rows_named(by, names.of(by), |class| self.selects(class));
        let all = rows.len();
        allocation_tables::sort(&mut rows, self.sort.unwrap_or(TableKind::of(report).column(by)));
        self.cut(&mut rows, top);
        (rows, all)
    }

    /// All rows of a table of code.
    fn code<'a>(&self, report: &'a AllocationReport, by: By, names: &Names) -> Vec<Line<'a>> {
        let mut lines = report.code(by, names.of(by), |class| self.selects(class));
        allocation_tables::sort_lines(&mut lines, self.sort.unwrap_or(TableKind::of(report).column(by)));
        lines
    }
}

fn print(
    arguments: &Arguments,
    path: &Path,
    reading: &Reading,
    names: &Names,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &reading.report;
    let (sum, error) = report.sum_and_error(|class| arguments.selects(class));
    let name = path.display().to_string();
    let origin = out.behind(&name, &format!("({})", notes::origin(reading)));
    writeln!(out, "{}{origin}", name.bold())?;
    let mut summary = notes::summary_of_classes(&sum, report.facts(), &arguments.filter);
    if let Some(error) = error {
        // What is left of the sites is known by samples.
        summary.push_str(&format!("; sampling error ± {}", human::bytes(error)));
    }
    out.write_sentence(0, &summary)?;
    let top = arguments.default_top();
    if sum.total() > 0 || sum.live() > 0 {
        for by in arguments.tables(path, report)? {
            writeln!(out)?;
            let left_out = match by {
                By::Line | By::Method | By::Module => {
                    let lines = arguments.code(report, by, names);
                    let shown = lines.len().min(row_limit(arguments.top, top));
                    write_code(&lines, shown, by, &sum, report, out)?;
                    continue;
                }
                By::Package | By::Class | By::Site | By::Thread => {
                    let (rows, all) = arguments.rows(report, by, names, top);
                    allocation_tables::table(&rows, by, TableKind::of(report)).write(out)?;
                    all - rows.len()
                }
            };
            write_left_out(left_out, out)?;
        }
    }
    if arguments.shows_accounts(report) {
        let (accounts, all) = arguments.accounts(report, top);
        writeln!(out)?;
        allocation_tables::accounts(&accounts).write(out)?;
        write_left_out(all - accounts.len(), out)?;
        if report.is_counted() && accounts.iter().any(|account| account.vm_bytes.is_some_and(|vm| account.bytes > vm)) {
            out.write_sentence(
                2,
                "more than 100 %: sites count every allocation they execute, even those the JIT removed",
            )?;
        }
    }
    writeln!(out)?;
    notes::write(&notes::of_allocations(reading), out)?;
    coverage::write(&reading.coverage(), out)?;
    writeln!(out)?;
    Ok(())
}

/// Writes a table of code, and below it what has to be known to read it.
fn write_code(
    lines: &[Line<'_>],
    shown: usize,
    by: By,
    sum: &ObjectTotals,
    report: &AllocationReport,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    writeln!(out, "{}", "Where, in your code:".bold())?;
    line_table::table(&lines[..shown], by, sum.total_bytes(), TableKind::of(report)).write(out)?;
    write_left_out(lines.len() - shown, out)?;
    for sentence in line_table::notes(lines, shown, report) {
        let sentence = out.sentence(2, &sentence);
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading, names: &Names) -> anyhow::Result<Value> {
    let report = &reading.report;
    let (mut tables, mut outside) = (serde_json::Map::new(), None);
    for by in arguments.tables(path, report)? {
        let table = match by {
            By::Line | By::Method | By::Module => {
                let mut lines = arguments.code(report, by, names);
                outside = Some(line_table::outside_jdk(&lines));
                arguments.cut(&mut lines, 0);
                allocation_json::lines(&lines, report)
            }
            By::Package | By::Class | By::Site | By::Thread => {
                allocation_json::rows(&arguments.rows(report, by, names, 0).0, report)
            }
        };
        tables.insert(allocation_json::table_name(by).to_owned(), table);
    }
    if arguments.shows_accounts(report) {
        tables.insert("accounts".to_owned(), allocation_json::accounts(&arguments.accounts(report, 0).0));
    }
    let sum = report.sum(|class| arguments.selects(class));
    let mut document = allocation_json::trace(path, reading, &sum, tables);
    if let Some(outside) = outside {
        document["outside_jdk_bytes"] = outside.into();
    }
    Ok(document)
}
