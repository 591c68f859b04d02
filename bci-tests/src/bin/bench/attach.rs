//! Recordings in a JVM that runs, one after the other, and what they leave behind; beside it runs the same program without any.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use bci_tests::attach::{Program, loaded_classes, resident_kib};
use bci_tests::jdk::{self, Jdk};
use bci_tests::martini;
use bci_tests::read::{self, Judged, TraceData};
use serde_json::json;
use trace::model::Element;

use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::table::Table;

/// Recordings on each JDK, unless asked otherwise.
const RECORDINGS: usize = 200;
/// How long each lasts.
const RECORDED: Duration = Duration::from_secs(5);
/// Over so long speeds are compared.
const WINDOW: Duration = Duration::from_secs(30);
/// How long after the last recording.
const LATER: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(300)];
/// What is recorded, in turn; the last round has all that go together.
const ENGINES: [&str; 7] = [
    "heap=counts",
    "heap=events,include=attach.*,stack=8",
    "heap=vm",
    "heap=off,sampled=64k",
    "heap=off,cpu=5ms,wall=20ms",
    "heap=off,locks=on,juc=on",
    "heap=off,ttsp=on",
];
const ALL_TOGETHER: &str = "heap=counts,callers=16k,sampled=64k,cpu=10ms,wall=20ms,locks=on,juc=on,ttsp=on";

/// What a process has.
#[derive(Clone, Copy, Debug)]
struct Holds {
    threads: usize,
    files: usize,
    classes: usize,
    kib: u64,
}

/// What a trace has to show.
#[derive(Debug, Default)]
struct Coverage {
    reported: u64,
    accounted: u64,
}

impl TraceData for Coverage {
    fn element(&mut self, element: &Element<'_>) {
        if let Element::MartiniCount(count) = element {
            match &*count.key {
                "coverage.reported" => self.reported = count.value,
                "coverage.accounted" => self.accounted = count.value,
                _ => {}
            }
        }
    }
}

fn start(jdk: &Jdk) -> Program {
    let flags = [
        "-Xms256m",
        "-Xmx256m",
        // So that what the program has touched of its heap says nothing of what a recording leaves.
        "-XX:+AlwaysPreTouch",
        // Compilers' threads are as many all the time, and the JIT removes no object that is counted.
        "-XX:-UseDynamicNumberOfCompilerThreads",
        "-XX:-DoEscapeAnalysis",
        "-XX:-EliminateAutoBox",
        // A class that was rewritten stays in memory as long as code of it does, compiled at that time. Up to JDK 19 such code is freed
        // only when enough of the code cache has changed: with the default of 240 MiB a program that compiles little never gets there.
        "-XX:ReservedCodeCacheSize=16m",
    ];
    Program::start(jdk, &flags, &[])
}

fn number(program: &mut Program, what: &str) -> u64 {
    program.running.send(what);
    program.running.wait_for_rest(&format!("{what} ")).parse().expect("a number")
}

fn holds(program: &mut Program) -> Holds {
    program.running.send("collect");
    program.running.wait_for("collected");
    let pid = program.running.pid();
    let count = |what| fs::read_dir(format!("/proc/{pid}/{what}")).expect("it runs").count();
    let classes = loaded_classes(pid).expect("it answers");
    Holds { threads: count("task"), files: count("fd"), classes, kib: resident_kib(pid) }
}

/// Makes a request, which is not to be refused.
fn ask(program: &Program, request: &str, rest: &str) -> Result<(), String> {
    let answer = program.ask(request, rest);
    if answer.starts_with("ok\n") { Ok(()) } else { Err(format!("{request} {rest}: {answer}")) }
}

/// One recording; how long it took to begin, in milliseconds, and how much of the bytes its trace has, if it counts them.
fn record(program: &Program, options: &str) -> Result<(f64, Option<f64>), String> {
    let trace = program.trace();
    let begun = Instant::now();
    ask(program, "start", &format!("{options},file={}", trace.display()))?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    sleep(RECORDED);
    ask(program, "stop", "")?;
    let Coverage { reported, accounted } = read::trace(&trace, Coverage::default(), Judged::Valid);
    fs::remove_file(trace).map_err(|e| e.to_string())?;
    let counts = options.starts_with("heap=counts").then(|| 100.0 * reported as f64 / accounted.max(1) as f64);
    Ok((took, counts))
}

/// How fast the first program is in terms of the second.
fn speed(programs: &mut [Program; 2]) -> f64 {
    let before = programs.each_mut().map(|program| number(program, "turns"));
    sleep(WINDOW);
    let after = programs.each_mut().map(|program| number(program, "turns"));
    let [attached, control] = [0, 1].map(|at| (after[at] - before[at]) as f64);
    attached / control
}

/// Runs it on each JDK, and prints a row for each.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let machine = Machine::now();
    // No recording waits for it.
    martini::built();
    let recordings = request.rounds.unwrap_or(RECORDINGS);
    let mut table = Table::new(&[
        "JDK",
        "recordings",
        "begin, ms",
        "bytes in counts, %",
        "threads",
        "files",
        "classes",
        "memory, MiB",
        "speed before",
        "1 min after",
        "5 min after",
    ]);
    let mut everything = Vec::new();
    for jdk in request.jdks(jdk::each_feature)? {
        let (row, values) = on(jdk, recordings)?;
        table.row(row);
        everything.push(values);
    }
    let head = format!(
        "{}\nrecordings of {} s in one JVM that is busy; what it had after the first round of all engines, and at the end; its speed in \
         terms of the same program beside it that was never attached to, over {} s",
        machine.line(),
        RECORDED.as_secs(),
        WINDOW.as_secs()
    );
    match request.form() {
        Form::Text => println!("{head}\n\n{}", table.text()),
        Form::Markdown => println!("{head}\n\n{}", table.markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "results": everything })),
    }
    Ok(())
}

fn on(jdk: &Jdk, recordings: usize) -> Result<([String; 11], serde_json::Value), String> {
    let mut programs = [start(jdk), start(jdk)];
    // Compiled by then.
    sleep(WINDOW / 2);
    let before = speed(&mut programs);
    let (mut begins, mut coverages, mut first, mut last) = (Vec::new(), Vec::new(), None, None);
    for number in 0..recordings {
        let is_last = recordings - number <= ENGINES.len();
        let options = if is_last { ALL_TOGETHER } else { ENGINES[number % ENGINES.len()] };
        let (took, coverage) = record(&programs[0], options)?;
        begins.push(took);
        coverages.extend(coverage);
        // Each time: what a recording has left to the collector is gone before the next one.
        let now = holds(&mut programs[0]);
        if number + 1 == ENGINES.len() {
            first = Some(now);
        }
        last = Some(now);
        eprintln!("JDK {}, {} of {recordings}: {options}: {} KiB", jdk.feature, number + 1, now.kib);
    }
    let begun = Instant::now();
    let last = last.ok_or("there is nothing to record")?;
    let first = first.unwrap_or(last);
    let later = LATER.map(|later| {
        sleep(later.saturating_sub(begun.elapsed()));
        speed(&mut programs)
    });
    for program in programs {
        let out = program.running.finish().success().out();
        if !out.ends_with("right\n") {
            return Err(format!("the program has counted wrongly on JDK {}: {out}", jdk.feature));
        }
    }
    let mib = |holds: Holds| holds.kib as f64 / 1024.0;
    let row = [
        format!("{} ({})", jdk.build, jdk.vendor),
        recordings.to_string(),
        format!("{:.0}", Spread::of(begins.iter().copied())),
        if coverages.is_empty() { "-".into() } else { format!("{:.2}", Spread::of(coverages.iter().copied())) },
        format!("{}, {}", first.threads, last.threads),
        format!("{}, {}", first.files, last.files),
        format!("{}, {}", first.classes, last.classes),
        format!("{:.0}, {:.0}", mib(first), mib(last)),
        format!("{before:.3}"),
        format!("{:.3}", later[0]),
        format!("{:.3}", later[1]),
    ];
    let to_json = |holds: Holds| json!({ "threads": holds.threads, "files": holds.files, "classes": holds.classes, "kib": holds.kib });
    let values = json!({
        "jdk": jdk.build, "recordings": recordings, "begins": begins, "coverages": coverages,
        "first": to_json(first), "last": to_json(last), "speed": { "before": before, "later": later },
    });
    Ok((row, values))
}
