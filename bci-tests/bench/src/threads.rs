//! What a dump of all threads costs: how long the program stands still, and how long the JVM takes to answer.

use std::time::{Duration, Instant};

use attach::{Pid, Process, Target};
use bci_tests::java;
use bci_tests::jdk::{self, Jdk};
use bci_tests::process::Running;
use serde_json::json;

use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::table::Table;

/// Dumps of each JVM, unless asked otherwise.
const DUMPS: usize = 5;
/// How many threads, and of which kind.
const CROWDS: [(&str, u32); 4] = [("platform", 100), ("platform", 1000), ("platform", 10_000), ("virtual", 100_000)];
/// The first release with virtual threads.
const FIRST_WITH_VIRTUAL: u32 = 21;

/// A dump.
struct Dumped {
    /// The longest time for which a thread of the program that wakes each millisecond did not.
    pause: Duration,
    /// The same over a second before the dump.
    pause_before: Duration,
    answered: Duration,
    bytes: u64,
}

/// Dumps the threads of JVMs with few and many, and prints a row for each.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let machine = Machine::now();
    let dumps = request.rounds.unwrap_or(DUMPS);
    let mut table =
        Table::new(&["JDK", "threads", "longest pause before, ms", "longest pause, ms", "answer after, ms", "MB"]);
    let mut everything = Vec::new();
    for jdk in request.jdks(jdk::each_feature)? {
        for (kind, count) in CROWDS {
            if kind == "virtual" && jdk.feature < FIRST_WITH_VIRTUAL {
                continue;
            }
            eprintln!("JDK {}, {count} {kind} threads", jdk.feature);
            let found = crowd(jdk, kind, count, dumps)?;
            let millis =
                |of: fn(&Dumped) -> Duration| Spread::of(found.iter().map(|dump| of(dump).as_secs_f64() * 1e3));
            table.row([
                format!("{} ({})", jdk.build, jdk.vendor),
                format!("{count} {kind}"),
                format!("{:.1}", millis(|dump| dump.pause_before)),
                format!("{:.1}", millis(|dump| dump.pause)),
                format!("{:.1}", millis(|dump| dump.answered)),
                format!("{:.1}", Spread::of(found.iter().map(|dump| dump.bytes as f64 / 1e6))),
            ]);
            let dump = |dump: &Dumped| {
                json!({
                    "pause_nanos": dump.pause.as_nanos() as u64,
                    "pause_before_nanos": dump.pause_before.as_nanos() as u64,
                    "answered_nanos": dump.answered.as_nanos() as u64,
                    "bytes": dump.bytes,
                })
            };
            everything.push(json!({
                "jdk": jdk.build, "kind": kind, "threads": count, "dumps": found.iter().map(dump).collect::<Vec<_>>(),
            }));
        }
    }
    let head = format!("{}\ndumps of each JVM: {dumps}", machine.line());
    match request.form() {
        Form::Text => println!("{head}\n\n{}", table.text()),
        Form::Markdown => println!("{head}\n\n{}", table.markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "dumps": dumps, "results": everything })),
    }
    Ok(())
}

fn crowd(jdk: &Jdk, kind: &str, count: u32, dumps: usize) -> Result<Vec<Dumped>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("threads.json");
    let mut program = Running::start(&mut java::program(jdk, &["-Xmx2g"], "crowd.Main", &[kind, &count.to_string()]));
    program.wait_for("up");
    let target = Process::find(Pid(program.pid())).and_then(Target::open).map_err(|error| error.to_string())?;
    // Virtual threads are not in what the JVM prints.
    let command = match kind {
        "virtual" => format!("Thread.dump_to_file -overwrite -format=json {}", file.display()),
        _ => "Thread.print".to_owned(),
    };
    // The first has the JVM listen and load what it needs.
    target.threads(&command).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for _ in 0..dumps {
        longest(&mut program)?;
        std::thread::sleep(Duration::from_secs(1));
        let pause_before = longest(&mut program)?;
        let begun = Instant::now();
        let text = target.threads(&command).map_err(|error| error.to_string())?;
        let answered = begun.elapsed();
        let bytes = std::fs::metadata(&file).map_or(text.len() as u64, |file| file.len());
        found.push(Dumped { pause: longest(&mut program)?, pause_before, answered, bytes });
    }
    program.finish().success();
    Ok(found)
}

/// The longest time for which the ticking thread did not run, since this was asked last.
fn longest(program: &mut Running) -> Result<Duration, String> {
    program.send("");
    let nanos = program.wait_for_rest("longest ");
    nanos.parse().map(Duration::from_nanos).map_err(|_| format!("{nanos} is no number"))
}
