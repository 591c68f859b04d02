//! What it costs to record who waits for which lock, on programs that do little else and on some that never wait.
//!
//! In `monitor` and `lock` eight threads work most of the time and want one monitor or `ReentrantLock` in between, whose owner gives
//! its processor away: nearly everyone waits, some thousand times a second. In `monitor-more` they work two fifths as long, in
//! `monitor-often` and `lock-often` a tenth: tens of thousands. (Without the yield HotSpot's spinning decides how many wait, and differs tenfold from run to
//! run.) In `own-monitor` and `own-lock` nobody ever waits.

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::alternate::{Outcome, all_ran, alternate};
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request, pick};
use crate::run::run as run_command;
use crate::table::Table;
use crate::variant::{Agent, Settings, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 9;

const VARIANTS: &[Variant] = &[
    Variant::new("no agent", Agent::None),
    Variant::new("no agent, once more", Agent::None),
    Variant::new("an agent that does nothing about monitors", Agent::Floor("monitors")),
    Variant::new("martini: locks, no owners' stacks", Agent::MartiniToDisk("locks=on,owners=off")),
    Variant::new("martini: locks", Agent::MartiniToDisk("locks=on")),
    Variant::new("martini: juc, no owners' stacks", Agent::MartiniToDisk("juc=on,owners=off")),
    Variant::new("martini: juc", Agent::MartiniToDisk("juc=on")),
    Variant::new("async-profiler: lock", Agent::AsyncProfiler("event=lock")),
    Variant::new("JFR: profile", Agent::FlightRecorder(Settings::OfTheJdk("profile"))),
];

/// A way to run the program.
struct Load {
    id: &'static str,
    arguments: &'static [&'static str],
}

const LOADS: &[Load] = &[
    Load { id: "monitor", arguments: &["shared", "monitor", "8", "1500", "100", "100000", "yield"] },
    Load { id: "monitor-more", arguments: &["shared", "monitor", "8", "4000", "100", "40000", "yield"] },
    Load { id: "monitor-often", arguments: &["shared", "monitor", "8", "15000", "100", "10000", "yield"] },
    Load { id: "lock", arguments: &["shared", "lock", "8", "1500", "100", "100000", "yield"] },
    Load { id: "lock-often", arguments: &["shared", "lock", "8", "15000", "100", "10000", "yield"] },
    Load { id: "own-monitor", arguments: &["own", "monitor", "2", "60000000", "10", "20", "stay"] },
    Load { id: "own-lock", arguments: &["own", "lock", "2", "60000000", "10", "20", "stay"] },
];

/// What one run took.
#[derive(Clone, Copy)]
struct Taken {
    /// Seconds from the start of the first thread to the end of the last.
    wall: f64,
    /// Seconds of the processor, of the whole JVM.
    cpu: f64,
    /// How often the JVM says that a thread was blocked or waited.
    contended: u64,
}

/// Runs the benchmark and prints a table for each JDK and load. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let jars = Jars::with(&built.target, peers::JARS.into_iter());
    let peers = Peers::find(&built, &jars);
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let loads = pick(&request.programs, LOADS, |load| load.id, |_| true)?;
    let variants: Vec<&Variant> = VARIANTS
        .iter()
        .enumerate()
        .filter(|(i, variant)| *i == 0 || request.wants(variant.name))
        .map(|(_, v)| v)
        .collect();
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        for &load in &loads {
            let outcomes =
                alternate(variants.len(), rounds, |_, index| take(&built, &peers, jdk, load, variants[index], request));
            failures += outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
            let head = format!(
                "{}\nJDK {} ({}), {}, rounds: {rounds}; median (least .. most)\n",
                machine.line(),
                jdk.build,
                jdk.vendor,
                load.arguments.join(" ")
            );
            match request.form() {
                Form::Text => println!("{head}\n{}", table(load, &variants, &outcomes)?.text()),
                Form::Markdown => println!("{head}\n{}", table(load, &variants, &outcomes)?.markdown()),
                Form::Json => everything.push(to_json(jdk, load, &variants, &outcomes)),
            }
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "results": everything }));
    }
    all_ran(failures)
}

fn take(
    built: &Built,
    peers: &Peers,
    jdk: &Jdk,
    load: &Load,
    variant: &Variant,
    request: &Request,
) -> Result<Taken, String> {
    let output = built.traces.join("locks");
    // What an earlier run left is not there to be written over, which takes longer.
    let _ = std::fs::remove_file(&output);
    let mut command = jdk.tool("java");
    command.args(variant.launch(built, peers, &output)?.options);
    command.arg("-cp").arg(&built.classes).arg("Locks").args(load.arguments);
    let finished = run_command(&mut command, request.limit)?;
    // The program did its work.
    finished.value("sum")?;
    Ok(Taken {
        wall: finished.value("nanos")? as f64 / 1e9,
        cpu: finished.cpu.as_secs_f64(),
        contended: finished.value("blocked")? + finished.value("waited")?,
    })
}

fn table(load: &Load, variants: &[&Variant], outcomes: &[Outcome<Taken>]) -> Result<Table, String> {
    let base = outcomes[0].complete().ok_or("the program failed without any agent")?;
    let mut table = Table::new(&[load.id, "s", "wall, times no agent", "CPU, times no agent", "waits/s"]);
    for (variant, outcome) in variants.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(variant.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        table.row([
            variant.name.to_owned(),
            format!("{:.2}", Spread::of(runs.iter().map(|run| run.wall)).median),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.wall)),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.cpu)),
            format!("{:.0}", Spread::of(runs.iter().map(|run| run.contended as f64 / run.wall)).median),
        ]);
    }
    Ok(table)
}

fn to_json(jdk: &Jdk, load: &Load, variants: &[&Variant], outcomes: &[Outcome<Taken>]) -> Value {
    let run = |taken: &Taken| json!({ "wall_s": taken.wall, "cpu_s": taken.cpu, "waits": taken.contended });
    let variants = variants.iter().zip(outcomes).map(|(variant, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": variant.name, "runs": runs, "failed": outcome.failure })
    });
    json!({
        "jdk": { "build": jdk.build, "vendor": jdk.vendor },
        "load": load.arguments,
        "variants": variants.collect::<Vec<_>>(),
    })
}
