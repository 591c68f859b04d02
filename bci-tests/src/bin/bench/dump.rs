//! What a heap dump takes, beside the JVM's own dumper, and what `martini heap` takes to read it.
//!
//! Both dump the same heap of the same JVM, in turns, so that each ratio is that of two dumps of one moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use crate::built::{self, Built};
use crate::figures::Spread;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request, pick};
use crate::run::{Run, run as run_command};
use crate::table::Table;
use crate::variant::{Agent, Variant};

/// How often both dump, unless asked otherwise.
const ROUNDS: usize = 3;
/// Objects of the heap, unless asked otherwise.
const OBJECTS: usize = 12_000_000;
/// Characters of each fourth object: this makes it 1.1 GB.
const CHARACTERS: usize = 256;
/// Bytes that four objects take at most.
const FOUR: usize = 40 + 24 + 16 + CHARACTERS + 32 + 8;

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
    entry("off", "heap=off", Agent::MartiniToDisk("heap=off,dump=request")),
    entry("counts", "heap=counts", Agent::MartiniToDisk("heap=counts,dump=request")),
    entry("zero", "heap=counts, contents zeroed", Agent::MartiniToDisk("heap=counts,dump=request,dumpcontents=zero")),
    entry("events", "heap=events", Agent::MartiniToDisk("heap=events,dump=request")),
    entry("events-stack", "heap=events, stacks of 4", Agent::MartiniToDisk("heap=events,stack=4,dump=request")),
];

/// One dump.
struct Dump {
    seconds: f64,
    /// The program stood still for so long.
    stood: f64,
    /// What the process had in use at most, beyond what it had before.
    more: f64,
    bytes: f64,
}

/// What one JVM showed.
struct Row {
    jvm: Vec<Dump>,
    agent: Vec<Dump>,
    /// `martini heap` on the last dump.
    read: Run,
}

/// Runs the benchmark and prints its tables. The error counts what failed, once everything has been printed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |_| true)?;
    let built = built::build()?;
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let objects = request.objects.unwrap_or(OBJECTS);
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        let mut rows = Vec::new();
        for entry in &entries {
            let row = measure(&built, jdk, &entry.variant, objects, rounds, request.limit);
            failures += usize::from(row.is_err());
            let said = row.as_ref().map_or_else(Clone::clone, |_| "done".to_owned());
            eprintln!("{} on {}: {said}", entry.variant.name, jdk.feature);
            rows.push((*entry, row));
        }
        if request.form() == Form::Json {
            everything.push(to_json(jdk, &rows));
            continue;
        }
        println!(
            "{}\nJDK {} ({}), {objects} objects, {:.0} MB, rounds: {rounds}; median (least .. most)\n",
            machine.line(),
            jdk.build,
            jdk.vendor,
            (objects / 4 * FOUR) as f64 / 1e6
        );
        for table in tables(&rows) {
            println!("{}", if request.form() == Form::Markdown { table.markdown() } else { table.text() });
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "objects": objects, "results": everything }));
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} of the results above are missing: the tables say why")),
    }
}

fn measure(
    built: &Built,
    jdk: &Jdk,
    variant: &Variant,
    objects: usize,
    rounds: usize,
    limit: Duration,
) -> Result<Row, String> {
    let place = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder for the dumps: {e}"))?;
    let trace = place.path().join("trace");
    let launch = variant.launch(built, &Peers::none(), &trace)?;
    let mut command = jdk.tool("java");
    let heap = objects / 4 * FOUR * 3 / 2 / (1 << 20) + 128;
    command.args(["-XX:+UseG1GC".to_owned(), format!("-Xms{heap}m"), format!("-Xmx{heap}m")]);
    command.args(launch.options).arg("-cp").arg(&built.classes).arg("Dumping");
    command.args([objects, CHARACTERS, rounds].map(|number| number.to_string())).arg(place.path());
    if variant.writes() {
        command.arg(&trace);
    }
    let run = run_command(&mut command, limit)?;
    if run.value("nodes")? != objects as u64 / 4 {
        return Err("the program did not do its work".into());
    }
    let dumps = |who: &str| (1..=rounds).map(|round| dump(&run, who, round)).collect::<Result<Vec<_>, _>>();
    let (jvm, agent) = (dumps("jvm")?, if variant.writes() { dumps("agent")? } else { Vec::new() });
    let last = the_dump(place.path())?;
    let mut reader = std::process::Command::new(built.martini.with_file_name("martini"));
    let read = run_command(reader.arg("heap").arg(last), limit)?;
    Ok(Row { jvm, agent, read })
}

fn dump(run: &Run, who: &str, round: usize) -> Result<Dump, String> {
    let value = |what: &str| Ok::<_, String>(run.value(&format!("{who}.{what}.{round}"))? as f64);
    Ok(Dump {
        seconds: value("micros")? / 1e6,
        stood: value("stood")? / 1e6,
        more: value("kib")? * 1024.0,
        bytes: value("bytes")?,
    })
}

/// The one that the program left.
fn the_dump(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{} cannot be read: {e}", folder.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|e| e == "hprof")).ok_or("the program left no dump".into())
}

fn tables(rows: &[(&Entry, Result<Row, String>)]) -> [Table; 2] {
    let mut dumps = Table::new(&[
        "dump",
        "the JVM's, s",
        "Martini's, s",
        "ratio",
        "the JVM's pause, s",
        "Martini's",
        "ratio",
        "MiB more: JVM",
        "Martini",
        "MB of file",
    ]);
    let mut reads = Table::new(&["martini heap on the dump of", "s", "CPU s", "max RSS in MiB"]);
    for (entry, row) in rows {
        let row = match row {
            Ok(row) => row,
            Err(reason) => {
                dumps.say(entry.variant.name, reason);
                continue;
            }
        };
        let all = |dumps: &[Dump], figure: fn(&Dump) -> f64| match dumps {
            [] => String::new(),
            dumps => format!("{:.2}", Spread::of(dumps.iter().map(figure))),
        };
        let ratio = |figure: fn(&Dump) -> f64| match &row.agent[..] {
            [] => String::new(),
            agent => format!("{:.2}", Spread::of_quotients(agent, &row.jvm, figure)),
        };
        let most = |dumps: &[Dump]| dumps.iter().map(|dump| dump.more / MIB).fold(0.0, f64::max);
        let kept = row.agent.last().or(row.jvm.last());
        dumps.row([
            entry.variant.name.to_owned(),
            all(&row.jvm, |dump| dump.seconds),
            all(&row.agent, |dump| dump.seconds),
            ratio(|dump| dump.seconds),
            all(&row.jvm, |dump| dump.stood),
            all(&row.agent, |dump| dump.stood),
            ratio(|dump| dump.stood),
            format!("{:.0}", most(&row.jvm)),
            format!("{:.0}", most(&row.agent)),
            kept.map_or(String::new(), |dump| format!("{:.0}", dump.bytes / 1e6)),
        ]);
        reads.row([
            entry.variant.name.to_owned(),
            format!("{:.1}", row.read.wall.as_secs_f64()),
            format!("{:.1}", row.read.cpu.as_secs_f64()),
            format!("{:.0}", row.read.rss_bytes as f64 / MIB),
        ]);
    }
    [dumps, reads]
}

fn to_json(jdk: &Jdk, rows: &[(&Entry, Result<Row, String>)]) -> Value {
    let dump = |dump: &Dump| json!({ "s": dump.seconds, "pause_s": dump.stood, "more_bytes": dump.more, "file_bytes": dump.bytes });
    let dumps = |dumps: &[Dump]| dumps.iter().map(dump).collect::<Vec<_>>();
    let row = |(entry, row): &(&Entry, Result<Row, String>)| match row {
        Ok(row) => json!({
            "variant": entry.id,
            "jvm": dumps(&row.jvm),
            "agent": dumps(&row.agent),
            "read": {
                "wall_s": row.read.wall.as_secs_f64(),
                "cpu_s": row.read.cpu.as_secs_f64(),
                "max_rss_bytes": row.read.rss_bytes,
            },
        }),
        Err(reason) => json!({ "variant": entry.id, "failed": reason }),
    };
    json!({ "jdk": { "build": jdk.build, "vendor": jdk.vendor }, "variants": rows.iter().map(row).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_one_round_and_failures_are_said() {
        let dumps = |seconds: [f64; 2]| {
            seconds.map(|s| Dump { seconds: s, stood: s / 2.0, more: 3.0 * MIB, bytes: 7e6 }).into_iter().collect()
        };
        let read = run_command(&mut std::process::Command::new("true"), Duration::from_secs(60)).expect("it runs");
        let row = Row { jvm: dumps([1.0, 2.0]), agent: dumps([2.0, 3.0]), read };
        let [text, _] = tables(&[(&ENTRIES[1], Ok(row)), (&ENTRIES[2], Err("no room".into()))]).map(|t| t.text());
        assert!(text.contains("2.50 (2.00 .. 3.00)  1.75 (1.50 .. 2.00)"), "{text}");
        assert!(text.contains("no room"), "{text}");
    }
}
