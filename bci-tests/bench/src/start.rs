//! What the agent adds to the start and end of a JVM.

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::alternate::{Outcome, all_ran, alternate};
use crate::builds::{Builds, Candidate, to_json};
use crate::figures::Spread;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request};
use crate::run::run as run_command;
use crate::table::Table;
use crate::variant::{Agent, Settings, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 25;

/// From nothing to everything: each difference is one part of the cost.
const VARIANTS: &[Variant] = &[
    Variant::new("no agent", Agent::None),
    Variant::new("martini: heap=counts", Agent::MartiniToDisk("heap=counts")),
    Variant::new("martini: warmup=on", Agent::MartiniToDisk("warmup=on")),
    Variant::new("JFR, classes and compilations", Agent::FlightRecorder(Settings::Own("start.jfc"))),
    Variant::new("martini: heap=vm", Agent::MartiniToDisk("heap=vm")),
    Variant::new("martini: all filtered out", Agent::MartiniToNull("heap=events,exclude=*")),
    Variant::new("martini: events to nowhere", Agent::MartiniToNull("heap=events")),
    Variant::new("martini: events, XML on disk", Agent::MartiniToDisk("heap=events")),
    Variant::new("martini: events, sites, XML on disk", Agent::MartiniToDisk("heap=events,allocsites=true")),
];

/// Runs the benchmark and prints a table for each JDK. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let builds = Builds::new(request.against.as_deref())?;
    let candidates = builds.candidates(VARIANTS.iter());
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(jdk::each_feature)? {
        // One round more than counted, for the files to be in memory.
        let mut outcomes = alternate(candidates.len(), rounds + 1, |_, index| hello(jdk, &candidates[index], request));
        for outcome in &mut outcomes {
            outcome.runs.drain(..1.min(outcome.runs.len()));
            failures += usize::from(outcome.failure.is_some());
        }
        let head = format!(
            "{}\nJDK {} ({}), hello world, rounds: {rounds}; median (least .. most)\n",
            machine.line(),
            jdk.build,
            jdk.vendor
        );
        match request.form() {
            Form::Text => println!("{head}\n{}", table(&candidates, &outcomes)?.text()),
            Form::Markdown => println!("{head}\n{}", table(&candidates, &outcomes)?.markdown()),
            Form::Json => everything.push(to_json(jdk, &candidates, &outcomes, run_to_json)),
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "results": everything }));
    }
    all_ran(failures)
}

/// Milliseconds of one run of the smallest program, from its start to its end.
#[derive(Clone, Copy)]
struct Taken {
    wall: f64,
    cpu: f64,
}

fn hello(jdk: &Jdk, candidate: &Candidate<'_>, request: &Request) -> Result<Taken, String> {
    let Candidate { variant, built, .. } = candidate;
    let mut command = jdk.tool("java");
    // The agent overwrites no file that is not its own.
    let output = built.traces.join(if variant.is_martini() { "start.trcxml" } else { "start.jfr" });
    command.args(variant.launch(built, &Peers::none(), &output)?.options);
    let finished = run_command(command.arg("-cp").arg(&built.classes).arg("Hello"), request.limit)?;
    Ok(Taken { wall: finished.wall.as_secs_f64() * 1e3, cpu: finished.cpu.as_secs_f64() * 1e3 })
}

fn table(candidates: &[Candidate<'_>], outcomes: &[Outcome<Taken>]) -> Result<Table, String> {
    let base = outcomes[0].complete().ok_or("the program failed without any agent")?;
    let mut table = Table::new(&["hello world", "ms", "ms added", "times no agent", "CPU ms"]);
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(&candidate.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        let added = Spread::of(runs.iter().zip(base).map(|(run, base)| run.wall - base.wall));
        table.row([
            candidate.name.clone(),
            format!("{:.1}", Spread::of(runs.iter().map(|run| run.wall))),
            format!("{:.1}", added.median),
            format!("{:.2}", Spread::of_quotients(runs, base, |run| run.wall)),
            format!("{:.1}", Spread::of(runs.iter().map(|run| run.cpu))),
        ]);
    }
    Ok(table)
}

fn run_to_json(taken: &Taken) -> Value {
    json!({ "wall_ms": taken.wall, "cpu_ms": taken.cpu })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built::Built;

    #[test]
    fn what_is_added_is_shown_and_what_failed_is_said() {
        let outcome =
            |wall: [f64; 3]| Outcome { runs: wall.map(|wall| Taken { wall, cpu: wall }).to_vec(), failure: None };
        let failed = Outcome { runs: Vec::new(), failure: Some("failed in round 1 of 3: no such option".into()) };
        let built = Built {
            martini: "martini".into(),
            classes: "classes".into(),
            traces: "traces".into(),
            target: "target".into(),
        };
        let candidate = |variant: &'static Variant| Candidate { name: variant.name.into(), variant, built: &built };
        let candidates: Vec<Candidate<'_>> = VARIANTS[..3].iter().map(candidate).collect();
        let outcomes = [outcome([40.0, 50.0, 45.0]), outcome([80.0, 75.0, 135.0]), failed];
        let text = table(&candidates, &outcomes).expect("the base ran").text();
        assert!(text.contains("80.0 (75.0 .. 135.0)      40.0  2.00 (1.50 .. 3.00)"), "{text}");
        assert!(text.contains("failed in round 1 of 3: no such option"), "{text}");
    }
}
