//! A recording in a running JVM: its beginning and its end.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use attach::{AgentAnswer, AttachError, Jvm, Pid, Process, Request, Target};

use crate::attach::agent_file;
use crate::attach::stage::{Stage, file_name, with_pid};
use crate::launch::options::{AgentOptions, Resolved};
use crate::launch::program;
use crate::render::human::printable;

/// The oldest Java that the agent is for.
pub(crate) const OLDEST: u32 = 11;

/// A recording that was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// The agent's path, for the JVM.
    pub(crate) library: String,
    /// The trace's path, for the JVM.
    pub(crate) trace: String,
    /// What is done without, as sentences.
    pub(crate) notes: Vec<String>,
}

/// A recording that has ended.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) trace: Trace,
    /// What went wrong at its end, as sentences.
    pub(crate) notes: Vec<String>,
}

/// Where a trace is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    /// A file of ours.
    Here(PathBuf),
    /// A file in the JVM's file system, of which we know the path there.
    There(String),
}

/// The process that an argument names which may be a trace, too: a number, unless there is such a file.
pub(crate) fn pid(argument: &Path) -> Option<u32> {
    argument.to_str().and_then(|text| text.parse().ok()).filter(|_| !argument.exists())
}

/// Finds a JVM that can be attached to.
pub(crate) fn target(pid: u32) -> Result<Target, AttachError> {
    Target::open(Process::find(Pid(pid))?)
}

/// A JVM, and the agent in it, if it is loaded.
pub(crate) fn target_with_agent(pid: u32) -> anyhow::Result<(Target, Option<String>)> {
    let target = target(pid)?;
    let library = agent_file::loaded(&target)?;
    Ok((target, library))
}

/// Refuses to record anything if that is switched off.
///
/// # Errors
/// It is.
pub(crate) fn refuse_if_off() -> anyhow::Result<()> {
    match agent_options::is_switched_off() {
        true => bail!("{} is set, so nothing is recorded; unset it", agent_options::OFF),
        false => Ok(()),
    }
}

/// What is known of a JVM. One in which the agent could not run is refused.
///
/// # Errors
/// Why.
pub(crate) fn suitable(pid: u32) -> anyhow::Result<Option<Jvm>> {
    let jvm = Jvm::of(Process::find(Pid(pid))?);
    jvm.as_ref().map_or(Ok(()), check)?;
    Ok(jvm)
}

fn check(jvm: &Jvm) -> anyhow::Result<()> {
    let pid = jvm.process.pid();
    if let (Some(feature), Some(version)) = (jvm.feature().filter(|&feature| feature < OLDEST), &jvm.version) {
        bail!("JVM {pid} is Java {version} (release {feature}), but the agent needs {OLDEST} or newer");
    }
    let agent = agent_file::own(&jvm.process)?;
    match program::misfit(agent_file::platform(&jvm.process), &agent) {
        Some(why) => bail!("JVM {pid} {why}, so it cannot load the agent; use a Martini built for it"),
        None => Ok(()),
    }
}

/// Starts a recording. What was put into the JVM's file system for it is removed if that fails.
pub(crate) fn start(target: &Target, options: &Resolved) -> anyhow::Result<Started> {
    let loaded = agent_file::loaded(target)?;
    let library = loaded.clone().map_or_else(|| agent_file::place(target), Ok)?;
    let stage = Stage::is_needed(target).then(|| Stage::make(target)).transpose()?;
    let started = placed(target, options, stage.as_ref())
        .and_then(|string| Ok(target.ask(&library, Request::Start, &string)?))
        .and_then(|answer| match answer.value("trace") {
            Some(trace) => Ok((trace.to_owned(), notes(&answer))),
            None => bail!("JVM {}: the agent did not report the path of its trace", target.process().pid()),
        });
    match started {
        Ok((trace, notes)) => Ok(Started { library, trace, notes }),
        Err(error) => {
            stage.iter().for_each(|stage| stage.remove(target));
            if loaded.is_none() {
                agent_file::remove_copy(target, &library);
            }
            Err(error)
        }
    }
}

/// The agent's sentences, as they can be printed.
fn notes(answer: &AgentAnswer) -> Vec<String> {
    answer.notes().map(printable).collect()
}

/// Prints the agent's sentences.
pub(crate) fn say_notes(answer: &AgentAnswer) {
    notes(answer).iter().for_each(|sentence| say(sentence));
}

/// Prints a sentence on standard error.
pub(crate) fn say(sentence: &str) {
    anstream::eprintln!("martini: {sentence}");
}

/// The agent's options, with paths as the JVM has to take them.
fn placed(target: &Target, options: &Resolved, stage: Option<&Stage>) -> anyhow::Result<String> {
    let process = target.process();
    AgentOptions::placed(options, |name, path| match stage {
        Some(stage) if name == "filters" => stage.put(target, path),
        Some(stage) => Ok(stage.path(&with_pid(Path::new(file_name(path)?), process.pid().0))),
        // The agent puts its own id into a name, which may be another than the one that was asked for.
        None if process.inner_pid() != process.pid().0 => Ok(with_pid(path, process.pid().0)),
        None => Ok(path.to_string_lossy().into_owned()),
    })
}

/// Ends a recording, and fetches its trace. `trace`: where it is known to be, so that it is fetched even if the recording has ended
/// already; `wanted`: where it goes if the JVM could not write there.
pub(crate) fn stop(target: &Target, library: &str, trace: Option<&str>, wanted: &Path) -> anyhow::Result<Stopped> {
    let stopped = target.ask(library, Request::Stop, "");
    let notes = stopped.as_ref().map(notes).unwrap_or_default();
    let trace = match (&stopped, trace) {
        (Ok(answer), known) => answer.value("trace").or(known).map(str::to_owned),
        (Err(AttachError::Agent { .. } | AttachError::Gone(_)), Some(known)) => Some(known.to_owned()),
        _ => None,
    };
    match (trace, stopped) {
        (Some(trace), _) => Ok(Stopped { trace: fetch(target, library, &trace, wanted)?, notes }),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(_)) => bail!("JVM {}: the agent did not report the path of its trace", target.process().pid()),
    }
}

/// Fetches the trace of a recording that has ended, and removes what was put into the JVM's file system for it.
pub(crate) fn fetch(target: &Target, library: &str, trace: &str, wanted: &Path) -> anyhow::Result<Trace> {
    agent_file::remove_copy(target, library);
    Ok(match Stage::of(trace) {
        Some((stage, file)) => Trace::Here(stage.copy_out(target, file, wanted)?),
        None if target.shares_files() => Trace::Here(trace.into()),
        None => Trace::There(trace.to_owned()),
    })
}

/// Whether a trace that has been fetched can be read.
///
/// # Errors
/// It cannot.
pub(crate) fn check_readable(trace: &Path) -> anyhow::Result<()> {
    std::fs::File::open(trace).with_context(|| format!("cannot read the trace {}", trace.display()))?;
    Ok(())
}

/// The path by which we see the trace of a recording that runs.
pub(crate) fn visible(target: &Target, trace: &str) -> PathBuf {
    match Stage::of(trace) {
        Some((stage, file)) => stage.path_here(target, file),
        None => trace.into(),
    }
}
