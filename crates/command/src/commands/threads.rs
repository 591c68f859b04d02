//! `martini threads`: what each thread did with its time.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use ::thread_dump::DumpThread;
use analysis::locks::{LockReport, LockStats, Observer, Selection, ThreadSummary};
use analysis::own_code::OwnCode;
use analysis::thread_dumps::{BlockedThreads, TakenDump};
use analysis::timeline::{TIMELINE, Timeline};
use anyhow::{Context, anyhow, bail};
use owo_colors::OwoColorize;
use serde_json::Value;
use trace::file::{self, IfTaken};
use trace::time::Nanos;

use crate::attach::recording;
use crate::commands::lock_selection::LockSelection;
use crate::commands::per_file::{Files, each};
use crate::commands::selection::{row_limit, whole_number};
use crate::commands::thread_dump::{self, Show};
use crate::commands::time_window::TimeWindow;
use crate::input::reading::{self, Reading};
use crate::render::human::{counted, duration};
use crate::render::page::{Page, PageArguments};
use crate::render::table::write_left_out;
use crate::render::threads::{self, ThreadColumn};
use crate::render::{lock_summary, locks, thread_dump as render_dump};

/// Show how each thread spent its time, or what the threads of a running JVM do now
///
/// With a process id: a dump of all threads, grouped by stack, with owners of locks; deadlocks and threads that wait for one owner come
/// first. Needs no agent. The JVM stops the program for some 20 to 450 us per thread; and, if threads wait for locks of java.util.concurrent,
/// for 160 ms per GiB of heap to find their owners (a process above 4 GiB only with --owners).
///
/// Reads XML traces or zips of them, from Martini or the old TPTP profilers, and plain lock logs (TRY and LCK lines), complete or truncated. Old
/// profilers recorded neither sleep nor CPU time: their traces show both as running.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  alive      from the start of the thread or trace to the end of either
  blocked    waiting for a monitor (synchronized) owned by another thread
  waiting    in Object.wait
  sleeping   in Thread.sleep
  parked     in java.util.concurrent: locks, conditions, queues, latches
  running    alive minus all of these (running or parked without --juc),
             divided into
  cpu          on a processor
  queued       ready to run, but no processor was free
  elsewhere    the rest, an estimate (~): waiting in the system, such as for
               I/O, or in the JVM; without --juc also in java.util.concurrent
             - if unknown: virtual threads, killed JVMs, --from
  at end     state when the trace ended, or at --to; - if not started by then
  over time  the trace from left to right

VM threads (collectors, compilers) and native threads, recorded by `run --cpu`,
have their own table: only their CPU time is known.

Examples:
  martini threads 4711
  martini threads 4711 --thread 'http-*' --frames 0
  martini threads app.trcxml
  martini threads app.trcxml --pools --sort parked
  martini threads app.trcxml --thread 'http-*' --from 12.3 --to 12.9
  martini threads app.trcxml --timeline app.json   for ui.perfetto.dev
  martini threads app.trcxml --json | jq '.traces[0].threads[0]'")]
pub(crate) struct Arguments {
    /// Traces or lock logs to read, one by one; - is standard input; or the process id of a JVM
    #[arg(required = true, value_name = "TRACE|LOG|PID")]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    selection: LockSelection,
    /// Sort by this column, longest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value = "blocked")]
    sort: ThreadColumn,
    /// Number of threads to show, 0 for all [default: 30, with --json: 0]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    /// Also write a timeline for Perfetto or chrome://tracing to this file; needs exactly one trace
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Of thread dumps: frames of each stack to show, 0 for all
    #[arg(long, value_name = "N", value_parser = whole_number, default_value = "12")]
    frames: usize,
    /// Of a running JVM: find owners of java.util.concurrent locks however large the heap is
    #[arg(long)]
    owners: bool,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
}

/// Rows of the text table by default.
const DEFAULT_TOP: usize = 30;
/// Groups of threads of a dump in a trace by default.
const DEFAULT_GROUPS: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.timeline.is_some() && arguments.traces.len() != 1 {
        bail!("--timeline takes one trace at a time, but {} were given", arguments.traces.len());
    }
    if let Some(pid) = arguments.traces.iter().find_map(|trace| recording::pid(trace)) {
        return dump(arguments, pid);
    }
    each(
        &arguments.traces,
        arguments.json.then_some(Files { command: "threads", list: "traces" }),
        arguments.page.width(),
        |path, out| {
            let window = arguments.selection.window.of(path)?;
            let reading = read(arguments, path, window)?;
            arguments.selection.check(path, window, &reading.report)?;
            if arguments.json {
                return Ok(to_json(arguments, path, &reading));
            }
            print(arguments, path, &reading, out)?;
            Ok(Value::Null)
        },
    )
}

/// Shows what the threads of a running JVM do.
fn dump(arguments: &Arguments, pid: u32) -> anyhow::Result<u8> {
    if arguments.traces.len() > 1 {
        bail!("a running JVM is shown alone; leave out the others");
    }
    if arguments.timeline.is_some() || arguments.selection.window.is_given() {
        bail!(
            "--timeline, --from and --to need a trace, and {pid} is a process id; record it with martini attach {pid}"
        );
    }
    thread_dump::run(
        pid,
        &Show {
            selection: &arguments.selection,
            owners: arguments.owners,
            groups: row_limit(arguments.top, DEFAULT_TOP),
            frames: row_limit(Some(arguments.frames), 0),
            json: arguments.json,
            width: arguments.page.width(),
        },
    )
}

fn read(arguments: &Arguments, path: &Path, window: TimeWindow) -> anyhow::Result<Reading<LockReport>> {
    let selection = arguments.selection.analysis_selection(window, &[]);
    let Some(timeline) = &arguments.timeline else {
        return reading::locks(path, LockStats::new(selection, None));
    };
    let cannot = || format!("cannot write the timeline {}", timeline.display());
    // Names of threads and classes may be confidential.
    let create = || {
        let created = file::create(timeline, TIMELINE, IfTaken::Replace);
        created.map(|new| new.file).map_err(|refusal| anyhow!("{refusal}; choose another --timeline"))
    };
    if window.from() == Nanos(0) {
        return read_into(create()?, path, selection, cannot);
    }
    // Whether --from is behind the end is known at the end, and must not cost the file that is there.
    let mut written = tempfile::tempfile().with_context(cannot)?;
    let reading = read_into(written.try_clone().with_context(cannot)?, path, selection, cannot)?;
    arguments.selection.check(path, window, &reading.report)?;
    let mut out = create()?;
    written.rewind().and_then(|()| io::copy(&mut written, &mut out)).with_context(cannot)?;
    Ok(reading)
}

fn read_into(
    out: File,
    path: &Path,
    selection: Selection,
    cannot: impl Fn() -> String,
) -> anyhow::Result<Reading<LockReport>> {
    let mut written = Timeline::new(BufWriter::new(out));
    let observer: &mut dyn Observer = &mut written;
    let reading = reading::locks(path, LockStats::new(selection, Some(observer)))?;
    let left_out = written.finish().with_context(cannot)?;
    if left_out > 0 {
        let waits = counted(left_out, "wait", "waits");
        eprintln!("martini: {waits} of virtual threads are not on the timeline: more than 1,000 waited at once");
    }
    Ok(reading)
}

fn rows<'a>(arguments: &Arguments, report: &'a LockReport) -> Vec<ThreadSummary<'a>> {
    let mut rows = report.threads(arguments.selection.pools, |name| arguments.selection.selects(name));
    threads::sort_threads(&mut rows, arguments.sort);
    rows
}

fn print(arguments: &Arguments, path: &Path, reading: &Reading<LockReport>, out: &mut Page<'_>) -> anyhow::Result<()> {
    let report = &reading.report;
    lock_summary::write_head(path, reading, out)?;
    let (mut others, mut rows): (Vec<_>, Vec<_>) =
        rows(arguments, report).into_iter().partition(|row| row.kind.is_some());
    let limit = row_limit(arguments.top, DEFAULT_TOP);
    let left = rows.split_off(rows.len().min(limit));
    if rows.is_empty() && others.is_empty() {
        writeln!(out, "No thread in the trace matches --thread.")?;
    } else if !rows.is_empty() {
        writeln!(out)?;
        threads::view(&rows, report).table(&rows).write(out)?;
    }
    lock_summary::write_left_out(&left, out)?;
    if !rows.is_empty() {
        if let Some(legend) = threads::legend(report) {
            out.write_sentence(2, &legend)?;
        }
        if let Some(legend) = threads::processor_legend(&rows) {
            out.write_sentence(2, legend)?;
        }
    }
    if !others.is_empty() {
        let cpu = |row: &ThreadSummary<'_>| Reverse(row.processor.map(|processor| processor.cpu));
        if arguments.sort != ThreadColumn::Name {
            others.sort_by_key(cpu);
        }
        let left = others.len().saturating_sub(limit);
        others.truncate(limit);
        writeln!(out, "\n{}", "VM and native threads:".bold())?;
        threads::other_threads(&others).write(out)?;
        write_left_out(left, out)?;
    }
    if let Some(last) = report.dumps().last() {
        write_dump(arguments, report, last, out)?;
    }
    lock_summary::write_notes(reading, out)?;
    Ok(())
}

/// Writes what the last dump of all threads shows.
fn write_dump(
    arguments: &Arguments,
    report: &LockReport,
    TakenDump { time, dump }: &TakenDump,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let at = report.span().map_or(Nanos(0), |(origin, _)| time.since(origin));
    let threads = counted(dump.threads.len() as u64, "thread", "threads");
    writeln!(out, "\n{}", format!("Thread dump at {}:", duration(at)).bold())?;
    out.write_sentence(2, &format!("{threads}; virtual threads are in it only while they run"))?;
    let selects = |index| arguments.selection.selects(&dump.thread(index).name);
    render_dump::write_blocked(&BlockedThreads::of(dump, &OwnCode::default(), selects), out)?;
    let mut groups = dump.groups();
    groups.retain(|group| group.threads.iter().any(|&index| selects(index)));
    let left = groups.split_off(groups.len().min(row_limit(arguments.top, DEFAULT_GROUPS)));
    render_dump::write_groups(dump, &groups, row_limit(Some(arguments.frames), 0), out)?;
    write_left_out(left.len(), out)?;
    Ok(())
}

fn to_json(arguments: &Arguments, path: &Path, reading: &Reading<LockReport>) -> Value {
    let mut rows = rows(arguments, &reading.report);
    rows.truncate(row_limit(arguments.top, 0));
    let mut fields = locks::head_json(path, reading);
    let dumps = reading.report.dumps().iter().map(|taken| {
        let selects = |thread: &DumpThread| arguments.selection.selects(&thread.name);
        let blocked = BlockedThreads::of(&taken.dump, &OwnCode::default(), |index| selects(taken.dump.thread(index)));
        let mut dump = render_dump::json(&taken.dump, &blocked, selects);
        dump["time_nanos"] = taken.time.0.into();
        dump
    });
    fields.insert("dumps".to_owned(), dumps.collect());
    fields.insert("slice_nanos".to_owned(), reading.report.slice().0.into());
    fields.insert("threads".to_owned(), threads::view(&rows, &reading.report).array(&rows));
    fields.into()
}
