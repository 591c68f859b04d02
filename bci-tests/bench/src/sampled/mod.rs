//! Whether estimates of what was allocated lie within their stated error, on a program whose sites make arrays of 16 bytes to 4 MB and a
//! leak (`bci-tests/java-bench/sizes`): those of Martini, async-profiler and the flight recorder, and what each costs there.

mod read;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bci_tests::jdk::{self, Jdk};
use serde_json::json;

use self::read::{Estimates, Living};
use crate::alternate::{Outcome, all_ran, alternate};
use crate::built::{self, Built};
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request, pick};
use crate::run::run as run_command;
use crate::variant::{Agent, Settings, Variant};

/// How often all variants run, unless asked otherwise.
const RUNS: usize = 100;
/// Rounds of the program: 1.2 GB.
const TURNS: &str = "24";
/// The orders in which it makes what it makes.
const ORDERS: [&str; 2] = ["mixed", "sorted"];

/// A variant, from which Java on there is one, and whether it only shows what lived at the end.
struct Entry {
    variant: Variant,
    since: u32,
    is_of_living: bool,
}

const fn entry(name: &'static str, agent: Agent) -> Entry {
    Entry { variant: Variant::new(name, agent), since: 11, is_of_living: false }
}

const ENTRIES: &[Entry] = &[
    entry("no agent", Agent::None),
    entry("no agent, once more", Agent::None),
    entry("Martini sampled=512k", Agent::MartiniToDisk("sampled=512k")),
    entry("async-profiler 4.3, alloc", Agent::AsyncProfiler("event=alloc,alloc=512k,total")),
    Entry {
        is_of_living: true,
        ..entry("async-profiler 4.3, live", Agent::AsyncProfiler("event=alloc,alloc=512k,total,live"))
    },
    Entry {
        since: 16,
        ..entry("JFR, allocation samples", Agent::FlightRecorder(Settings::Own("allocation-samples.jfc")))
    },
];

/// A run.
struct Taken {
    /// Seconds.
    wall: f64,
    cpu: f64,
    /// Bytes by site.
    truth: BTreeMap<String, f64>,
    allocated: Option<Estimates>,
    living: Option<Living>,
}

/// All variants on one JDK.
struct Chapter<'a> {
    jdk: &'a Jdk,
    order: &'static str,
    results: Vec<(&'static Entry, Outcome<Taken>)>,
}

struct Setting<'a> {
    request: &'a Request,
    built: &'a Built,
    peers: &'a Peers,
    classes: PathBuf,
}

/// Runs the benchmark and prints tables for each JDK. The error counts what failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let orders = pick(&request.programs, &ORDERS, |order| order, |_| true)?;
    let built = built::build()?;
    let classes = built.target.join("bench-java-sizes");
    built::compile(&[&built::source_folder("sizes")], &[], &classes)?;
    let jars = Jars::with(&built.target, peers::JARS.into_iter());
    let peers = Peers::find(&built, &jars);
    let machine = Machine::now();
    let runs = request.rounds.unwrap_or(RUNS);
    let setting = Setting { request, built: &built, peers: &peers, classes };
    if request.form() != Form::Json {
        println!("{}\nruns: {runs}\n", machine.line());
    }
    let (mut failures, mut everything) = (0, Vec::new());
    for jdk in request.jdks(|| vec![jdk::any()])? {
        for &order in &orders {
            let chapter = chapter(&setting, jdk, order, runs);
            failures += chapter.results.iter().filter(|(_, outcome)| outcome.failure.is_some()).count();
            match request.form() {
                Form::Json => everything.push(report::json(&chapter)),
                form => report::print(&chapter, form),
            }
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "runs": runs, "results": everything }));
    }
    all_ran(failures)
}

fn chapter<'a>(setting: &Setting, jdk: &'a Jdk, order: &'static str, runs: usize) -> Chapter<'a> {
    let suited = ENTRIES.iter().enumerate().filter(|(index, entry)| {
        entry.since <= jdk.feature && (*index == 0 || setting.request.wants(entry.variant.name))
    });
    let entries: Vec<&Entry> = suited.map(|(_, entry)| entry).collect();
    let outcomes = alternate(entries.len(), runs, |round, index| {
        if index == 0 {
            eprintln!("JDK {}, {order}, round {} of {runs}", jdk.feature, round + 1);
        }
        take(setting, jdk, order, entries[index])
    });
    Chapter { jdk, order, results: entries.into_iter().zip(outcomes).collect() }
}

fn take(setting: &Setting, jdk: &Jdk, order: &str, entry: &Entry) -> Result<Taken, String> {
    let Setting { request, built, peers, classes } = setting;
    // The JDK's tool reads only files with this ending; to the others it is all the same.
    let output = built.traces.join("sampled.jfr");
    // What an earlier run left is not there to be read again.
    let _ = std::fs::remove_file(&output);
    let mut command = jdk.tool("java");
    command.args(entry.variant.launch(built, peers, &output)?.options);
    // An array's header is 16 bytes everywhere, which JDK 25 could make smaller.
    command.arg("-Xmx512m").arg("-cp").arg(classes).args(["sizes.Sizes", order, TURNS]);
    let finished = run_command(&mut command, request.limit)?;
    let truth = read::truth(&finished.out);
    let mut taken = Taken {
        wall: finished.wall.as_secs_f64(),
        cpu: finished.cpu.as_secs_f64(),
        truth,
        allocated: None,
        living: None,
    };
    match entry.variant.agent {
        Agent::MartiniToDisk(_) => {
            let (allocated, living) = read::martini(&output)?;
            (taken.allocated, taken.living) = (Some(allocated), Some(living));
        }
        Agent::AsyncProfiler(_) => {
            let found = read::async_profiler(&output)?;
            match entry.is_of_living {
                true => taken.living = Some(Living { by_site: found, ..Living::default() }),
                false => taken.allocated = Some(found),
            }
        }
        Agent::FlightRecorder(_) => taken.allocated = Some(read::flight_recorder(&output)?),
        _ => {}
    }
    Ok(taken)
}
