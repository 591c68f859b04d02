//! `martini stats`: tables of what a trace says about the heap.

mod calls;
mod flags;
mod objects;
mod over_time;
mod rows;
mod samples;

use std::path::{Path, PathBuf};

use analysis::allocations::{AllocationReport, Naming, Scope};
use analysis::cpu::SampleClock;
use anyhow::bail;
use trace::filter::Pattern;

use crate::commands::call_flags::CallFlags;
use crate::commands::per_file::{Files, each};
use crate::commands::selection::{selects_class, whole_number};
use crate::commands::time_window::{TimeFlags, TimeWindow};
use crate::input::contents::{Contents, Wanted, contents};
use crate::input::reading;
use crate::render::allocations::ObjectColumn;
use crate::render::page::PageArguments;
use calls::Calls;
use objects::{Names, Objects};
use over_time::OverTimeOf;
use rows::Rows;
use samples::Samples;

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
  survived     of these, bytes that survived a collection; the others were
               allocated since the last one, and may be garbage
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

Execution traces of the old TPTP profilers have calls instead of objects:
  base         time in the methods, without what they called
  cumulative   time from entry to exit, with what they called; recursive calls
               count once
  average, min, max
               time of one call from entry to exit

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
  martini stats old.trcxml --calls --by method --sort cumulative
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
    #[command(flatten)]
    calls: CallFlags,
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
    sort: Option<ObjectColumn>,
    /// Only objects (calls: methods) of these classes: a name, with an optional * at its end or beginning (repeatable)
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    /// Only objects allocated by this code, directly or through the JDK (calls: only its calls and what they call): a class or class.method, with an optional * at its end or
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

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "stats", list: "traces" }),
        arguments.page.width(),
        |path, out| {
            let window = arguments.window.of(path)?;
            match arguments.read(path, window)? {
                Contents::Objects(mut reading) => {
                    arguments.check(path, window, &reading.report)?;
                    let names = Names::of(arguments, &reading.report);
                    flags::note_without_effect(arguments, path, &reading.report, &names);
                    objects::retain(arguments, &mut reading.report, &names);
                    if arguments.over_time {
                        let by = arguments.by.map(|rows| rows.of_objects(path)).transpose()?;
                        return over_time::show(&OverTimeOf { arguments, path, reading: &reading, by }, out);
                    }
                    objects::show(&Objects { arguments, path, reading: &reading, names }, out)
                }
                Contents::Samples(reading) => samples::show(Samples::of(arguments, path, window, reading)?, out),
                Contents::Calls(reading) => calls::show(&Calls::of(arguments, path, window, reading)?, out),
                Contents::Waits(_) => unreachable!("they are not asked for"),
            }
        },
    )
}

impl Arguments {
    /// Reads the part of a trace that counts: objects, or samples if these are asked for or the trace holds nothing else.
    ///
    /// # Errors
    /// The trace cannot be read, or samples are asked for in rows that they do not have.
    fn read(&self, path: &Path, window: TimeWindow) -> anyhow::Result<Contents> {
        let scope = Scope { from: window.from(), to: window.to(), over_time: self.over_time };
        let calls = self.calls.selection(&self.code, &self.filter);
        if self.calls.are_asked_for() {
            return Ok(Contents::Calls(reading::calls(path, calls)?));
        }
        let is_of_objects = self.threads || self.over_time;
        match self.cpu.then_some(SampleClock::Cpu).or(self.wall.then_some(SampleClock::Wall)) {
            Some(clock) => {
                self.by.map(|rows| rows.of_samples(path)).transpose()?;
                Ok(Contents::Samples(reading::samples(path, clock, &scope)?))
            }
            None if is_of_objects => Ok(Contents::Objects(Box::new(reading::allocations_in(path, &scope)?))),
            // A filter is for classes of objects, or of methods that are called.
            None => contents(path, &scope, Wanted { samples: self.filter.is_empty(), waits: false, calls }),
        }
    }

    /// Checks that the trace has something of the part that counts.
    ///
    /// # Errors
    /// It has not.
    fn check(&self, path: &Path, window: TimeWindow, report: &AllocationReport) -> anyhow::Result<()> {
        window.check_objects(path, report)?;
        if window.is_given() && self.shows_accounts(report) {
            bail!("{}: thread accounts cover the whole trace; leave out --from and --to", path.display());
        }
        Ok(())
    }

    /// The frames that name stacks in tables of code.
    fn naming_of_code(&self) -> Naming {
        if self.caller.is_empty() { Naming::Own(self.own.clone()) } else { Naming::Callers(self.caller.clone()) }
    }

    /// The frames that name stacks in other tables than those of code: innermost ones, unless a flag says which.
    fn naming_of_sites(&self) -> Naming {
        match self.caller.is_empty() && self.own.is_empty() {
            true => Naming::Innermost,
            false => self.naming_of_code(),
        }
    }

    fn selects(&self, class: &str) -> bool {
        selects_class(&self.filter, class)
    }

    /// Whether threads are shown by their accounts. A trace that only counts knows nothing else of them, unless samples say which
    /// part of each site is theirs.
    fn shows_accounts(&self, report: &AllocationReport) -> bool {
        let is_part = !self.filter.is_empty() || !self.code.is_empty();
        let by_samples = is_part && report.has_samples();
        self.threads || self.by == Some(Rows::Thread) && report.is_counted() && !by_samples
    }
}
