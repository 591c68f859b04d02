//! `martini export`: what a trace says, in the formats of other tools.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use export::{CSV, FIREFOX, JFR, JSON, Measure, OTLP, PERFETTO, PPROF, Profiles, SPEEDSCOPE, Subject};
use trace::file::{self, IfTaken, Kind};

use crate::commands::selection::note;
use crate::exit;
use crate::input::everything::{Everything, Gathered};
use crate::input::reading::{self, Report};
use crate::render::{human, notes};

/// Convert a trace for other tools
///
/// All numbers are those of the trace, in the units of the format.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --value, a format that holds one value takes the first that the trace
has, in the order above. A pprof file holds all values of one kind: objects and
bytes, allocated and live; or number and time of lock waits, or of calls.

Examples:
  martini export app.trcxml --to collapsed | flamegraph.pl > app.svg
  martini export app.trcxml --to speedscope -o app.speedscope.json
  martini export app.trcxml --to pprof -o app.pb.gz
  martini export app.trcxml --to pprof --value cpu -o cpu.pb.gz
  martini export app.trcxml --to otlp -o app.otlp
  martini export app.trcxml --to jfr -o app.jfr
  martini export app.trcxml --to firefox -o app.firefox.json
  martini export app.trcxml --to perfetto -o app.pftrace")]
pub(crate) struct Arguments {
    /// Trace to convert
    trace: PathBuf,
    /// Format
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Value to export, for formats that hold one
    #[arg(long, value_enum)]
    value: Option<Value>,
    /// Add the thread as the outermost frame of each call stack
    #[arg(long)]
    threads: bool,
}

/// What `--to` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Folded call stacks, for flame graph tools
    Collapsed,
    /// speedscope.app: all values in one file
    Speedscope,
    /// `go tool pprof` and compatible services
    Pprof,
    /// OpenTelemetry profiles, experimental (v1development of release 1.10.0): all values in one file
    Otlp,
    /// JDK Mission Control, IntelliJ IDEA, `jfr view`: allocations, waits, CPU samples, collections, threads
    Jfr,
    /// profiler.firefox.com: CPU samples, allocations, waits and collections, by thread
    Firefox,
    /// ui.perfetto.dev: waits and collections as slices, CPU samples, byte counters
    Perfetto,
    /// Spreadsheets and databases: one row per line and class, with all values
    Csv,
    /// Scripts: the same rows
    Json,
}

/// What `--value` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Value {
    /// Allocated bytes
    Bytes,
    /// Allocated objects
    Objects,
    /// Live bytes at the end
    LiveBytes,
    /// Live objects at the end
    LiveObjects,
    /// CPU time
    Cpu,
    /// Wall clock time of threads
    Wall,
    /// Time threads waited for locks
    LockWait,
    /// Number of waits for locks
    LockCount,
    /// Time threads spent in other waits
    OtherWait,
    /// Time in methods, without what they called (execution traces)
    CallTime,
    /// Number of calls of methods
    CallCount,
}

impl From<Value> for Measure {
    fn from(value: Value) -> Measure {
        match value {
            Value::Bytes => Measure::Bytes,
            Value::Objects => Measure::Objects,
            Value::LiveBytes => Measure::LiveBytes,
            Value::LiveObjects => Measure::LiveObjects,
            Value::Cpu => Measure::Cpu,
            Value::Wall => Measure::Wall,
            Value::LockWait => Measure::LockWait,
            Value::LockCount => Measure::LockCount,
            Value::OtherWait => Measure::OtherWait,
            Value::CallTime => Measure::CallTime,
            Value::CallCount => Measure::CallCount,
        }
    }
}

impl Format {
    /// How files of it are recognised as ours. Lines of stacks have nothing to know them by, so no file is taken for such.
    fn kind(self) -> Kind {
        match self {
            Format::Collapsed => Kind { name: "list of stacks", is_begun_by: |_| false },
            Format::Speedscope => SPEEDSCOPE,
            Format::Pprof => PPROF,
            Format::Otlp => OTLP,
            Format::Jfr => JFR,
            Format::Firefox => FIREFOX,
            Format::Perfetto => PERFETTO,
            Format::Csv => CSV,
            Format::Json => JSON,
        }
    }

    fn is_binary(self) -> bool {
        matches!(self, Format::Pprof | Format::Otlp | Format::Jfr | Format::Perfetto)
    }

    /// It has a place for one kind of number.
    fn has_one_value(self) -> bool {
        matches!(self, Format::Collapsed | Format::Pprof)
    }

    /// It says what happens when.
    fn has_times(self) -> bool {
        matches!(self, Format::Jfr | Format::Firefox | Format::Perfetto)
    }

    fn has_threads_as_frames(self) -> bool {
        matches!(self, Format::Collapsed | Format::Speedscope)
    }

    fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (path, format) = (&*arguments.trace, arguments.to);
    if arguments.value.is_some() && !format.has_one_value() {
        bail!("the format {} holds all values; leave out --value", format.word());
    }
    if arguments.threads && !format.has_threads_as_frames() {
        bail!("the format {} always has threads; leave out --threads", format.word());
    }
    let output = arguments.output.as_deref().filter(|output| output.as_os_str() != "-");
    if output.is_none() && format.is_binary() && io::stdout().is_terminal() {
        bail!("the format {} is not text; name a file with -o", format.word());
    }
    let refused = |refusal: file::Refusal| anyhow!("{refusal}; choose another -o");
    if let Some(output) = output {
        // Before the trace is read, which may take long.
        if format == Format::Collapsed && output.metadata().is_ok_and(|found| found.is_file() && found.len() > 0) {
            bail!("{} already exists; collapsed files are never overwritten; choose another -o", output.display());
        }
        file::check(output, format.kind(), IfTaken::Replace).map_err(refused)?;
    }
    let mut reading = reading::trace(path, Everything::new(format.has_times()))?;
    let recorder = reading.report.recorder.take().unwrap_or_default();
    notes::completeness(&reading).iter().for_each(|sentence| note(path, sentence));
    let profiles = reading.report.profiles();
    let measure = measure(arguments, &reading.report, &profiles)?;
    let has_place = |subject: &Subject| has_place_with_times(*subject);
    if format.has_times() && !profiles.subjects().is_empty() && !profiles.subjects().iter().any(has_place) {
        let what = format.kind().name;
        note(path, &format!("of this trace, a {what} can hold only threads and collections"));
    }
    if format == Format::Collapsed && arguments.value.is_none() && measure == Measure::CallTime {
        note(path, "a list of stacks has one number for each, here base time; --value call-count gives calls");
    }
    let mut bytes = Vec::new();
    match format {
        Format::Collapsed => export::collapsed(&profiles, measure, arguments.threads, &mut bytes)?,
        Format::Speedscope => export::speedscope(&profiles, &name(path), arguments.threads, &mut bytes)?,
        Format::Pprof => export::pprof(&profiles, measure, &mut bytes)?,
        Format::Otlp => bytes = export::otlp(&profiles),
        Format::Jfr => bytes = export::jfr(&recorder.finish(&profiles)),
        Format::Firefox => export::firefox(&recorder.finish(&profiles), &name(path), &mut bytes)?,
        Format::Perfetto => bytes = export::perfetto(&recorder.finish(&profiles)),
        Format::Csv => export::csv(&profiles, &mut bytes)?,
        Format::Json => export::json(&profiles, &mut bytes)?,
    }
    match output {
        Some(output) => {
            let new = file::create(output, format.kind(), IfTaken::Replace).map_err(refused)?;
            let written = new.fill(|file| file.write_all(&bytes));
            written.with_context(|| format!("cannot write {}", output.display()))?;
            let (kept, left_out) = held(format, measure, &profiles);
            note(output, &format!("{} of {}{left_out}", human::bytes(bytes.len() as u64), kept.join(", ")));
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(&bytes).and_then(|()| out.flush())?;
        }
    }
    Ok(exit::OK)
}

/// What of a trace a file of a format holds, and a part of a sentence about what it does not.
fn held(format: Format, measure: Measure, profiles: &Profiles<'_>) -> (Vec<&'static str>, String) {
    let is_held = |subject: Subject| match format {
        _ if format.has_one_value() => subject == measure.subject(),
        _ if format.has_times() => has_place_with_times(subject),
        _ => true,
    };
    let (kept, left_out): (Vec<Subject>, Vec<Subject>) =
        profiles.subjects().into_iter().partition(|&subject| is_held(subject));
    let words = |subjects: Vec<Subject>| subjects.into_iter().map(word).collect::<Vec<_>>();
    let (mut kept, left_out) = (words(kept), words(left_out));
    if format.has_times() {
        kept.extend(["collections", "threads"]);
    }
    let hint = if format.has_one_value() { "; --value chooses" } else { "" };
    match left_out.is_empty() {
        true => (kept, String::new()),
        false => (kept, format!("; this format cannot hold {} of the trace{hint}", left_out.join(", "))),
    }
}

/// Whether formats that say what happens when have a place for it.
fn has_place_with_times(subject: Subject) -> bool {
    !matches!(subject, Subject::Live | Subject::Wall | Subject::Calls)
}

fn word(subject: Subject) -> &'static str {
    match subject {
        Subject::Allocated => "allocations",
        Subject::Live => "live objects",
        Subject::Cpu => "CPU samples",
        Subject::Wall => "wall clock samples",
        Subject::Locks => "waits for locks",
        Subject::Waits => "other waits",
        Subject::Calls => "calls",
    }
}

/// What the file is called by, for its reader.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string())
}

/// What is exported where there is a place for one number.
///
/// # Errors
/// The trace does not have what is asked for.
fn measure(arguments: &Arguments, report: &Gathered, profiles: &Profiles<'_>) -> anyhow::Result<Measure> {
    let path = &*arguments.trace;
    let asked = arguments.value.map(Measure::from);
    let Some(measure) = asked.or(profiles.first()) else {
        note(path, "the trace has nothing to export; the output is empty");
        return Ok(Measure::Bytes);
    };
    let subject = measure.subject();
    if !profiles.stacks(subject).is_empty() {
        return Ok(measure);
    }
    let (nothing, option, is_recorded) = match subject {
        Subject::Calls => {
            bail!("{} has no calls; only execution traces of old TPTP profilers have them", path.display())
        }
        Subject::Allocated => ("no allocation", "martini run", false),
        Subject::Live => {
            ("no live objects", "martini run --heap events, or --sampled,", report.facts().allocations > 0)
        }
        Subject::Cpu => ("no CPU samples", "martini run --cpu", false),
        Subject::Wall => ("no wall clock samples", "martini run --wall", false),
        Subject::Locks => ("no wait for a lock", "martini run --locks", report.has_waits()),
        Subject::Waits => ("no wait", "martini run --locks", report.has_waits()),
    };
    if !is_recorded {
        bail!("{} has {nothing}; record with {option}", path.display());
    }
    note(path, &format!("the trace has {nothing}; the output is empty"));
    Ok(measure)
}
