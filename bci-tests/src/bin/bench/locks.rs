//! What it costs to record who waits for which lock, on a program that does little else and on one that never waits.

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::alternate::{Outcome, alternate};
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request};
use crate::run::run as run_command;
use crate::table::Table;
use crate::variant::{Agent, Settings, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 9;

const VARIANTS: &[Variant] = &[
    Variant::new("no agent", Agent::None),
    Variant::new("no agent, once more", Agent::None),
    Variant::new("martini: threads, no owners' stacks", Agent::MartiniToDisk("threads=on,owners=off")),
    Variant::new("martini: threads", Agent::MartiniToDisk("threads=on")),
    Variant::new("martini: threads and juc", Agent::MartiniToDisk("juc=on")),
    Variant::new("async-profiler: lock", Agent::AsyncProfiler("event=lock")),
    Variant::new("JFR: profile", Agent::FlightRecorder(Settings::OfTheJdk("profile"))),
];

/// A way to run the program.
struct Load {
    name: &'static str,
    /// Threads, rounds, steps inside and outside of the monitor.
    arguments: &'static [&'static str],
}

const LOADS: &[Load] = &[
    Load { name: "contended", arguments: &["contended", "4", "300000", "1000", "500"] },
    Load { name: "uncontended", arguments: &["uncontended", "2", "10000000", "10", "20"] },
];

/// Seconds of one run.
#[derive(Clone, Copy)]
struct Taken {
    wall: f64,
    cpu: f64,
}

/// Runs the benchmark and prints a table for each JDK and load. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let jars = Jars::with(&built.target, peers::JARS.into_iter());
    let peers = Peers::find(&built, &jars);
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        for load in LOADS {
            let outcomes =
                alternate(VARIANTS.len(), rounds, |_, index| take(&built, &peers, jdk, load, index, request));
            failures += outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
            let head = format!(
                "{}\nJDK {} ({}), {}, rounds: {rounds}; median (least .. most)\n",
                machine.line(),
                jdk.build,
                jdk.vendor,
                load.arguments.join(" ")
            );
            match request.form {
                Form::Text => println!("{head}\n{}", table(load, &outcomes)?.text()),
                Form::Markdown => println!("{head}\n{}", table(load, &outcomes)?.markdown()),
                Form::Json => everything.push(to_json(jdk, load, &outcomes)),
            }
        }
    }
    if request.form == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "results": everything }));
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} variants failed: the tables say why")),
    }
}

fn take(
    built: &Built,
    peers: &Peers,
    jdk: &Jdk,
    load: &Load,
    index: usize,
    request: &Request,
) -> Result<Taken, String> {
    let output = built.traces.join(format!("locks-{index}"));
    let mut command = jdk.tool("java");
    command.args(VARIANTS[index].launch(built, peers, &output)?.options);
    command.arg("-cp").arg(&built.classes).arg("Locks").args(load.arguments);
    let finished = run_command(&mut command, request.limit)?;
    // The program did its work.
    finished.value("sum")?;
    Ok(Taken { wall: finished.wall.as_secs_f64(), cpu: finished.cpu.as_secs_f64() })
}

fn table(load: &Load, outcomes: &[Outcome<Taken>]) -> Result<Table, String> {
    let base = outcomes[0].complete().ok_or("the program failed without any agent")?;
    let mut table = Table::new(&[load.name, "s", "wall, times no agent", "CPU, times no agent"]);
    for (variant, outcome) in VARIANTS.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(variant.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        table.row([
            variant.name.to_owned(),
            format!("{:.2}", Spread::of(runs.iter().map(|run| run.wall)).median),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.wall)),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.cpu)),
        ]);
    }
    Ok(table)
}

fn to_json(jdk: &Jdk, load: &Load, outcomes: &[Outcome<Taken>]) -> Value {
    let run = |taken: &Taken| json!({ "wall_s": taken.wall, "cpu_s": taken.cpu });
    let variants = VARIANTS.iter().zip(outcomes).map(|(variant, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": variant.name, "runs": runs, "failed": outcome.failure })
    });
    json!({
        "jdk": { "build": jdk.build, "vendor": jdk.vendor },
        "load": load.arguments,
        "variants": variants.collect::<Vec<_>>(),
    })
}
