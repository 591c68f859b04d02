//! What it does to collections that objects are followed to their death: pauses, waits for memory, and memory.
//!
//! A followed object has a JNI weak reference. Generational ZGC looks at those in old collections only, so a dead object stays until
//! the next of these.

use std::fs;
use std::path::Path;

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::alternate::{Outcome, all_ran, alternate};
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request, pick};
use crate::run::run as run_command;
use crate::table::Table;
use crate::torture::flags::{Gc, collectors};
use crate::variant::{Agent, Variant};

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 3;
/// Objects that live, unless asked otherwise.
const OBJECTS: usize = 5_000_000;
/// Bytes of heap for each of them, of which it takes 36.
const ROOM: usize = 84;

const MIB: f64 = (1 << 20) as f64;

struct Entry {
    /// How `--variant` names it.
    id: &'static str,
    variant: Variant,
}

const fn entry(id: &'static str, name: &'static str, agent: Agent) -> Entry {
    Entry { id, variant: Variant::new(name, agent) }
}

const ENTRIES: &[Entry] = &[
    entry("none", "no agent", Agent::None),
    entry("vm", "heap=vm", Agent::MartiniToDisk("heap=vm")),
    entry("vm-no-deaths", "heap=vm,lifetimes=false", Agent::MartiniToDisk("heap=vm,lifetimes=false")),
    entry("events", "heap=events", Agent::MartiniToDisk("heap=events")),
];

/// What one run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Taken {
    seconds: f64,
    pauses: Pauses,
    /// The longest that a thread waited for memory, in milliseconds, and how often one did.
    longest_wait: f64,
    waits: usize,
    rss_bytes: u64,
}

/// The stops of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pauses {
    count: usize,
    /// The longest, in milliseconds.
    longest: f64,
    /// How many of these passed until the last thread had stopped.
    reaching: f64,
}

/// Runs the benchmark and prints a table for each JDK and collector. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |entry| entry.id != "events")?;
    let built = built::build()?;
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let objects = request.objects.unwrap_or(OBJECTS);
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        let known = collectors(jdk);
        let gcs = pick(&request.programs, &known, |gc| gc.name, |gc| gc.name == "g1" || gc.name == "zgc-gen")?;
        for gc in gcs {
            let measure = |_, index: usize| take(&built, jdk, gc, &entries[index].variant, objects, request);
            let outcomes = alternate(entries.len(), rounds, measure);
            failures += outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
            if request.form() == Form::Json {
                everything.push(to_json(jdk, gc, &entries, &outcomes));
                continue;
            }
            println!(
                "{}\nJDK {} ({}), {}, {objects} living objects, a heap of {} MiB, rounds: {rounds}; median (least .. most)\n",
                machine.line(),
                jdk.build,
                jdk.vendor,
                gc.name,
                heap_mib(objects)
            );
            let table = table(&entries, &outcomes);
            println!("{}", if request.form() == Form::Markdown { table.markdown() } else { table.text() });
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "objects": objects, "results": everything }));
    }
    all_ran(failures)
}

fn heap_mib(objects: usize) -> usize {
    objects * ROOM / (1 << 20) + 16
}

fn take(
    built: &Built,
    jdk: &Jdk,
    gc: &Gc,
    variant: &Variant,
    objects: usize,
    request: &Request,
) -> Result<Taken, String> {
    let place = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder for the trace: {e}"))?;
    let log = |name: &str| place.path().join(name);
    let mut command = jdk.tool("java");
    command.args(gc.flags).arg(format!("-Xmx{}m", heap_mib(objects)));
    command.arg(format!("-Xlog:safepoint:file={}", log("safepoints").display()));
    command.arg(format!("-Xlog:gc:file={}", log("collections").display()));
    command.args(variant.launch(built, &Peers::none(), &log("trace"))?.options);
    command.arg("-cp").arg(&built.classes).arg("Following").arg(objects.to_string());
    let finished = run_command(&mut command, request.limit)?;
    if finished.value("living")? != objects as u64 {
        return Err("the program did not do its work".into());
    }
    let pauses = pauses(&read(&log("safepoints"))?);
    if pauses.count == 0 {
        return Err("the JVM's log has no pauses in a form that is known; JDK 13 and later have it".into());
    }
    let waits = waits(&read(&log("collections"))?);
    Ok(Taken {
        seconds: finished.value("nanos")? as f64 / 1e9,
        pauses,
        longest_wait: waits.iter().copied().fold(0.0, f64::max),
        waits: waits.len(),
        rss_bytes: finished.rss_bytes,
    })
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{} cannot be read: {e}", path.display()))
}

/// The pauses in a log of `safepoint`.
fn pauses(log: &str) -> Pauses {
    let millis = |line: &str, what: &str| {
        let (_, behind) = line.split_once(what)?;
        behind.trim_start().split(' ').next()?.parse().ok().map(|nanos: f64| nanos / 1e6)
    };
    let all = log.lines().filter_map(|line| Some((millis(line, "Total:")?, millis(line, "Reaching safepoint:")?)));
    all.fold(Pauses::default(), |so_far, (longest, reaching)| Pauses {
        count: so_far.count + 1,
        ..if longest > so_far.longest { Pauses { count: 0, longest, reaching } } else { so_far }
    })
}

/// How long threads waited for memory, in milliseconds, by a log of `gc`.
fn waits(log: &str) -> Vec<f64> {
    let waits = log.lines().filter(|line| line.contains("Allocation Stall ("));
    waits.filter_map(|line| line.trim_end().strip_suffix("ms")?.rsplit(' ').next()?.parse().ok()).collect()
}

fn table(entries: &[&Entry], outcomes: &[Outcome<Taken>]) -> Table {
    let mut table = Table::new(&[
        "options",
        "s",
        "pauses",
        "longest pause, ms",
        "until all stopped",
        "waits for memory",
        "longest wait, ms",
        "max RSS in MiB",
    ]);
    for (entry, outcome) in entries.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(entry.variant.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        let spread = |places: usize, figure: fn(&Taken) -> f64| {
            let spread = Spread::of(runs.iter().map(figure));
            format!("{spread:.places$}")
        };
        table.row([
            entry.variant.name.to_owned(),
            spread(2, |run| run.seconds),
            spread(0, |run| run.pauses.count as f64),
            spread(1, |run| run.pauses.longest),
            spread(1, |run| run.pauses.reaching),
            spread(0, |run| run.waits as f64),
            spread(0, |run| run.longest_wait),
            spread(0, |run| run.rss_bytes as f64 / MIB),
        ]);
    }
    table
}

fn to_json(jdk: &Jdk, gc: &Gc, entries: &[&Entry], outcomes: &[Outcome<Taken>]) -> Value {
    let run = |run: &Taken| {
        json!({
            "wall_s": run.seconds,
            "pauses": run.pauses.count,
            "longest_pause_ms": run.pauses.longest,
            "reaching_ms": run.pauses.reaching,
            "waits": run.waits,
            "longest_wait_ms": run.longest_wait,
            "max_rss_bytes": run.rss_bytes,
        })
    };
    let variants = entries.iter().zip(outcomes).map(|(entry, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": entry.id, "runs": runs, "failed": outcome.failure })
    });
    json!({
        "jdk": { "build": jdk.build, "vendor": jdk.vendor },
        "collector": gc.name,
        "variants": variants.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read() {
        let log = "\
[0.1s][info][safepoint] Safepoint \"ZMarkEndOld\", Time since last: 1071 ns, Reaching safepoint: 2000000 ns, Cleanup: 5 ns, At safepoint: 100 ns, Total: 2500000 ns
[0.2s][info][safepoint] Safepoint \"ZMarkEndOld\", Time since last: 1071 ns, Reaching safepoint: 9000 ns, At safepoint: 100 ns, Total: 10000 ns
[0.2s][info][safepoint] another line
";
        assert_eq!(pauses(log), Pauses { count: 2, longest: 2.5, reaching: 2.0 });
        let log = "[1s][info][gc] Allocation Stall (main) 12.500ms\n[1s][info][gc] GC(3) Minor Collection 7.1ms\n";
        assert_eq!(waits(log), [12.5]);
    }
}
