//! How often the shares of callers lie within the error that the trace states: [`bci_tests::shares`], many times.

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
/// The interval that is judged, in standard errors: 95.4 % of all, if errors are normal.
const TWO: f64 = 2.0;

/// Runs the program and prints a row for each JDK.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let machine = Machine::now();
    let runs = request.rounds.unwrap_or(RUNS);
    let mut table = Table::new(&[
        "JDK",
        "shares",
        "within 2 errors",
        "within 3",
        "by share, of 100 runs",
        "by run, percent",
        "mean of off²",
    ]);
    let mut everything = Vec::new();
    for jdk in request.jdks(jdk::each_feature)? {
        let found: Vec<Vec<Share>> = (1..=runs).map(|number| one(jdk, number, runs)).collect();
        table.row(row(jdk, &found));
        everything.push(json!({ "jdk": jdk.build, "shares": to_json(&found) }));
    }
    let head = format!("{}\nruns on each JDK: {runs}; 63 shares of methods at three sites in each", machine.line());
    match request.form() {
        Form::Text => println!("{head}\n\n{}", table.text()),
        Form::Markdown => println!("{head}\n\n{}", table.markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "runs": runs, "results": everything })),
    }
    Ok(())
}

fn one(jdk: &Jdk, number: usize, runs: usize) -> Vec<Share> {
    let shares = shares::run(jdk, TIMES);
    eprintln!("JDK {}, run {number} of {runs}: {} of {} shares", jdk.feature, within(shares.iter(), TWO), shares.len());
    shares
}

fn within<'a>(shares: impl Iterator<Item = &'a Share>, errors: f64) -> usize {
    shares.filter(|share| share.off() <= errors).count()
}

fn row(jdk: &Jdk, found: &[Vec<Share>]) -> [String; 7] {
    let all = || found.iter().flatten();
    let count = all().count() as f64;
    let percent = |number: usize, of: f64| 100.0 * number as f64 / of;
    let names = 0..found.first().map_or(0, Vec::len);
    let by_share = names.map(|share| percent(within(found.iter().map(|run| &run[share]), TWO), found.len() as f64));
    let by_run = found.iter().map(|run| percent(within(run.iter(), TWO), run.len() as f64));
    let squares = all().map(|share| share.off().powi(2)).sum::<f64>() / count;
    [
        format!("{} ({})", jdk.build, jdk.vendor),
        format!("{count}"),
        format!("{:.1} %", percent(within(all(), TWO), count)),
        format!("{:.1} %", percent(within(all(), 3.0), count)),
        format!("{:.0}", Spread::of(by_share)),
        format!("{:.0}", Spread::of(by_run)),
        format!("{squares:.2}"),
    ]
}

fn to_json(found: &[Vec<Share>]) -> Vec<Value> {
    let share =
        |share: &Share| json!({ "name": share.name, "made": share.made, "found": share.found, "error": share.error });
    found.iter().map(|run| Value::from(run.iter().map(share).collect::<Vec<_>>())).collect()
}
