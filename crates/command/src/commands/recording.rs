//! `martini status`, `snapshot`, `dump`, `set` and `stop`: what the agent in a running JVM does, from a command of its own.

use std::io::Write;
use std::path::{Path, PathBuf};

use agent_options::{HeapMode, Options, RawOptions};
use anyhow::{Context, bail};
use attach::{AgentAnswer, Request, Target};
use serde_json::{Map, Value, json};

use crate::attach::recording::{self, Trace};
use crate::attach::stage::{Stage, file_name};
use crate::commands::per_file::print_json;
use crate::commands::selection::{process_id, whole_number};
use crate::commands::summary::summarize;
use crate::exit;
use crate::render::human::printable;
use crate::render::page::{Page, Width};

/// Where a trace goes that the JVM could not write here.
const DEFAULT_FILE: &str = "martini-%p.trcxml";

/// Show what is being recorded in a JVM
///
/// Asks the agent in the JVM. A JVM without the agent is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini status 4711
  martini status 4711 --json | jq -r .trace

Exit status:
  0 if the JVM answered, recording or not; 2 otherwise")]
pub(crate) struct StatusArguments {
    /// Process id of the JVM
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Flush current numbers to the trace
///
/// With --heap counts and --sampled: allocations so far, and live objects. The recording continues.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini snapshot 4711

Exit status:
  0 on success; 2 if nothing is being recorded or the JVM does not answer")]
pub(crate) struct SnapshotArguments {
    /// Process id of the JVM
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
}

/// Write a heap dump of a running JVM
///
/// Without FILE, a recording started with --dump writes a dump beside its trace, with allocation sites and ages. Otherwise the JVM's own dumper
/// writes the live objects to FILE. `martini heap` reads both. The program is paused while the dump is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini dump 4711
  martini dump 4711 before.hprof
  martini heap before.hprof

Exit status:
  0 if the dump is written; 2 if not, or if the JVM does not answer")]
pub(crate) struct DumpArguments {
    /// Process id of the JVM
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
    /// File to write, must not exist [default: martini-PID.hprof]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Change the sampling interval of a running recording
///
/// Works for --sampled and --callers. Each sample keeps the weight of the interval at which it was taken.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini set 4711 --sampled 64k
  martini set 4711 --callers 1m

Exit status:
  0 on success; 2 if the JVM does not answer, or does not record this")]
pub(crate) struct SetArguments {
    /// Process id of the JVM
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
    /// Sample one object per SIZE bytes
    #[arg(long, value_name = "SIZE", required_unless_present = "callers")]
    sampled: Option<String>,
    /// Sample callers once per SIZE bytes
    #[arg(long, value_name = "SIZE")]
    callers: Option<String>,
}

/// Stop the recording in a JVM and print a summary
///
/// The program continues. The agent stays loaded but idle until the next `martini attach`. `detach` is an alias of this command, not to be
/// confused with `martini attach --detach`, which leaves the JVM recording.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini stop 4711
  martini stop 4711 --file app.trcxml     if the JVM is in a container

Exit status:
  0 if the recording ended with a trace; 2 if nothing is being recorded or the
  JVM does not answer")]
pub(crate) struct StopArguments {
    /// Process id of the JVM
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
    /// Where to copy the trace if the JVM wrote it in a container or as another user
    #[arg(long, value_name = "PATH", default_value = DEFAULT_FILE)]
    file: PathBuf,
    /// Print only errors
    #[arg(long, short)]
    quiet: bool,
    /// Rows in the summary table, 0 for all [default: what fits in ten lines]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
}

pub(crate) fn status(arguments: &StatusArguments) -> anyhow::Result<u8> {
    let (target, library) = recording::target_with_agent(arguments.pid)?;
    let answer = library.map(|library| target.ask(&library, Request::Status, "")).transpose()?;
    let pairs: Vec<(&str, &str)> = match &answer {
        Some(answer) => answer.pairs().collect(),
        None => vec![("recording", "no"), ("agent", "not loaded")],
    };
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let mut fields: Map<String, Value> = pairs.iter().map(|&(key, value)| (key.to_owned(), typed(value))).collect();
        fields.insert("pid".to_owned(), json!(arguments.pid));
        fields.insert("agent".to_owned(), json!(answer.is_some()));
        print_json("status", &fields.into(), &mut out)?;
        return Ok(exit::OK);
    }
    let width = pairs.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    for (key, value) in pairs {
        writeln!(out, "{:width$}  {}", printable(key), printable(value))?;
    }
    Ok(exit::OK)
}

/// What the agent says as text, in JSON: numbers are numbers there.
fn typed(value: &str) -> Value {
    match value {
        "yes" => true.into(),
        "no" => false.into(),
        text => text.parse::<u64>().map_or_else(|_| text.into(), Into::into),
    }
}

pub(crate) fn snapshot(arguments: &SnapshotArguments) -> anyhow::Result<u8> {
    let (target, library) = with_agent(arguments.pid)?;
    let answer = target.ask(&library, Request::Snapshot, "")?;
    show(&answer, "current numbers are in the trace", "trace")
}

pub(crate) fn set(arguments: &SetArguments) -> anyhow::Result<u8> {
    let (target, library) = with_agent(arguments.pid)?;
    let mut options = RawOptions::default();
    for (name, value) in [("sampled", &arguments.sampled), ("callers", &arguments.callers)] {
        value.iter().for_each(|value| options.push(name, value));
    }
    recording::say_notes(&target.ask(&library, Request::Set, &options.to_string())?);
    anstream::eprintln!("martini: JVM {}: {options}; takes effect in each thread at its next sample", arguments.pid);
    Ok(exit::OK)
}

pub(crate) fn dump(arguments: &DumpArguments) -> anyhow::Result<u8> {
    let (target, library) = recording::target_with_agent(arguments.pid)?;
    if let (None, Some(library)) = (&arguments.file, library)
        && makes_dumps(&target.ask(&library, Request::Status, "")?)
    {
        return show(&target.ask(&library, Request::Dump, "")?, "the heap dump is written", "trace");
    }
    let default = || PathBuf::from(format!("martini-{}.hprof", arguments.pid));
    let file = arguments.file.clone().unwrap_or_else(default);
    let file = std::path::absolute(&file).with_context(|| format!("{} is not a path", file.display()))?;
    if file.exists() {
        bail!("{} already exists; choose another file", file.display());
    }
    if Stage::is_needed(&target) {
        let stage = Stage::make(&target)?;
        let name = file_name(&file)?;
        let dumped = target.dump_heap(&stage.path(name)).map_err(anyhow::Error::from);
        let copied = dumped.and_then(|()| stage.copy_file(&target, name, &file));
        stage.remove(&target);
        copied?;
    } else {
        let path = file.to_str().with_context(|| format!("{} is not UTF-8; choose another file", file.display()))?;
        target.dump_heap(path)?;
    }
    writeln!(anstream::stdout(), "{}", file.display())?;
    Ok(exit::OK)
}

pub(crate) fn stop(arguments: &StopArguments) -> anyhow::Result<u8> {
    let (target, library) = with_agent(arguments.pid)?;
    let file = std::path::absolute(&arguments.file)?;
    let heap = target.ask(&library, Request::Status, "").ok().map_or(HeapMode::Off, |status| heap_of(&status));
    let stopped = recording::stop(&target, &library, None, &file)?;
    if !arguments.quiet {
        stopped.notes.iter().for_each(|sentence| recording::say(sentence));
    }
    match stopped.trace {
        Trace::Here(path) if arguments.quiet => recording::check_readable(&path)?,
        Trace::Here(path) => summary(&path, arguments.top, heap)?,
        Trace::There(path) => {
            writeln!(anstream::stdout(), "{path} in the file system of process {}", arguments.pid)?;
        }
    }
    Ok(exit::OK)
}

/// A JVM with the agent.
fn with_agent(pid: u32) -> anyhow::Result<(Target, String)> {
    match recording::target_with_agent(pid)? {
        (target, Some(library)) => Ok((target, library)),
        (_, None) => {
            bail!("JVM {pid} does not have the agent, so nothing is being recorded; start with `martini attach {pid}`")
        }
    }
}

/// The options of the recording, if there is one.
fn options_of(status: &AgentAnswer) -> Option<Options> {
    status.value("options")?.parse::<RawOptions>().ok()?.resolve().ok()
}

/// What is recorded of allocations.
fn heap_of(status: &AgentAnswer) -> HeapMode {
    options_of(status).map_or(HeapMode::Off, |options| options.heap)
}

fn makes_dumps(status: &AgentAnswer) -> bool {
    options_of(status).is_some_and(|options| options.dump.when.ever())
}

fn summary(path: &Path, top: Option<usize>, heap: HeapMode) -> anyhow::Result<()> {
    let mut err = anstream::stderr().lock();
    summarize(path, top, heap, false, &mut Page::new(&mut err, Width::usual()))
}

/// Prints where something was written, if the agent says so.
fn show(answer: &AgentAnswer, otherwise: &str, key: &str) -> anyhow::Result<u8> {
    recording::say_notes(answer);
    writeln!(anstream::stdout(), "{}", printable(answer.value(key).unwrap_or(otherwise)))?;
    Ok(exit::OK)
}
