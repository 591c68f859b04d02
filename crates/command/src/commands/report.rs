//! `martini report`: a trace as a page for browsers.

use std::io::{BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use trace::file::{self, IfTaken};
use trace::filter::Pattern;

use crate::attach::recording;
use crate::attach::until;
use crate::commands::attach;
use crate::commands::diff;
use crate::commands::explain::Explained;
use crate::commands::heap_dump;
use crate::commands::tree::percent;
use crate::exit;
use crate::input::whole::{self, Whole};
use crate::launch::options::AgentOptions;
use crate::render::human::{bytes, printable, shell_word};
use crate::report::{self, REPORT, Waits};

/// Stacks below this part of all are folded into others.
const CUT: f64 = 0.01;

/// How long a JVM is recorded.
const DURATION: Duration = Duration::from_secs(30);

/// What to do if the file cannot be written.
const INSTEAD: &str = "; choose another --output";

/// Write a self-contained HTML report
///
/// The page opens in any browser, offline: main findings, allocations, CPU time, lock waits, live objects, as flame graphs, tables and timeline.
/// Select a time range, and the whole page shows that range. The page's address holds the current view, so you can share it.
///
/// With `--diff` the page compares two traces: flame graphs that are red where there is more and blue where there is less, and tables of changes.
///
/// With a PID, the JVM is first recorded for a while, as by `martini attach` with the same options; the trace is kept beside the report.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini report app.trcxml                     writes app.html
  martini report app.trcxml -o report.html
  martini report app.trcxml --own 'com.acme.*'
  martini report app.trcxml --heap-dump app-1.hprof
  martini report app.hprof                      of a heap dump alone
  martini report --diff old.trcxml new.trcxml   writes new.diff.html
  martini report 4711 --duration 60s            record a running JVM first
  martini run --report java -jar app.jar        run, record and report")]
pub(crate) struct Arguments {
    /// Trace or heap dump (.hprof) to show, or process id of a JVM to record
    #[arg(required = true, value_name = "PID|TRACE|DUMP")]
    traces: Vec<PathBuf>,
    /// Compare two traces: what grew and what shrank
    #[arg(long, conflicts_with = "duration")]
    diff: bool,
    /// File to write; only reports are overwritten [default: the trace's name with .html]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Classes of your own code: a name, with an optional * at its end or beginning (repeatable) [default: all but the JDK and known
    /// frameworks]
    #[arg(long, value_name = "PATTERN")]
    own: Vec<Pattern>,
    /// Fold stacks below this share into others [default: 0.01]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    cut: Option<f64>,
    /// Also show this heap dump: an HPROF file, or a trace with a dump
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    heap_dump: Option<PathBuf>,
    /// Recording time, such as 30s, 5m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = until::time)]
    duration: Option<Duration>,
    #[command(flatten)]
    agent: AgentOptions,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let cut = arguments.cut.unwrap_or(CUT);
    if arguments.diff {
        let [before, after] = &arguments.traces[..] else {
            bail!("--diff compares two traces, the older one first, but {} were given", arguments.traces.len());
        };
        if arguments.agent.has_any() {
            bail!("--diff compares existing traces: leave out agent options");
        }
        let output = arguments.output.clone().unwrap_or_else(|| beside(after).with_extension("diff.html"));
        return say(&output, write_difference([before, after], &output, &arguments.own, cut)?);
    }
    let [trace] = &arguments.traces[..] else {
        let traces = arguments.traces.len();
        bail!("a report shows one trace: write one for each of the {traces}, or compare two with --diff");
    };
    let recorded = match recording::pid(trace) {
        Some(pid) => {
            if let Some(output) = &arguments.output {
                file::check(output, REPORT, IfTaken::Replace).map_err(|refusal| anyhow!("{refusal}{INSTEAD}"))?;
            }
            Some(attach::for_a_while(pid, arguments.agent.clone(), arguments.duration.unwrap_or(DURATION))?)
        }
        None if arguments.duration.is_some() || arguments.agent.has_any() => {
            bail!("{} is a trace, not a JVM: leave out --duration and agent options", trace.display())
        }
        None => None,
    };
    let trace = recorded.as_ref().unwrap_or(trace);
    let output = arguments.output.clone().unwrap_or_else(|| beside(trace));
    if heap_dump::is_dump(trace) {
        if arguments.heap_dump.is_some() {
            bail!("{} is a heap dump itself: leave out --heap-dump", trace.display());
        }
        return say(&output, write_dump(trace, &output)?);
    }
    let (size, whole) = write(trace, arguments.heap_dump.as_deref(), &output, &arguments.own, cut, INSTEAD)?;
    // The process ends: to give back millions of small pieces of a large trace would take seconds.
    mem::forget(whole);
    say(&output, size)
}

/// Says where a report is, and how large.
pub(crate) fn say(output: &Path, size: u64) -> anyhow::Result<u8> {
    let mut out = anstream::stdout();
    writeln!(out, "{} ({})", shell_word(output), bytes(size))?;
    Ok(exit::OK)
}

/// Writes the report of a trace beside it; gives back its name.
///
/// # Errors
/// The trace cannot be read, or the report cannot be written.
pub(crate) fn write_beside(trace: &Path) -> anyhow::Result<PathBuf> {
    let output = beside(trace);
    write(trace, None, &output, &[], CUT, "")?;
    Ok(output)
}

/// `app.html` of `app.trcxml`, and `app.7.html` of `app.7`: another end of a name may distinguish it from others.
fn beside(trace: &Path) -> PathBuf {
    if trace.as_os_str() == "-" {
        PathBuf::from("report.html")
    } else if trace.extension().is_some_and(|extension| extension == "trcxml" || extension == "xml") {
        trace.with_extension("html")
    } else {
        let mut name = trace.as_os_str().to_owned();
        name.push(".html");
        name.into()
    }
}

/// Writes the report of a heap dump alone; gives back how large it is.
fn write_dump(path: &Path, output: &Path) -> anyhow::Result<u64> {
    file::check(output, REPORT, IfTaken::Replace).map_err(|refusal| anyhow!("{refusal}{INSTEAD}"))?;
    let dump = heap_dump::for_report(path)?;
    let name = printable(&path.display().to_string());
    create(output, INSTEAD, |out| report::write_dump(&name, dump, &mut &mut *out))
}

/// Writes a report; gives back how large it is, and what was read. `instead`: what to do if the file cannot be written.
fn write(
    trace: &Path,
    heap_dump: Option<&Path>,
    output: &Path,
    own: &[Pattern],
    cut: f64,
    instead: &str,
) -> anyhow::Result<(u64, Whole)> {
    let refused = |refusal: file::Refusal| anyhow!("{refusal}{instead}");
    // Before the trace is read, which may take long.
    file::check(output, REPORT, IfTaken::Replace).map_err(refused)?;
    let dump = heap_dump.map(heap_dump::for_report).transpose()?;
    let mut waits = Waits::default();
    let whole = whole::whole_over_time(trace, &mut waits)?;
    let head = || Explained::new(trace, &whole, own.to_vec()).overview();
    let fill =
        |out: &mut dyn Write| report::write(head, &whole, waits, dump, own.to_vec(), cut / 100.0, &mut &mut *out);
    let size = create(output, instead, fill)?;
    Ok((size, whole))
}

/// Writes what changed from one trace to another; gives back how large it is.
fn write_difference(traces: [&Path; 2], output: &Path, own: &[Pattern], cut: f64) -> anyhow::Result<u64> {
    file::check(output, REPORT, IfTaken::Replace).map_err(|refusal| anyhow!("{refusal}{INSTEAD}"))?;
    let [before, after] = traces;
    let wholes = [whole::whole(before)?, whole::whole(after)?];
    let wholes = wholes.each_ref();
    let heads = || [0, 1].map(|at| Explained::new(traces[at], wholes[at], own.to_vec()).overview());
    let changed = diff::for_report(traces, wholes);
    create(output, INSTEAD, |out| {
        report::write_difference(heads, changed, wholes, own.to_vec(), cut / 100.0, &mut &mut *out)
    })
}

/// Makes the file of a report, and has it filled; gives back how large it is. `instead`: what to do if it cannot be written.
///
/// # Errors
/// It cannot be written, or another file is there.
pub(crate) fn create(
    output: &Path,
    instead: &str,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> anyhow::Result<u64> {
    let new = file::create(output, REPORT, IfTaken::Replace).map_err(|refusal| anyhow!("{refusal}{instead}"))?;
    let written = new.fill(|file| {
        let mut out = Counted { out: BufWriter::with_capacity(1 << 20, file), bytes: 0 };
        fill(&mut out)?;
        out.flush()?;
        Ok(out.bytes)
    });
    written.with_context(|| format!("cannot write the report {}", output.display()))
}

struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trace_has_a_report_of_its_own() {
        for (trace, report) in [
            ("a/app.trcxml", "a/app.html"),
            ("app.xml", "app.html"),
            ("trace.17", "trace.17.html"),
            ("app.trcxml.zip", "app.trcxml.zip.html"),
            ("app", "app.html"),
            ("app.hprof", "app.hprof.html"),
            ("-", "report.html"),
        ] {
            assert_eq!(beside(Path::new(trace)), Path::new(report), "{trace}");
        }
    }
}
