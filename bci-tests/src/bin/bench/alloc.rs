//! CPU time per allocation, step by step.

use std::fs;
use std::path::Path;

use bci_tests::jdk::{self, Jdk};

use crate::Request;
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::run::run as run_command;
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
    dear("martini: event, no tag", Agent::MartiniToNull("heap=events,lifetimes=false")),
    dear("martini: event, tag, free", Agent::MartiniToNull("heap=events")),
    dear("martini: event, tag, free, site", Agent::MartiniToNull("heap=events,allocsites=true")),
    dear("martini: event, tag, free, XML on disk", Agent::MartiniToDisk("heap=events")),
    dear("martini: event, tag, free, site, XML on disk", Agent::MartiniToDisk("heap=events,allocsites=true")),
];

/// What one run gave, per allocation, in nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
}

/// Runs the benchmark and prints its table.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let jdk = request.jdks(|| vec![jdk::any()])?[0];
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let documents = request.documents.unwrap_or(DOCUMENTS);
    let wanted = |step: &&Step| {
        request.only.is_empty() || request.only.iter().any(|word| step.variant.name.contains(word.as_str()))
    };
    let steps: Vec<&Step> = [&BASE, &FLOOR].into_iter().chain(STEPS.iter().filter(wanted)).collect();
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); steps.len()];
    for round in 0..rounds {
        for turn in 0..steps.len() {
            // Each round begins elsewhere, so that no variant always runs after the same one.
            let index = (round + turn) % steps.len();
            let cost = measure(&built, jdk, steps[index], documents)?;
            let (name, cpu) = (steps[index].variant.name, cost.cpu);
            eprintln!("round {} of {rounds}: {name}: {cpu:.1} ns of CPU per allocation", round + 1);
            costs[index].push(cost);
        }
    }
    print(jdk, rounds, &steps, &costs);
    Ok(())
}

fn measure(built: &Built, jdk: &Jdk, step: &Step, documents: usize) -> Result<Cost, String> {
    let trace = built.traces.join("alloc.trcxml");
    let mut command = jdk.tool("java");
    command.args(["-Xms256m", "-Xmx256m", "-XX:+UseG1GC"]).args(step.variant.jvm_option(built, &trace));
    command.arg("-cp").arg(&built.classes).args(["JsonBench", THREADS]);
    command.args([WARM_UP.to_string(), (documents * step.times).to_string()]);
    let finished = run_command(&mut command)?;
    let allocations = finished.value("allocations")? as f64;
    if matches!(step.variant.agent, Agent::MartiniToDisk(_)) {
        check_trace(&trace, allocations)?;
    }
    // From the program's own start of the measurement to the end of the process, which may have a trace to finish.
    let cpu_ns = finished.cpu.as_nanos() as f64 - finished.value("cpu_before_ns")? as f64;
    Ok(Cost { cpu: cpu_ns / allocations, wall: finished.value("wall_ns")? as f64 / allocations })
}

/// A fast writer that lost its events would look good in the table.
fn check_trace(trace: &Path, allocations: f64) -> Result<(), String> {
    const SHORTEST_ELEMENT: f64 = 40.0;
    let bytes = fs::metadata(trace).map_err(|e| format!("there is no trace {}: {e}", trace.display()))?.len();
    if (bytes as f64) < allocations * SHORTEST_ELEMENT {
        return Err(format!("the trace has only {bytes} bytes for {allocations} allocations"));
    }
    fs::remove_file(trace).map_err(|e| format!("{} cannot be removed: {e}", trace.display()))
}

fn print(jdk: &Jdk, rounds: usize, steps: &[&Step], costs: &[Vec<Cost>]) {
    let spread = |f: &dyn Fn(usize) -> f64| Spread::of((0..rounds).map(f));
    println!("JDK {jdk}, JSON reader and writer on {THREADS} threads, {rounds} rounds: median (least .. most)");
    println!(
        "{:46} {:>24} {:>24} {:>22} {:>9}",
        "per allocation", "CPU ns", "CPU ns added", "added / added by floor", "wall ns"
    );
    for (index, step) in steps.iter().enumerate() {
        let cost = &costs[index];
        // Differences and ratios are taken within a round, then the median of them.
        let added = |round: usize| cost[round].cpu - costs[0][round].cpu;
        let of_floor = |round: usize| added(round) / (costs[1][round].cpu - costs[0][round].cpu);
        let cpu = spread(&|round| cost[round].cpu);
        let wall = spread(&|round| cost[round].wall);
        if index == 0 {
            println!("{:46} {cpu:>24.1} {:>24} {:>22} {:>9.1}", step.variant.name, "", "", wall.median);
        } else {
            println!(
                "{:46} {cpu:>24.1} {:>24.1} {:>22.2} {:>9.1}",
                step.variant.name,
                spread(&added),
                spread(&of_floor),
                wall.median
            );
        }
    }
}
