//! `martini locks`: which locks threads wait for, for how long, and who holds them.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::locks::{LockBy, LockHolders, LockReport, LockRow, LockStats, Selection};
use clap::ValueEnum;
use owo_colors::OwoColorize;
use serde_json::Value;
use trace::filter::Pattern;
use trace::time::Nanos;

use crate::commands::lock_selection::LockSelection;
use crate::commands::per_file::{Files, each};
use crate::commands::selection::{note, row_limit, whole_number};
use crate::input::reading::{self, Reading};
use crate::render::human::{counted, duration};
use crate::render::locks::{self, LockColumn};
use crate::render::page::{Page, PageArguments};
use crate::render::table::write_too_few;
use crate::render::{blocking_graph, lock_stacks, lock_summary};

/// Show which locks threads wait for, how long, and who owns them
///
/// Reads XML traces or zips of them, from Martini or the old TPTP profilers, and plain lock logs (TRY and LCK lines), complete or truncated. Locks
/// of java.util.concurrent need juc=on when recording. Deadlocks come first, then threads still blocked at the end.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Columns:
  contended      how often a thread waited for a lock owned by another thread
  total, mean    total and average time waited
  p50, p90, p99  percentiles of the waits; exact up to 256 waits, beyond that
                 too long by less than 1 %
  max            longest wait
  timed out      with --waits: how many timed out

Examples:
  martini locks app.trcxml                      worst locks, sites and pairs
  martini locks app.trcxml --by site --stacks   longest waits, with stacks
  martini locks app.trcxml --filter 'com.acme.*' --sort max
  martini locks app.trcxml --thread 'http-*' --from 12.3 --to 12.9
                                                what delayed this request
  martini locks app.trcxml --waits              conditions, latches, queues
  martini locks app.trcxml --waits --idle       idle threads, too
  martini locks app.trcxml --pools --graph | dot -Tsvg > who-blocks-whom.svg
  martini locks old-lock.log                    TRY and LCK lines
  martini locks app.trcxml --json | jq '.traces[0].deadlocks'")]
pub(crate) struct Arguments {
    /// Traces or lock logs to read, one by one; - is standard input
    #[arg(required = true, value_name = "TRACE|LOG")]
    traces: Vec<PathBuf>,
    /// Show one table only, with a row for each
    #[arg(long, value_enum)]
    by: Option<Rows>,
    /// Show other waits: notifications, conditions, latches, queues
    #[arg(long)]
    waits: bool,
    /// With --waits, include threads waiting for work: pool threads without a task, timers, the reference handler
    #[arg(long, requires = "waits")]
    idle: bool,
    /// Only these locks: a class of locks or of their fields, a field such as com.acme.Cache.lock, or an id such as @17; names may have a
    /// * at the end or beginning (repeatable). Without known fields, as in lock logs, also waits in the code of these classes
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<Pattern>,
    #[command(flatten)]
    selection: LockSelection,
    /// Sort by this column, largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value = "total")]
    sort: LockColumn,
    /// Rows per table, 0 for all [default: 10, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    /// Show the longest wait of each row with both threads' call stacks
    #[arg(long)]
    stacks: bool,
    /// Print only the blocking graph, for Graphviz (dot)
    #[arg(long, conflicts_with_all = ["json", "by", "waits", "idle", "stacks"])]
    graph: bool,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
}

/// What `--by` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Lock
    Monitor,
    /// Lock class
    Class,
    /// Lock class and where threads wait
    Site,
    /// Lock class and where the owner is
    Holder,
    /// Waiting thread
    Waiter,
    /// Waiting thread and owner
    Pair,
}

impl From<Rows> for LockBy {
    fn from(rows: Rows) -> LockBy {
        match rows {
            Rows::Monitor => LockBy::Monitor,
            Rows::Class => LockBy::Class,
            Rows::Site => LockBy::Site,
            Rows::Holder => LockBy::Holder,
            Rows::Waiter => LockBy::Waiter,
            Rows::Pair => LockBy::Pair,
        }
    }
}

/// Rows of a text table by default.
const DEFAULT_TOP: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "locks", list: "traces" }),
        arguments.page.width(),
        |path, out| {
            let window = arguments.selection.window.of(path)?;
            let selection = arguments.selection.analysis_selection(window, &arguments.filter);
            let selection = Selection { idle: arguments.idle, names: arguments.lock_holders(path)?, ..selection };
            let reading = reading::locks(path, LockStats::new(selection, None))?;
            arguments.selection.check(path, window, &reading.report)?;
            arguments.note_unmatched(path, &reading.report);
            if arguments.json {
                return Ok(to_json(arguments, path, &reading));
            }
            if arguments.graph {
                let pairs = arguments.rows(&reading.report, LockBy::Pair, arguments.waits, DEFAULT_TOP * 5).0;
                blocking_graph::write(&pairs, &reading.report, out)?;
            } else {
                print(arguments, path, &reading, out)?;
            }
            Ok(Value::Null)
        },
    )
}

impl Arguments {
    /// Where the program keeps its locks, if `--filter` asks for it. A trace says it at its end, so it is read once more for that, unless
    /// it cannot be.
    fn lock_holders(&self, path: &Path) -> anyhow::Result<LockHolders> {
        if self.filter.is_empty() || !path.is_file() {
            return Ok(LockHolders::default());
        }
        Ok(reading::locks(path, LockStats::new(Selection::default(), None))?.report.lock_holders())
    }

    /// Notes that no lock is of the classes of `--filter`. Only locks that a thread waited for are in the report.
    fn note_unmatched(&self, path: &Path, report: &LockReport) {
        if !self.filter.is_empty() && report.rows(LockBy::Class, false).is_empty() {
            note(path, "no thread waited for a lock that matches --filter");
        }
    }

    /// The rows of a table to show, and those to leave out; of a text without those that too few looks have seen, which are counted.
    fn rows<'a>(
        &self,
        report: &'a LockReport,
        by: LockBy,
        waits: bool,
        default_top: usize,
    ) -> (Vec<LockRow<'a>>, Vec<LockRow<'a>>, usize) {
        let mut rows = report.rows(by, self.selection.pools);
        rows.retain(|row| locks::lengths(row, waits).count() > 0);
        let too_few = rows.extract_if(.., |row| !self.json && !waits && row.says_too_little()).count();
        locks::sort_locks(&mut rows, self.sort, waits);
        let left = rows.split_off(rows.len().min(row_limit(self.top, default_top)));
        (rows, left, too_few)
    }

    /// The tables to show.
    fn tables(&self, report: &LockReport) -> Vec<LockBy> {
        match self.by {
            Some(rows) => vec![rows.into()],
            None if report.is_log() => vec![LockBy::Site, LockBy::Waiter],
            None if self.waits => vec![LockBy::Monitor, LockBy::Site],
            None => vec![LockBy::Monitor, LockBy::Site, LockBy::Holder, LockBy::Pair],
        }
    }
}

fn print(arguments: &Arguments, path: &Path, reading: &Reading<LockReport>, out: &mut Page<'_>) -> anyhow::Result<()> {
    let report = &reading.report;
    lock_summary::write_head(path, reading, out)?;
    if arguments.by.is_none() && !arguments.waits {
        lock_stacks::write_deadlocks(report, out)?;
        lock_stacks::write_stuck(report, row_limit(arguments.top, DEFAULT_TOP), out)?;
    }
    let sums = report.sums();
    let mut is_empty = true;
    for by in arguments.tables(report) {
        is_empty &= !write_table(arguments, report, by, arguments.waits, out)?;
    }
    if is_empty {
        let sentence = match (arguments.waits, arguments.filter.is_empty()) {
            (true, true) => "No thread waited for anything except locks.",
            (true, false) => "No thread waited for anything that matches --filter, except locks.",
            (false, true) => "No lock was contended.",
            (false, false) => "No lock that matches --filter was contended.",
        };
        writeln!(out, "{sentence}")?;
    }
    if arguments.waits {
        lock_summary::write_idle(&sums, out)?;
    } else if arguments.by.is_none() {
        // What costs more is not to be hidden behind the locks.
        if sums.waited.total > sums.contended.total {
            writeln!(out, "\n{}", "Other waits, longer than those for locks".bold())?;
            write_table(arguments, report, LockBy::Site, true, out)?;
        } else {
            lock_summary::write_waited(&sums, out)?;
        }
        lock_summary::write_idle(&sums, out)?;
    }
    lock_summary::write_notes(reading, out)?;
    Ok(())
}

/// Writes a table; false if it is empty.
fn write_table(
    arguments: &Arguments,
    report: &LockReport,
    by: LockBy,
    waits: bool,
    out: &mut Page<'_>,
) -> anyhow::Result<bool> {
    let (rows, left, too_few) = arguments.rows(report, by, waits, DEFAULT_TOP);
    let is_empty = rows.is_empty();
    if !is_empty {
        writeln!(out)?;
        locks::view(by, waits, report.has_looks()).table(&rows).write(out)?;
        write_left_out(&left, waits, out)?;
    }
    write_too_few(too_few, out)?;
    if by == LockBy::Holder && !waits {
        lock_summary::write_owner_stacks(&report.sums(), out)?;
    }
    if arguments.stacks {
        lock_stacks::write_longest(&rows, waits, report, out)?;
    }
    Ok(!is_empty || too_few > 0)
}

fn write_left_out(left: &[LockRow<'_>], waits: bool, out: &mut Page<'_>) -> std::io::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let lengths = || left.iter().map(|row| locks::lengths(row, waits));
    let total = lengths().fold(0_u64, |sum, lengths| sum.saturating_add(lengths.total().0));
    writeln!(
        out,
        "  ... and {} more with {} for {}; --top 0 shows all",
        counted(left.len() as u64, "row", "rows"),
        counted(lengths().map(|lengths| lengths.count()).sum(), "wait", "waits"),
        duration(Nanos(total)),
    )
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading<LockReport>) -> Value {
    let report = &reading.report;
    let all = [LockBy::Monitor, LockBy::Class, LockBy::Site, LockBy::Holder, LockBy::Waiter, LockBy::Pair];
    let tables = all.into_iter().filter(|&by| arguments.by.is_none_or(|rows| LockBy::from(rows) == by));
    let tables: Vec<LockBy> = tables.collect();
    let rows = |by, waits| -> Value {
        locks::view(by, waits, report.has_looks()).array(&arguments.rows(report, by, waits, 0).0)
    };
    let of = |waits| -> serde_json::Map<_, _> {
        tables.iter().map(|&by| (locks::table_name(by).to_owned(), rows(by, waits))).collect()
    };
    let mut fields = locks::head_json(path, reading);
    fields.extend(locks::sums_json(&report.sums()));
    fields.extend(locks::ends_json(report));
    fields.insert("tables".to_owned(), of(arguments.waits).into());
    if !arguments.waits {
        fields.insert("wait_tables".to_owned(), of(true).into());
    }
    fields.into()
}
