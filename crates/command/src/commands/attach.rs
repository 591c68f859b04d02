//! `martini attach`: records a JVM that runs already.

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use agent_options::{FIRST_TO_KEEP_CODE, HeapMode};
use anyhow::{Context, bail};
use attach::{Jvm, Process, Request, Target};
use trace::file::is_being_written;

use crate::attach::agent_file;
use crate::attach::live::Live;
use crate::attach::recording::{self, Started, Trace};
use crate::attach::stage::Stage;
use crate::attach::until::{self, Asked, End};
use crate::commands::selection::{process_id, whole_number};
use crate::commands::summary::summarize;
use crate::exit;
use crate::input::trace_end;
use crate::launch::options::{AgentOptions, Resolved};
use crate::render::page::{Page, Width};
use crate::rolling::{RollArguments, Rolling};

/// Attach to a running JVM and record until Ctrl-C
///
/// Loads the agent into the JVM and writes a trace, as `martini run` does. Ctrl-C (or SIGTERM) stops the recording and prints the summary;
/// the program continues. If this command is killed, the JVM keeps recording until `martini stop`.
///
/// The default is cheap: samples of allocations and CPU time, and waits for locks (--sampled --cpu --locks, from JDK 23 on --juc). --heap counts
/// and --heap events rewrite all loaded classes. Before JDK 23 the JVM then discards its compiled code, and the program is slow until it is
/// compiled again, which may take minutes.
///
/// As root you can attach to other users' JVMs and to JVMs in containers: the agent is copied into the JVM's /tmp, and the trace is copied out at
/// the end. Find the process id with `martini ps`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini attach 4711                     until Ctrl-C
  martini attach Main                     by main class or jar
  martini attach 4711 --duration 30s
  martini attach 4711 --cpu               CPU time only
  martini attach 4711 --heap counts       exact counts; rewrites classes
  martini attach 4711 --leaks             what piles up, and who holds it
  martini attach 4711 --detach            stop later with martini stop 4711
  martini attach 4711 --roll 10m --keep 2g --to traces
                                          for days, a trace every ten minutes

Exit status:
  0 if the recording ended with a readable trace, also after Ctrl-C, SIGTERM or
  the end of the JVM, or continues after --detach; 2 if the JVM cannot be
  recorded or the trace is missing

While recording (PID: process id of the JVM):
  martini status PID    show what is recorded, and where
  martini snapshot PID  flush counts and live objects to the trace
  martini dump PID      dump the heap

JDK 21 and later print a warning when an agent is loaded (JEP 451), unless the
JVM was started with -XX:+EnableDynamicAgentLoading.")]
pub(crate) struct Arguments {
    /// Process id of the JVM, or its main class or jar
    #[arg(value_name = "PID", value_parser = process_id)]
    pid: u32,
    #[command(flatten)]
    agent: AgentOptions,
    /// Find leaks: sample objects with their ages, then dump the heap and show what holds what piles up
    #[arg(long, conflicts_with_all = ["detach", "roll"])]
    leaks: bool,
    /// Stop recording after this time, such as 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = until::time, conflicts_with = "roll")]
    duration: Option<Duration>,
    /// Start recording and return at once
    #[arg(long, conflicts_with_all = ["duration", "roll"])]
    detach: bool,
    #[command(flatten)]
    roll: RollArguments,
    /// Print only errors
    #[arg(long, short)]
    quiet: bool,
    /// Rows in the summary table, 0 for all [default: what fits in ten lines]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let agent = arguments.agent.clone();
    if let Some(rolling) = arguments.roll.rolling(&agent)? {
        return roll(arguments, rolling, &agent.or_at_once(keeps_code(arguments.pid)));
    }
    let agent = if arguments.leaks { agent.or_leaks("request") } else { agent };
    let options = agent.or_at_once(keeps_code(arguments.pid)).resolve()?;
    let trace = record(arguments, &options)?;
    trace.map_or(Ok(exit::OK), |trace| print(arguments, &options, &trace))
}

/// Records a JVM in pieces.
fn roll(arguments: &Arguments, rolling: Rolling, agent: &AgentOptions) -> anyhow::Result<u8> {
    let (target, asked) = begin(arguments, &rolling.options_of_piece(agent).resolve()?)?;
    let say = |sentence: &str| {
        if !arguments.quiet {
            recording::say(sentence);
        }
    };
    say(&format!("recording JVM {} to {}; press Ctrl-C to stop", arguments.pid, rolling.folder().display()));
    let recorded = rolling.record(&target, agent, &asked);
    rolling.end_all().iter().for_each(|sentence| say(sentence));
    recorded.map(|()| exit::OK)
}

/// Records a JVM for that time, unless it is ended earlier. What is recorded is said on standard error. Gives back the trace.
///
/// # Errors
/// The JVM cannot be recorded, or its trace is not to be seen from here.
pub(crate) fn for_a_while(pid: u32, agent: AgentOptions, duration: Duration) -> anyhow::Result<PathBuf> {
    let options = agent.clone().or_at_once(keeps_code(pid)).resolve()?;
    let roll = RollArguments::default();
    let duration = Some(duration);
    let arguments = Arguments { pid, agent, duration, roll, leaks: false, detach: false, quiet: false, top: None };
    match record(&arguments, &options)? {
        Some(Trace::Here(path)) => Ok(path),
        Some(Trace::There(path)) => {
            bail!("the trace is {path} in the file system of process {pid}; copy it from there")
        }
        None => bail!("JVM {pid} is still recording"),
    }
}

/// Whether a JVM keeps its compiled code when a class is rewritten. Why one cannot be recorded is said later.
pub(crate) fn keeps_code(pid: u32) -> bool {
    let jvm = recording::suitable(pid).ok().flatten();
    jvm.and_then(|jvm| jvm.feature()).is_some_and(|feature| feature >= FIRST_TO_KEEP_CODE)
}

/// Finds the JVM, says what is to be known before it is recorded, and listens for Ctrl-C.
fn begin(arguments: &Arguments, options: &Resolved) -> anyhow::Result<(Target, Asked)> {
    recording::refuse_if_off()?;
    let target = recording::target(arguments.pid)?;
    let jvm = recording::suitable(arguments.pid)?;
    let is_new = agent_file::loaded(&target)?.is_none();
    let notes = notes(jvm.as_ref().and_then(Jvm::feature), is_new, options);
    if !arguments.quiet {
        options.without_effect.iter().chain(&notes).for_each(|sentence| recording::say(sentence));
    }
    Ok((target, Asked::listen()?))
}

/// The trace of a recording that has ended; `None` if it is left alone.
fn record(arguments: &Arguments, options: &Resolved) -> anyhow::Result<Option<Trace>> {
    let (target, asked) = begin(arguments, options)?;
    let say = |sentence: &str| {
        if !arguments.quiet {
            recording::say(sentence);
        }
    };
    let started = recording::start(&target, options)?;
    started.notes.iter().for_each(|sentence| say(sentence));
    let pid = arguments.pid;
    if arguments.detach {
        say(&format!("recording JVM {pid} to {}", started.trace));
        if Stage::of(&started.trace).is_some() {
            say(&format!("the file is in the file system of process {pid}; martini stop copies it here"));
        }
        say(&format!("use martini status {pid} to check the recording, martini stop {pid} to end it"));
        return Ok(None);
    }
    let how = if arguments.duration.is_some() { "press Ctrl-C to stop earlier" } else { "press Ctrl-C to stop" };
    say(&format!("recording JVM {pid} to {}; {how}", started.trace));
    let end = watch(arguments, &target, &started, &asked);
    let is_alive = match end {
        End::Foreign => outlives(target.process()),
        _ => target.process().is_alive(),
    };
    if end == End::Foreign {
        say(match is_alive {
            true => "the recording ended by itself",
            false if trace_end::is_there(&recording::visible(&target, &started.trace)) => "the JVM exited",
            false => "the JVM was killed or crashed: the recording has no end",
        });
    }
    if is_alive && arguments.leaks {
        // Its collection also tells what of the last samples is alive.
        match target.ask(&started.library, Request::Dump, "") {
            Ok(answer) => recording::say_notes(&answer),
            Err(error) => say(&format!("the heap is not dumped: {error}")),
        }
    }
    let trace = if is_alive {
        // Also after an end by itself: at its limit a trace is complete, and what records is still in the JVM.
        let stopped = recording::stop(&target, &started.library, Some(&started.trace), &options.file)
            .with_context(|| format!("JVM {pid} may still be recording; stop it with martini stop {pid}"))?;
        stopped.notes.iter().for_each(|sentence| say(sentence));
        stopped.trace
    } else {
        recording::fetch(&target, &started.library, &started.trace, &options.file)?
    };
    Ok(Some(trace))
}

/// Whether a JVM whose recording ended goes on. One that exits closes its trace just before.
fn outlives(process: &Process) -> bool {
    const LONGEST_EXIT: Duration = Duration::from_secs(2);
    const PAUSE: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    while process.is_alive() {
        if begun.elapsed() >= LONGEST_EXIT {
            return true;
        }
        thread::sleep(PAUSE);
    }
    false
}

/// What is to be known before the agent is loaded, as sentences.
fn notes(feature: Option<u32>, is_new: bool, options: &Resolved) -> Vec<String> {
    let mut notes = Vec::new();
    let is_slow_then = feature.is_none_or(|feature| feature < FIRST_TO_KEEP_CODE);
    let compiled = match is_slow_then {
        true => "; before JDK 23 the JVM then discards compiled code and is slow for up to minutes (JDK-8324241)",
        false => "",
    };
    if matches!(options.heap, HeapMode::Counts | HeapMode::Events) {
        let heap = options.heap.as_str();
        notes.push(format!("--heap {heap} rewrites all loaded classes{compiled}; --sampled rewrites none"));
    } else if options.juc && is_slow_then {
        notes.push(format!("--juc rewrites a class of the JDK{compiled}; --locks rewrites none"));
    }
    if is_new && feature.is_none_or(|feature| feature >= 21) {
        notes.push(
            "the JVM prints a warning on its stderr about this agent being loaded dynamically (JEP 451)".to_owned(),
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
            summarize(path, arguments.top, options.heap, arguments.leaks, &mut Page::new(&mut err, Width::usual()))?;
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
        assert!(notes(21, false, &[("juc", "on")])[0].starts_with("--juc rewrites a class of the JDK; before JDK 23"));
        assert!(notes(25, false, &[("juc", "on")]).is_empty());
        assert!(notes(21, true, &[("heap", "off"), ("locks", "on")])[0].contains("JEP 451"));
        assert!(notes(21, false, &[("heap", "off"), ("locks", "on")]).is_empty());
    }
}
