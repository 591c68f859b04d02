//! CPU time per allocation, step by step.

use std::fs;
use std::path::Path;

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::alternate::{Outcome, alternate};
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request};
use crate::run::run as run_command;
use crate::table::Table;
use crate::variant::{Agent, Variant};

/// Documents that each thread works through before the measurement, enough for the JIT to be done.
const WARM_UP: usize = 5_000;

/// Documents that each thread reads where an allocation costs hundreds of nanoseconds, unless asked otherwise.
const DOCUMENTS: usize = 30_000;

/// Threads of the program.
const THREADS: &str = "2";

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 5;

/// A variant and how many times as many documents each thread reads with it.
struct Step {
    variant: Variant,
    times: usize,
}

/// A step whose cost is small against the program's own work.
const fn cheap(name: &'static str, agent: Agent) -> Step {
    Step { variant: Variant::new(name, agent), times: 10 }
}

/// A step whose allocations cost hundreds of nanoseconds.
const fn dear(name: &'static str, agent: Agent) -> Step {
    Step { variant: Variant::new(name, agent), times: 1 }
}

/// The base of all differences; always run.
const BASE: Step = cheap("no agent", Agent::None);

/// What the whole is compared with; always run.
const FLOOR: Step = dear("floor: SetTag, ObjectFree", Agent::Floor("free"));

const STEPS: &[Step] = &[
    cheap("floor: rewritten, hook off", Agent::Floor("off")),
    cheap("floor: empty native", Agent::Floor("native")),
    dear("floor: SetTag", Agent::Floor("tag")),
    cheap("martini: hook on, all filtered out", Agent::MartiniToNull("heap=events,exclude=*")),
    dear("martini: event, deaths not reported", Agent::MartiniToNull("heap=events,lifetimes=false")),
    dear("martini: event, death", Agent::MartiniToNull("heap=events")),
    dear("martini: event, death, site", Agent::MartiniToNull("heap=events,allocsites=true")),
    dear("martini: event, death, stack of 8", Agent::MartiniToNull("heap=events,stack=8")),
    dear("martini: event, death, XML on disk", Agent::MartiniToDisk("heap=events")),
    dear("martini: event, death, site, XML on disk", Agent::MartiniToDisk("heap=events,allocsites=true")),
    dear("martini: event, death, stack of 8, XML on disk", Agent::MartiniToDisk("heap=events,stack=8")),
    dear("martini: heap=vm, XML on disk", Agent::MartiniToDisk("heap=vm")),
    cheap("martini: heap=counts", Agent::MartiniToDisk(COUNTS)),
];

/// Leaves sums, not an element for each allocation.
const COUNTS: &str = "heap=counts";

/// What one run gave, per allocation, in nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
}

/// Runs the benchmark and prints its table. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let jdk = request.jdks(|| vec![jdk::any()])?[0];
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let wanted = |step: &&Step| request.wants(step.variant.name);
    let steps: Vec<&Step> = [&BASE, &FLOOR].into_iter().chain(STEPS.iter().filter(wanted)).collect();
    let outcomes = alternate(steps.len(), rounds, |round, index| {
        let result = measure(&built, jdk, steps[index], request);
        let said = match &result {
            Ok(cost) => format!("{:.1} ns of CPU per allocation", cost.cpu),
            Err(reason) => reason.clone(),
        };
        eprintln!("round {} of {rounds}: {}: {said}", round + 1, steps[index].variant.name);
        result
    });
    let head = format!("JDK {} ({}), JSON reader and writer on {THREADS} threads", jdk.build, jdk.vendor);
    let table = table(&steps, &outcomes)?;
    match request.form() {
        Form::Text => {
            println!("{}\n{head}, rounds: {rounds}; median (least .. most)\n\n{}", machine.line(), table.text())
        }
        Form::Markdown => {
            println!("{}\n{head}, rounds: {rounds}; median (least .. most)\n\n{}", machine.line(), table.markdown())
        }
        Form::Json => println!("{:#}", to_json(&machine, jdk, &steps, &outcomes)),
    }
    match outcomes.iter().filter(|outcome| outcome.failure.is_some()).count() {
        0 => Ok(()),
        failures => Err(format!("{failures} variants failed: the table says why")),
    }
}

fn measure(built: &Built, jdk: &Jdk, step: &Step, request: &Request) -> Result<Cost, String> {
    let trace = built.traces.join("alloc.trcxml");
    let documents = request.documents.unwrap_or(DOCUMENTS) * step.times;
    let launch = step.variant.launch(built, &Peers::none(), &trace)?;
    let mut command = jdk.tool("java");
    command.args(["-Xms256m", "-Xmx256m", "-XX:+UseG1GC"]).args(launch.options);
    command.arg("-cp").arg(&built.classes).args(["JsonBench", THREADS]);
    command.args([WARM_UP.to_string(), documents.to_string()]);
    let finished = run_command(&mut command, request.limit)?;
    let allocations = finished.value("allocations")? as f64;
    if let Agent::MartiniToDisk(options) = step.variant.agent {
        check_trace(&trace, if options == COUNTS { 0.0 } else { allocations })?;
    }
    // From the program's own start of the measurement to the end of the process, which may have a trace to finish.
    let cpu_ns = finished.cpu.as_nanos() as f64 - finished.value("cpu_before_ns")? as f64;
    Ok(Cost { cpu: cpu_ns / allocations, wall: finished.value("wall_ns")? as f64 / allocations })
}

/// A fast writer that lost its events would look good in the table.
fn check_trace(trace: &Path, elements: f64) -> Result<(), String> {
    const SHORTEST_ELEMENT: f64 = 40.0;
    let bytes = fs::metadata(trace).map_err(|e| format!("there is no trace: {e}"))?.len();
    if (bytes as f64) <= elements * SHORTEST_ELEMENT {
        return Err(format!("the trace has only {bytes} bytes for {elements} allocations"));
    }
    fs::remove_file(trace).map_err(|e| format!("the trace cannot be removed: {e}"))
}

/// Fails if the variants that all others are compared with have failed.
fn table(steps: &[&Step], outcomes: &[Outcome<Cost>]) -> Result<Table, String> {
    let mut table = Table::new(&["per allocation", "CPU ns", "CPU ns added", "added / added by floor", "wall ns"]);
    let (base, floor) = match (outcomes[0].complete(), outcomes[1].complete()) {
        (Some(base), Some(floor)) => (base, floor),
        _ => return Err("no agent or the floor agent failed, so there is nothing to compare with".into()),
    };
    for (index, (step, outcome)) in steps.iter().zip(outcomes).enumerate() {
        let Some(cost) = outcome.complete() else {
            table.say(step.variant.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        let spread = |f: &dyn Fn(usize) -> f64| Spread::of((0..cost.len()).map(f));
        // Differences and ratios are taken within a round, then the median of them.
        let added = |round: usize| cost[round].cpu - base[round].cpu;
        let of_floor = |round: usize| added(round) / (floor[round].cpu - base[round].cpu);
        let cpu = format!("{:.1}", spread(&|round| cost[round].cpu));
        let wall = format!("{:.1}", spread(&|round| cost[round].wall).median);
        let (added, of_floor) = match index {
            0 => (String::new(), String::new()),
            _ => (format!("{:.1}", spread(&added)), format!("{:.2}", spread(&of_floor))),
        };
        table.row([step.variant.name.to_owned(), cpu, added, of_floor, wall]);
    }
    Ok(table)
}

fn to_json(machine: &Machine, jdk: &Jdk, steps: &[&Step], outcomes: &[Outcome<Cost>]) -> Value {
    let variants: Vec<Value> = steps
        .iter()
        .zip(outcomes)
        .map(|(step, outcome)| {
            let runs: Vec<Value> =
                outcome.runs.iter().map(|cost| json!({ "cpu_ns": cost.cpu, "wall_ns": cost.wall })).collect();
            json!({ "variant": step.variant.name, "per_allocation": runs, "failed": outcome.failure })
        })
        .collect();
    json!({ "machine": machine.json(), "jdk": { "build": jdk.build, "vendor": jdk.vendor }, "variants": variants })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(cpu: [f64; 3], failure: Option<&str>) -> Outcome<Cost> {
        let runs = cpu.map(|cpu| Cost { cpu, wall: cpu / 2.0 }).to_vec();
        Outcome { runs, failure: failure.map(str::to_owned) }
    }

    #[test]
    fn costs_are_shown_in_terms_of_the_floor() {
        let steps = [&BASE, &FLOOR, &STEPS[0], &STEPS[1]];
        let outcomes = [
            outcome([20.0, 30.0, 20.0], None),
            outcome([120.0, 230.0, 120.0], None),
            outcome([170.0, 330.0, 130.0], None),
            outcome([0.0; 3], Some("failed in round 1 of 3: no such mode")),
        ];
        let text = table(&steps, &outcomes).expect("base and floor ran").text();
        assert!(text.contains("150.0 (110.0 .. 300.0)"), "{text}");
        assert!(text.contains("1.50 (1.10 .. 1.50)"), "{text}");
        assert!(text.contains("failed in round 1 of 3: no such mode"), "{text}");
        assert!(table(&steps[..2], &[outcome([0.0; 3], None), outcome([0.0; 3], Some("failed"))]).is_err());
    }
}
