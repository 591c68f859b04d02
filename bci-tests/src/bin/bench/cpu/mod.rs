//! How true a profile of processor time is, and what it costs, on programs whose split over their parts is known by clocks
//! (`bci-tests/java-bench/split`).
//!
//! A sample counts for the innermost frame that is a part's, so that a part has what it calls, natively too. Its share is of all samples of
//! the thread that works, those without stack as well: what a profiler loses, it lacks.

mod programs;
mod read;
mod report;
mod split;

use std::path::PathBuf;

use bci_tests::jdk::{self, Jdk};
use serde_json::json;

use self::programs::{OPTIONS, PROGRAMS, Program};
use self::read::Conservation;
use self::split::{Profile, Truth};
use crate::alternate::{Outcome, all_ran, alternate};
use crate::built::{self, Built};
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request, pick};
use crate::run::run as run_command;
use crate::variant::{Agent, Settings, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 5;
/// Phases of a program: some ten seconds of processor time, a thousand samples. Each end of a phase may be half a sample off.
const PHASES: usize = 60;

/// A variant, and from which Java on there is one.
struct Entry {
    variant: Variant,
    since: u32,
}

const fn entry(name: &'static str, agent: Agent) -> Entry {
    Entry { variant: Variant::new(name, agent), since: 11 }
}

const ENTRIES: &[Entry] = &[
    entry("no agent", Agent::None),
    entry("no agent, once more", Agent::None),
    entry("Martini cpu=10ms", Agent::MartiniToDisk("cpu=10ms")),
    entry("async-profiler 4.3, ctimer", Agent::AsyncProfiler("event=ctimer,interval=10ms,threads")),
    entry("JFR, execution samples", Agent::FlightRecorder(Settings::Own("cpu.jfc"))),
    Entry { since: 25, ..entry("JFR, CPU-time samples", Agent::FlightRecorder(Settings::Own("cputime.jfc"))) },
];

/// A run.
struct Taken {
    /// Seconds.
    wall: f64,
    cpu: f64,
    truth: Truth,
    /// What the profiler says, if there was one.
    profile: Option<Profile>,
    conservation: Option<Conservation>,
}

/// A program on a JDK with all its variants.
struct Chapter<'a> {
    jdk: &'a Jdk,
    program: &'a Program,
    results: Vec<(&'a Variant, Outcome<Taken>)>,
}

struct Setting<'a> {
    request: &'a Request,
    built: &'a Built,
    peers: &'a Peers,
    classes: PathBuf,
}

/// Runs the benchmark and prints tables for each JDK. The error counts what failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let programs = pick(&request.programs, PROGRAMS, |program| program.id, |_| true)?;
    let built = built::build()?;
    let classes = built.target.join("bench-java-split");
    built::compile(&[&built::source_folder("split")], &[], &classes)?;
    let jars = Jars::with(&built.target, peers::JARS.into_iter());
    let peers = Peers::find(&built, &jars);
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let setting = Setting { request, built: &built, peers: &peers, classes };
    if request.form() != Form::Json {
        println!("{}\nrounds: {rounds}\n", machine.line());
    }
    let (mut failures, mut everything) = (0, Vec::new());
    for jdk in request.jdks(|| vec![jdk::any()])? {
        let suited = programs.iter().filter(|program| program.since <= jdk.feature);
        let chapters: Vec<Chapter> = suited.map(|program| chapter(&setting, jdk, program, rounds)).collect();
        failures += chapters.iter().flat_map(|c| &c.results).filter(|(_, outcome)| outcome.failure.is_some()).count();
        match request.form() {
            Form::Json => everything.extend(chapters.iter().map(report::json)),
            form => report::print(jdk, &chapters, form),
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "rounds": rounds, "results": everything }));
    }
    all_ran(failures)
}

fn chapter<'a>(setting: &Setting, jdk: &'a Jdk, program: &'a Program, rounds: usize) -> Chapter<'a> {
    let suited = ENTRIES.iter().enumerate().filter(|(index, entry)| {
        entry.since <= jdk.feature && (*index == 0 || setting.request.wants(entry.variant.name))
    });
    let variants: Vec<&Variant> = suited.map(|(_, entry)| &entry.variant).collect();
    let outcomes = alternate(variants.len(), rounds, |round, index| {
        eprintln!("JDK {}, {}, round {} of {rounds}: {}", jdk.feature, program.id, round + 1, variants[index].name);
        take(setting, jdk, program, variants[index])
    });
    Chapter { jdk, program, results: variants.into_iter().zip(outcomes).collect() }
}

fn take(setting: &Setting, jdk: &Jdk, program: &Program, variant: &Variant) -> Result<Taken, String> {
    let Setting { request, built, peers, classes } = setting;
    // The JDK's tool reads only files with this ending; to the others it is all the same.
    let output = built.traces.join("cpu.jfr");
    // What an earlier run left is not there to be read again.
    let _ = std::fs::remove_file(&output);
    let mut command = jdk.tool("java");
    command.args(OPTIONS).args(program.options).args(variant.launch(built, peers, &output)?.options);
    let phases = (PHASES / program.slower).max(2);
    command.arg("-cp").arg(classes).args(["split.Split", program.id, &phases.to_string()]);
    let finished = run_command(&mut command, request.limit)?;
    let truth = Truth::of(&finished.out)?;
    let (profile, conservation) = match variant.agent {
        Agent::MartiniToDisk(_) => {
            let (profile, conservation) = read::martini(&output, &truth)?;
            (Some(profile), Some(conservation))
        }
        Agent::AsyncProfiler(_) => (Some(read::async_profiler(&output, &truth)?), None),
        Agent::FlightRecorder(_) => (Some(read::flight_recorder(&output, &truth)?), None),
        _ => (None, None),
    };
    if profile.as_ref().is_some_and(|profile| profile.samples() == 0) {
        return Err("it has no sample of the thread that worked".into());
    }
    Ok(Taken { wall: finished.wall.as_secs_f64(), cpu: finished.cpu.as_secs_f64(), truth, profile, conservation })
}
