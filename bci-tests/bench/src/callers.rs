//! How often what is shown of callers lies within its stated error: [`bci_tests::shares`], many times. `Tree`: the JIT removes nothing.
//! `Removed`: of each of three sites it removes some.

use std::collections::BTreeMap;

use bci_tests::jdk::{self, Jdk};
use bci_tests::shares::{self, Share};
use serde_json::{Value, json};

use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::table::Table;

/// Runs on each JDK, unless asked otherwise.
const RUNS: usize = 100;
/// What the program makes: 1.5 GB.
const TIMES: u64 = 4_000;
/// Of each of three classes of which the JIT removes some: 720 MB.
const OBJECTS: u64 = 30_000_000;
/// What a share is judged by.
const STATED: f64 = 1.0;

/// A program, and how it runs.
type Program = (&'static str, fn(&Jdk) -> Vec<Share>);

const PROGRAMS: [Program; 2] =
    [("Tree", |jdk| shares::run(jdk, TIMES)), ("Removed", |jdk| shares::removed(jdk, OBJECTS))];

/// Runs the programs and prints a row for each on each JDK.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let machine = Machine::now();
    let runs = request.rounds.unwrap_or(RUNS);
    let mut table = Table::new(&[
        "JDK",
        "program",
        "shares",
        "within the stated error",
        "within 1.5 times of it",
        "least of a share, percent of runs",
        "by run, percent",
    ]);
    let mut everything = Vec::new();
    for jdk in request.jdks(jdk::each_feature)? {
        for (program, run) in PROGRAMS {
            let found: Vec<Vec<Share>> = (1..=runs).map(|number| one(jdk, program, run, number, runs)).collect();
            table.row(row(jdk, program, &found));
            everything.push(json!({ "jdk": jdk.build, "program": program, "shares": to_json(&found) }));
        }
    }
    let head = format!("{}\nruns of each program on each JDK: {runs}", machine.line());
    match request.form() {
        Form::Text => println!("{head}\n\n{}", table.text()),
        Form::Markdown => println!("{head}\n\n{}", table.markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "runs": runs, "results": everything })),
    }
    Ok(())
}

fn one(jdk: &Jdk, program: &str, run: fn(&Jdk) -> Vec<Share>, number: usize, runs: usize) -> Vec<Share> {
    let shares = run(jdk);
    let held = within(shares.iter(), STATED);
    eprintln!("JDK {}, {program}, run {number} of {runs}: {held} of {} shares", jdk.feature, shares.len());
    shares
}

fn within<'a>(shares: impl Iterator<Item = &'a Share>, errors: f64) -> usize {
    shares.filter(|share| share.off() <= errors).count()
}

fn row(jdk: &Jdk, program: &str, found: &[Vec<Share>]) -> [String; 7] {
    let all = || found.iter().flatten();
    let count = all().count() as f64;
    let percent = |number: usize, of: f64| 100.0 * number as f64 / of;
    // A caller without a sample has no share, so not all runs have the same.
    let mut by_name: BTreeMap<&str, Vec<&Share>> = BTreeMap::new();
    all().for_each(|share| by_name.entry(&share.name).or_default().push(share));
    let by_share = by_name.values().map(|of| percent(within(of.iter().copied(), STATED), of.len() as f64));
    let by_run = found.iter().map(|run| percent(within(run.iter(), STATED), run.len() as f64));
    [
        format!("{} ({})", jdk.build, jdk.vendor),
        program.to_owned(),
        format!("{count}"),
        format!("{:.1} %", percent(within(all(), STATED), count)),
        format!("{:.1} %", percent(within(all(), 1.5), count)),
        format!("{:.0}", by_share.fold(100.0, f64::min)),
        format!("{:.0}", Spread::of(by_run)),
    ]
}

fn to_json(found: &[Vec<Share>]) -> Vec<Value> {
    let share =
        |share: &Share| json!({ "name": share.name, "made": share.made, "found": share.found, "error": share.error });
    found.iter().map(|run| Value::from(run.iter().map(share).collect::<Vec<_>>())).collect()
}
