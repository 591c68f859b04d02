//! What an agent adds in instructions: other work on the machine does not change them. Compilers and collector still run when they
//! like, so runs differ. `valgrind --tool=callgrind` counts them, by thread and library.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::{env, fs};

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use super::programs::{self, Length, PROGRAMS, Program, Ready};
use super::variants::{BASE, ENTRIES};
use crate::builds::{Builds, Candidate};
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request, pick};
use crate::run;
use crate::table::Table;

/// Code that lies in no file: the interpreter, and what the JIT made.
const JAVA: &str = "Java";
/// The launcher's second thread runs `main`.
const MAIN: &str = "-02";

/// Instructions of one run.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    /// By library, or [`JAVA`].
    by_library: BTreeMap<String, u64>,
    /// Of the thread that runs `main`.
    main: u64,
}

impl Counted {
    fn all(&self) -> u64 {
        self.by_library.values().sum()
    }

    fn of(&self, library: &str) -> u64 {
        self.by_library.get(library).copied().unwrap_or(0)
    }
}

/// Runs the benchmark and prints a table for each program. The error counts what failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let programs = pick(&request.programs, PROGRAMS, |program| program.id, |program| program.is_real())?;
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |entry| entry.id == "counts")?;
    let builds = Builds::new(request.against.as_deref())?;
    let variants = [&BASE].into_iter().chain(entries).map(|entry| &entry.variant);
    let candidates = runs(&builds.candidates(variants), request.rounds.unwrap_or(1));
    let jars = Jars::with(&builds.this.target, programs::jars(&programs));
    let machine = Machine::now();
    if request.form() != Form::Json {
        println!("{}\n", machine.line());
    }
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        for program in &programs {
            let found = match Ready::new(program, &builds.this, &jars, jdk) {
                Ok(ready) => count_all(jdk, &ready, &candidates, request),
                Err(reason) => vec![Err(format!("left out: {reason}"))],
            };
            failures += found.iter().filter(|found| found.is_err()).count();
            let title = format!("{} on JDK {} ({})", program.title, jdk.build, jdk.vendor);
            match request.form() {
                Form::Text => println!("{title}\n\n{}", table(&candidates, &found).text()),
                Form::Markdown => println!("{title}\n\n{}", table(&candidates, &found).markdown()),
                Form::Json => everything.push(to_json(jdk, program, &candidates, &found)),
            }
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "results": everything }));
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} of the results above are missing: the tables say why")),
    }
}

/// Each candidate `rounds` times.
fn runs<'a>(candidates: &[Candidate<'a>], rounds: usize) -> Vec<Candidate<'a>> {
    let round = |number| {
        candidates.iter().map(move |candidate| match number {
            1 => candidate.clone(),
            _ => Candidate { name: format!("{}, run {number}", candidate.name), ..candidate.clone() },
        })
    };
    (1..=rounds).flat_map(round).collect()
}

/// All candidates, as many at a time as there are processors.
fn count_all(
    jdk: &Jdk,
    program: &Ready<'_>,
    candidates: &[Candidate<'_>],
    request: &Request,
) -> Vec<Result<Counted, String>> {
    let at_a_time = thread::available_parallelism().map_or(1, usize::from);
    let mut found = Vec::new();
    for some in candidates.chunks(at_a_time) {
        thread::scope(|scope| {
            let runs = some.iter().map(|candidate| scope.spawn(move || count(jdk, program, candidate, request)));
            let runs: Vec<_> = runs.collect();
            found.extend(
                runs.into_iter().map(|run| run.join().unwrap_or_else(|_| Err("the benchmark panicked".into()))),
            );
        });
    }
    found
}

fn count(jdk: &Jdk, program: &Ready<'_>, candidate: &Candidate<'_>, request: &Request) -> Result<Counted, String> {
    let Candidate { variant, built, .. } = candidate;
    let place = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder to run in: {e}"))?;
    let (folder, counts) = (place.path().join("run"), place.path().join("counts"));
    for folder in [&folder, &counts] {
        fs::create_dir(folder).map_err(|e| format!("no folder to run in: {e}"))?;
    }
    let mut launch = variant.launch(built, &Peers::none(), &place.path().join("output"))?;
    // Valgrind knows no newer instructions.
    launch.options.push("-XX:UseAVX=2".into());
    let java = program.command(jdk, &launch, Length::Counted, &folder)?;
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(counts.join("out"));
    let mut command = Command::new(valgrind()?);
    command
        .args(["--tool=callgrind", "--separate-threads=yes", "--fair-sched=yes", "--smc-check=all-non-file"])
        // HotSpot looks at the place of a fault.
        .arg("--vex-iropt-register-updates=allregs-at-mem-access")
        .args([&out, java.get_program()])
        .args(java.get_args())
        .current_dir(&folder);
    run::run(&mut command, request.limit)?;
    read_all(&counts)
}

fn valgrind() -> Result<OsString, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join("valgrind")).find(|file| file.is_file());
    found.map(Into::into).ok_or("instructions are counted by valgrind, which is not installed".into())
}

/// Adds up the files that callgrind left, one for each thread.
fn read_all(folder: &Path) -> Result<Counted, String> {
    let failed = |e: std::io::Error| format!("what valgrind counted cannot be read: {e}");
    let mut counted = Counted::default();
    for file in fs::read_dir(folder).map_err(failed)? {
        let file = file.map_err(failed)?;
        let text = fs::read(file.path()).map_err(failed)?;
        let is_main = file.file_name().to_string_lossy().ends_with(MAIN);
        for (library, instructions) in by_library(&String::from_utf8_lossy(&text)) {
            if is_main {
                counted.main += instructions;
            }
            *counted.by_library.entry(library).or_default() += instructions;
        }
    }
    match counted.main {
        0 => Err("valgrind counted nothing".into()),
        _ => Ok(counted),
    }
}

/// Instructions by library in one of callgrind's files (the manual of callgrind, "File Format").
fn by_library(text: &str) -> BTreeMap<String, u64> {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut found = BTreeMap::new();
    let mut library = String::new();
    let mut is_call = false;
    for line in text.lines() {
        if let Some((key @ ("ob" | "cob"), object)) = line.split_once('=') {
            // A number in brackets stands for a name once it has come with it.
            let (number, name) = object.split_once(' ').unwrap_or((object, ""));
            if !name.is_empty() {
                let file = name.rsplit('/').next().unwrap_or(name);
                names.insert(number, if file == "???" { JAVA.into() } else { file.to_owned() });
            }
            if key == "ob" {
                library = names.get(number).cloned().unwrap_or_default();
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            // What a call took is in the lines of the function that was called.
            let own = !std::mem::take(&mut is_call);
            if let Some(instructions) =
                line.rsplit(' ').next().and_then(|last| last.parse::<u64>().ok()).filter(|_| own)
            {
                *found.entry(library.clone()).or_default() += instructions;
            }
        }
    }
    found
}

const COLUMNS: [&str; 3] = [JAVA, "libjvm.so", "libmartini.so"];

fn table(candidates: &[Candidate<'_>], found: &[Result<Counted, String>]) -> Table {
    let mut table = Table::new(&[
        "billions of instructions",
        "all",
        "times no agent",
        "main thread",
        "times no agent",
        COLUMNS[0],
        COLUMNS[1],
        COLUMNS[2],
    ]);
    let base = found.first().and_then(|base| base.as_ref().ok());
    for (candidate, found) in candidates.iter().zip(found) {
        let counted = match found {
            Ok(counted) => counted,
            Err(reason) => {
                table.say(&candidate.name, reason);
                continue;
            }
        };
        let billions = |count: u64| format!("{:.3}", count as f64 / 1e9);
        let times = |count: u64, of: fn(&Counted) -> u64| {
            base.map_or_else(String::new, |base| format!("{:.3}", count as f64 / of(base) as f64))
        };
        let mut cells = vec![
            candidate.name.clone(),
            billions(counted.all()),
            times(counted.all(), Counted::all),
            billions(counted.main),
            times(counted.main, |counted| counted.main),
        ];
        cells.extend(COLUMNS.map(|library| billions(counted.of(library))));
        table.row(cells);
    }
    table
}

fn to_json(jdk: &Jdk, program: &Program, candidates: &[Candidate<'_>], found: &[Result<Counted, String>]) -> Value {
    let variants = candidates.iter().zip(found).map(|(candidate, found)| match found {
        Ok(counted) => {
            json!({ "variant": candidate.name, "main_thread": counted.main, "by_library": counted.by_library })
        }
        Err(reason) => json!({ "variant": candidate.name, "failed": reason }),
    });
    json!({
        "program": program.id,
        "jdk": { "build": jdk.build, "vendor": jdk.vendor },
        "instructions": variants.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_took_is_not_counted_twice() {
        let text = "events: Ir\nfn=(1) main\nob=(1) /lib/libjvm.so\n12 100\ncob=(2) ???\ncfn=(2) 0x1\ncalls=3 0\n\
                    12 5000\n+3 7\n\nob=(2)\nfn=(2)\n0 4000\n* 1000\nob=(1)\n-1 3\ntotals: 5110\n";
        let expected = [(JAVA.to_owned(), 5000), ("libjvm.so".to_owned(), 110)];
        assert_eq!(by_library(text), BTreeMap::from(expected));
    }
}
