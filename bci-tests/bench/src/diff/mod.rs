//! What `martini diff` finds: planted changes, refactorings that change nothing, and runs of the same program.

mod variants;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bci_tests::jdk::{self, Jdk};
use serde_json::Value;
use tempfile::TempDir;

use crate::builds::Builds;
use crate::built::{self, Built};
use crate::compare::programs::{self, Length, PROGRAMS, Program, Ready};
use crate::jars::Jars;
use crate::launch::Launch;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request};
use crate::run::run as run_command;
use crate::table::Table;
use crate::variant::{Agent, Variant};
use variants::{Edit, PLANTED, REFACTORINGS, edited};

const COUNTED: Variant = Variant::new("counts", Agent::MartiniToDisk("heap=counts,callers=16k"));
/// Real programs of which runs are compared with each other.
const REAL: [&str; 4] = ["ecj", "clojure", "rhino", "jflex"];
/// Runs of each of them: 21 pairs.
const RUNS: usize = 7;
/// Runs of a side, where there are several.
const SIDE: usize = 3;

/// Runs everything once on each JDK, and prints what was found.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let builds = Builds::new(None)?;
    let machine = Machine::now();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        let bench = Bench { built: &builds.this, jdk, limit: request.limit };
        let mut table = Table::new(&["changed", "comparisons", "right", "what was wrong"]);
        for (what, outcomes) in bench.all()? {
            let wrong: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.as_deref()).collect();
            let right = outcomes.len() - wrong.len();
            table.row([what, outcomes.len().to_string(), right.to_string(), wrong.join("; ")]);
        }
        let head = format!("{}\nJDK {} ({})\n", machine.line(), jdk.build, jdk.vendor);
        match request.form() {
            Form::Text | Form::Json => println!("{head}\n{}", table.text()),
            Form::Markdown => println!("{head}\n{}", table.markdown()),
        }
    }
    Ok(())
}

/// What was wrong with a comparison, if anything was.
type Outcome = Option<String>;

struct Bench<'a> {
    built: &'a Built,
    jdk: &'a Jdk,
    limit: Duration,
}

impl Bench<'_> {
    fn all(&self) -> Result<Vec<(String, Vec<Outcome>)>, String> {
        let folder =
            tempfile::tempdir_in(&self.built.traces).map_err(|error| format!("no folder to run in: {error}"))?;
        let source = fs::read_to_string(built::source_folder("diff").join("Store.java")).map_err(|e| e.to_string())?;
        let store = self.store(&folder, "base", &source, RUNS)?;
        let mut all = vec![
            self.quiet("nothing, one run a side: a program made to allocate", &pairs(&store))?,
            self.quiet("nothing, three runs a side: a program made to allocate", &halves(&store))?,
        ];
        let total = self.diff(&store[..1], &store[..1])?["comparisons"][0]["total"]["before"][0].as_f64();
        let total = total.ok_or("a comparison has no total")?;
        let (mut one, mut several) = (Vec::new(), Vec::new());
        for planted in PLANTED {
            eprintln!("planted: {:.0} % in {}", planted.share * 100.0, planted.method);
            let after = self.store(&folder, "planted", &planted.edit(&source, total), SIDE)?;
            let name = format!("{:.0} % in {}", planted.share * 100.0, planted.method);
            one.push(found(&name, planted.method, &self.diff(&store[..1], &after[..1])?));
            several.push(found(&name, planted.method, &self.diff(&store[..SIDE], &after)?));
        }
        all.push(("1, 5 and 50 % of the bytes, one run a side: named first".to_owned(), one));
        all.push(("the same, three runs a side".to_owned(), several));
        let (mut one, mut several) = (Vec::new(), Vec::new());
        for Edit { name, changes } in REFACTORINGS {
            eprintln!("refactored: {name}");
            let after = self.store(&folder, "refactored", &edited(&source, changes), SIDE)?;
            one.push(nothing(name, &self.diff(&store[..1], &after[..1])?));
            several.push(nothing(name, &self.diff(&store[..SIDE], &after)?));
        }
        all.push(("refactored, one run a side: no change".to_owned(), one));
        all.push(("the same, three runs a side".to_owned(), several));
        let chosen: Vec<&Program> = PROGRAMS.iter().filter(|program| REAL.contains(&program.id)).collect();
        let jars = Jars::with(&self.built.target, programs::jars(&chosen));
        for program in chosen {
            eprintln!("runs of {}", program.id);
            let runs = self.program(&folder, program, &jars)?;
            all.push(self.quiet(&format!("nothing, one run a side: {}", program.id), &pairs(&runs))?);
            all.push(self.quiet(&format!("nothing, three runs a side: {}", program.id), &halves(&runs))?);
        }
        Ok(all)
    }

    /// Compiles the program and runs it some times. Gives back the traces.
    fn store(&self, folder: &TempDir, name: &str, source: &str, runs: usize) -> Result<Vec<PathBuf>, String> {
        let place = tempfile::tempdir_in(folder.path()).map_err(|error| error.to_string())?.keep();
        let (sources, classes) = (place.join("src"), place.join("classes"));
        fs::create_dir(&sources)
            .and_then(|()| fs::write(sources.join("Store.java"), source))
            .map_err(|e| e.to_string())?;
        built::compile(&[&sources], &[], &classes)?;
        let package = source.strip_prefix("package ").and_then(|rest| rest.split(';').next());
        let main = format!("{}.Store", package.ok_or("the program has no package")?);
        (0..runs)
            .map(|run| {
                let trace = place.join(format!("{name}-{run}.trcxml"));
                let launch = COUNTED.launch(self.built, &Peers::none(), &trace)?;
                let mut java = self.jdk.tool("java");
                run_command(java.args(launch.options).arg("-cp").arg(&classes).arg(&main), self.limit)?;
                Ok(trace)
            })
            .collect()
    }

    fn program(&self, folder: &TempDir, program: &Program, jars: &Jars) -> Result<Vec<PathBuf>, String> {
        let ready = Ready::new(program, self.built, jars, self.jdk)?;
        (0..RUNS)
            .map(|run| {
                let trace = folder.path().join(format!("{}-{run}.trcxml", program.id));
                let launch: Launch = COUNTED.launch(self.built, &Peers::none(), &trace)?;
                let place = tempfile::tempdir_in(folder.path()).map_err(|error| error.to_string())?;
                run_command(&mut ready.command(self.jdk, &launch, Length::Counted, place.path())?, self.limit)?;
                Ok(trace)
            })
            .collect()
    }

    /// What the command says of the bytes.
    fn diff(&self, before: &[PathBuf], after: &[PathBuf]) -> Result<Value, String> {
        let mut diff = Command::new(self.built.target.join("release/martini"));
        diff.args(["diff", "--json", "--measure", "bytes"]).args(before).arg("--").args(after);
        let said = diff.output().map_err(|error| error.to_string())?;
        serde_json::from_slice(&said.stdout).map_err(|_| String::from_utf8_lossy(&said.stderr).into_owned())
    }

    /// Comparisons in which nothing has changed.
    fn quiet(&self, what: &str, sides: &[(Vec<PathBuf>, Vec<PathBuf>)]) -> Result<(String, Vec<Outcome>), String> {
        let outcome = |(before, after): &(Vec<PathBuf>, Vec<PathBuf>)| {
            let name = |paths: &[PathBuf]| {
                paths.first().and_then(|path| path.file_stem()).map(Path::new).map(Path::display).map(|n| n.to_string())
            };
            let name = format!("{} {}", name(before).unwrap_or_default(), name(after).unwrap_or_default());
            Ok(nothing(&name, &self.diff(before, after)?))
        };
        Ok((what.to_owned(), sides.iter().map(outcome).collect::<Result<_, String>>()?))
    }
}

/// All pairs of runs.
fn pairs(runs: &[PathBuf]) -> Vec<(Vec<PathBuf>, Vec<PathBuf>)> {
    let pair = |(first, one): (usize, &PathBuf)| {
        let one = one.clone();
        runs[first + 1..].iter().map(move |other| (vec![one.clone()], vec![other.clone()])).collect::<Vec<_>>()
    };
    runs.iter().enumerate().flat_map(pair).collect()
}

/// All ways to divide the first six runs into three and three.
fn halves(runs: &[PathBuf]) -> Vec<(Vec<PathBuf>, Vec<PathBuf>)> {
    let runs = &runs[..2 * SIDE];
    let sets = (0..1_u32 << runs.len()).filter(|set| set.count_ones() as usize == SIDE && set & 1 == 1);
    sets.map(|set| {
        let side = |inside: bool| {
            let is_in = |&(number, _): &(usize, &PathBuf)| (set >> number & 1 == 1) == inside;
            runs.iter().enumerate().filter(is_in).map(|(_, run)| run.clone()).collect()
        };
        (side(true), side(false))
    })
    .collect()
}

fn changes(said: &Value) -> &[Value] {
    said["comparisons"][0]["changes"].as_array().map_or(&[], Vec::as_slice)
}

fn place(change: &Value) -> String {
    let text = |key: &str| change["place"][key].as_str().unwrap_or_default().to_owned();
    format!("{}.{}", text("class"), text("method"))
}

/// What is wrong where nothing has changed.
fn nothing(name: &str, said: &Value) -> Outcome {
    let named: Vec<String> = changes(said).iter().map(place).collect();
    (!named.is_empty()).then(|| format!("{name}: {}", named.join(", ")))
}

/// What is wrong where a method has changed: it is not the first, neither itself nor as the caller of what makes the objects.
fn found(name: &str, method: &str, said: &Value) -> Outcome {
    let first = changes(said).first();
    let is_it = |change: &Value| change["place"]["method"] == method;
    let is_first = first.is_some_and(|change| is_it(change) || change["through"].get(0).is_some_and(is_it));
    (!is_first).then(|| format!("{name}: {}", first.map_or("nothing".to_owned(), place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_paired_and_halved_in_all_ways() {
        let runs: Vec<PathBuf> = (0..7).map(|run| PathBuf::from(run.to_string())).collect();
        assert_eq!((pairs(&runs).len(), halves(&runs).len()), (21, 10));
        assert!(halves(&runs).iter().all(|(one, other)| one.len() == 3 && other.len() == 3));
    }
}
