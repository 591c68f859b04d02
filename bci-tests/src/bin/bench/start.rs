//! What the agent adds to the start and end of a JVM.

use bci_tests::jdk::{self, Jdk};

use crate::Request;
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::run::run as run_command;
use crate::variant::{Agent, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 25;

/// From nothing to everything: each difference is one part of the cost.
const VARIANTS: &[Variant] = &[
    Variant::new("no agent", Agent::None),
    Variant::new("floor: capabilities and events only", Agent::Floor("idle")),
    Variant::new("floor: all classes rewritten, hook off", Agent::Floor("off")),
    Variant::new("floor: SetTag, ObjectFree", Agent::Floor("free")),
    Variant::new("martini: all filtered out", Agent::MartiniToNull("heap=events,exclude=*")),
    Variant::new("martini: events to nowhere", Agent::MartiniToNull("heap=events")),
    Variant::new("martini: events, XML on disk", Agent::MartiniToDisk("heap=events")),
    Variant::new("martini: events, sites, XML on disk", Agent::MartiniToDisk("heap=events,allocsites=true")),
];

/// Runs the benchmark and prints a table for each JDK.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let built = built::build()?;
    let rounds = request.rounds.unwrap_or(ROUNDS);
    for jdk in request.jdks(jdk::each_feature)? {
        let mut taken: Vec<Vec<Taken>> = vec![Vec::new(); VARIANTS.len()];
        // One round more than counted, for the files to be in memory.
        for round in 0..=rounds {
            for turn in 0..VARIANTS.len() {
                let index = (round + turn) % VARIANTS.len();
                let run = hello(&built, jdk, &VARIANTS[index])?;
                if round > 0 {
                    taken[index].push(run);
                }
            }
        }
        print(jdk, rounds, &taken);
    }
    Ok(())
}

/// Milliseconds of one run of the smallest program, from its start to its end.
#[derive(Clone, Copy)]
struct Taken {
    wall: f64,
    cpu: f64,
}

fn hello(built: &Built, jdk: &Jdk, variant: &Variant) -> Result<Taken, String> {
    let mut command = jdk.tool("java");
    command.args(variant.jvm_option(built, &built.traces.join("start.trcxml")));
    let finished = run_command(command.arg("-cp").arg(&built.classes).arg("Hello"))?;
    Ok(Taken { wall: finished.wall.as_secs_f64() * 1e3, cpu: finished.cpu.as_secs_f64() * 1e3 })
}

fn print(jdk: &Jdk, rounds: usize, taken: &[Vec<Taken>]) {
    println!("JDK {jdk}, hello world, {rounds} rounds: median (least .. most)");
    println!("{:40} {:>26} {:>24} {:>12}", "", "ms", "times no agent", "mean CPU ms");
    for (variant, runs) in VARIANTS.iter().zip(taken) {
        let ratios = runs.iter().zip(&taken[0]).map(|(run, bare)| run.wall / bare.wall);
        // A single run is measured in steps of 10 ms, so a median would say less than the mean.
        let cpu = runs.iter().map(|run| run.cpu).sum::<f64>() / runs.len() as f64;
        let wall = Spread::of(runs.iter().map(|run| run.wall));
        println!("{:40} {wall:>26.1} {:>24.2} {cpu:>12.1}", variant.name, Spread::of(ratios));
    }
    println!();
}
