//! `martini attach`: records a JVM that runs already.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use agent_options::HeapMode;
use anyhow::{Context, bail};
use attach::{Jvm, Target};
use trace::file::is_being_written;

use crate::attach::agent_file;
use crate::attach::live::Live;
use crate::attach::recording::{self, Started, Trace};
use crate::attach::stage::Stage;
use crate::attach::until::{self, Asked, End};
use crate::commands::selection::whole_number;
use crate::commands::summary::summarize;
use crate::exit;
use crate::launch::options::{AgentOptions, Resolved};
use crate::render::page::{Page, Width};

/// Records a JVM that runs already, until Ctrl-C
///
/// The agent is loaded into the JVM and writes a trace, as with `martini run`. With Ctrl-C (or SIGTERM) the recording ends, and the same
/// summary is printed; the program goes on. If this command is killed, the JVM goes on recording: `martini stop` ends that.
///
/// By default what costs next to nothing and begins at once is recorded, without any class being rewritten: samples of allocations and of CPU time, and
/// waits for locks (--sampled --cpu --locks). --heap counts and --heap events rewrite all classes that are loaded. Before JDK 23 that makes the
/// JVM throw its compiled code away: the program is slow until it is compiled again, which may take minutes.
///
/// The JVM may be another user's, for root, or in a container: then the agent is copied into its /tmp, and the trace out of it at the end.
/// Find the process with `martini ps`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini attach 4711                     until Ctrl-C
  martini attach 4711 --duration 30s
  martini attach 4711 --cpu               where the time goes, nothing else
  martini attach 4711 --heap counts       exact counts; rewrites classes
  martini attach 4711 --detach            go away; martini stop 4711 ends it

Exit status:
  0 if the recording ended with a trace that can be read, also by Ctrl-C,
  SIGTERM or the end of the JVM, or was left alone by --detach; 2 if the JVM
  cannot be recorded, which is said in one sentence, or the trace is not there

While it records (PID: process of the JVM):
  martini status PID    what is recorded, and where to
  martini snapshot PID  writes the counts so far, and what is alive
  martini dump PID      dumps the heap

A JVM from 21 on prints a warning of its own when an agent is loaded (JEP 451).
Started with -XX:+EnableDynamicAgentLoading it prints none.")]
pub(crate) struct Arguments {
    /// The process of the JVM
    #[arg(value_name = "PID")]
    pid: u32,
    #[command(flatten)]
    agent: AgentOptions,
    /// End the recording after this time, such as 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = until::time)]
    duration: Option<Duration>,
    /// Leave the JVM recording, and return at once
    #[arg(long, conflicts_with = "duration")]
    detach: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Rows of the summary's table, 0 for all [default: as many as ten lines have room for]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let options = arguments.agent.clone().or_at_once().resolve()?;
    let trace = record(arguments, &options)?;
    trace.map_or(Ok(exit::OK), |trace| print(arguments, &options, &trace))
}

/// Records a JVM for that time, unless it is ended earlier. What is recorded is said on standard error. Gives back the trace.
///
/// # Errors
/// The JVM cannot be recorded, or its trace is not to be seen from here.
pub(crate) fn for_a_while(pid: u32, agent: AgentOptions, duration: Duration) -> anyhow::Result<PathBuf> {
    let options = agent.clone().or_at_once().resolve()?;
    let arguments = Arguments { pid, agent, duration: Some(duration), detach: false, quiet: false, top: None };
    match record(&arguments, &options)? {
        Some(Trace::Here(path)) => Ok(path),
        Some(Trace::There(path)) => {
            bail!("the trace is {path} in the file system of process {pid}; copy it from there")
        }
        None => bail!("JVM {pid} goes on recording"),
    }
}

/// The trace of a recording that has ended; `None` if it is left alone.
fn record(arguments: &Arguments, options: &Resolved) -> anyhow::Result<Option<Trace>> {
    recording::refuse_if_off()?;
    let target = recording::target(arguments.pid)?;
    let jvm = recording::suitable(arguments.pid)?;
    let say = |sentence: &str| {
        if !arguments.quiet {
            recording::say(sentence);
        }
    };
    options.without_effect.iter().for_each(|sentence| say(sentence));
    let is_new = agent_file::loaded(&target)?.is_none();
    let feature = jvm.as_ref().and_then(Jvm::feature);
    notes(feature, is_new, options).iter().for_each(|sentence| say(sentence));
    let asked = Asked::listen()?;
    let started = recording::start(&target, options)?;
    started.notes.iter().for_each(|sentence| say(sentence));
    let pid = arguments.pid;
    if arguments.detach {
        say(&format!("JVM {pid} records to {}", started.trace));
        if Stage::of(&started.trace).is_some() {
            say(&format!("that is a file of process {pid}; martini stop copies it here"));
        }
        say(&format!("martini status {pid} shows the recording, martini stop {pid} ends it"));
        return Ok(None);
    }
    let how = if arguments.duration.is_some() { "Ctrl-C ends it earlier" } else { "Ctrl-C ends the recording" };
    say(&format!("JVM {pid} records to {}; {how}", started.trace));
    let end = watch(arguments, &target, &started, &asked);
    let is_alive = target.process().is_alive();
    if end == End::Foreign {
        say(if is_alive { "the recording has ended by itself" } else { "the JVM has ended" });
    }
    let trace = if is_alive {
        // Also after an end by itself: at its limit a trace is complete, and what records is still in the JVM.
        let stopped = recording::stop(&target, &started.library, Some(&started.trace), &options.file)
            .with_context(|| format!("JVM {pid} may go on recording, which martini stop {pid} ends"))?;
        stopped.notes.iter().for_each(|sentence| say(sentence));
        stopped.trace
    } else {
        recording::fetch(&target, &started.library, &started.trace, &options.file)?
    };
    Ok(Some(trace))
}

/// What is to be known before the agent is loaded, as sentences.
fn notes(feature: Option<u32>, is_new: bool, options: &Resolved) -> Vec<String> {
    let mut notes = Vec::new();
    let is_slow_then = feature.is_none_or(|feature| feature < 23);
    let compiled = match is_slow_then {
        true => {
            ", which makes a JVM before 23 throw its compiled code away and be slow for up to minutes (JDK-8324241)"
        }
        false => "",
    };
    if matches!(options.heap, HeapMode::Counts | HeapMode::Events) {
        let heap = options.heap.as_str();
        notes.push(format!("--heap {heap} rewrites all classes that are loaded{compiled}; --sampled rewrites none"));
    } else if options.juc && is_slow_then {
        notes.push(format!("--juc rewrites a class of the JDK{compiled}; --locks rewrites none"));
    }
    if is_new && feature.is_none_or(|feature| feature >= 21) {
        notes.push(
            "the JVM warns on its own stderr that an agent is loaded dynamically (JEP 451), which is this one"
                .to_owned(),
        );
    }
    notes
}

/// Waits for the end of the recording.
fn watch(arguments: &Arguments, target: &Target, started: &Started, asked: &Asked) -> End {
    let file = recording::visible(target, &started.trace);
    // The agent holds a lock on its trace while it writes; not all file systems have locks.
    let (process, is_locked) = (target.process(), is_being_written(&file));
    let has_ended = || !process.is_alive() || (is_locked && !is_being_written(&file));
    let mut live = (!arguments.quiet).then(|| Live::new(process, file.clone()));
    until::wait(asked, arguments.duration, has_ended, |at| live.iter_mut().for_each(|live| live.show(at)))
}

fn print(arguments: &Arguments, options: &Resolved, trace: &Trace) -> anyhow::Result<u8> {
    match trace {
        Trace::Here(path) if !arguments.quiet => {
            let mut err = anstream::stderr().lock();
            summarize(path, arguments.top, options.heap, &mut Page::new(&mut err, Width::usual()))?;
            err.flush()?;
        }
        Trace::Here(path) => recording::check_readable(path)?,
        Trace::There(path) => {
            anstream::eprintln!("martini: the trace is {path} in the file system of process {}", arguments.pid);
        }
    }
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_costs_is_said_before() {
        let notes =
            |feature, is_new, pairs| notes(Some(feature), is_new, &AgentOptions::of(pairs).resolve().expect("valid"));
        assert_eq!(notes(17, true, &[("sampled", "512k"), ("locks", "on")]), Vec::<String>::new());
        let old = notes(17, true, &[("heap", "counts"), ("juc", "on")]);
        assert!(
            old.len() == 1 && old[0].starts_with("--heap counts rewrites") && old[0].contains("JDK-8324241"),
            "{old:?}"
        );
        assert!(!notes(25, true, &[("heap", "events")])[0].contains("JDK-8324241"));
        assert!(notes(21, false, &[("juc", "on")])[0].starts_with("--juc rewrites a class of the JDK, which makes"));
        assert!(notes(25, false, &[("juc", "on")]).is_empty());
        assert!(notes(21, true, &[("heap", "off"), ("locks", "on")])[0].contains("JEP 451"));
        assert!(notes(21, false, &[("heap", "off"), ("locks", "on")]).is_empty());
    }
}
