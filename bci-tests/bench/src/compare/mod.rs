//! Martini beside no agent and beside other profilers, on a program made to allocate and on real ones.

pub(crate) mod instructions;
mod measure;
pub(crate) mod programs;
mod report;
mod variants;

use bci_tests::jdk::{self, Jdk};
use serde_json::json;

use self::measure::{Sample, Setting, Work};
use self::programs::{PROGRAMS, Program, Ready};
use self::report::{Chapter, Row};
use self::variants::{BASE, ENTRIES, Entry};
use crate::alternate::alternate;
use crate::built::{self, Built};
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request, pick};
use crate::table::Table;

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 5;

/// Runs the benchmark and prints its tables. The error counts what failed, once everything has been printed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let programs = pick(&request.programs, PROGRAMS, |program| program.id, |program| program.usual)?;
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |entry| entry.usual)?;
    let jdks = request.jdks(|| vec![jdk::any()])?;
    let built = built::build()?;
    let jars = Jars::with(&built.target, peers::JARS.into_iter().chain(programs::jars(&programs)));
    let peers = Peers::find(&built, &jars);
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let head = format!("{}\nrounds: {rounds}; median (least .. most)", machine.line());
    if request.form() != Form::Json {
        println!("{head}\n");
    }
    let mut everything = Vec::new();
    let mut failures = 0;
    for jdk in jdks {
        let mut chapters = Vec::new();
        for program in &programs {
            let chapter = chapter(request, &built, &jars, &peers, jdk, program, &entries, rounds);
            failures += usize::from(chapter.base.is_err());
            failures += chapter.rows.iter().filter(|row| row.samples.is_err()).count();
            print(&chapter, request.form());
            chapters.push(chapter);
        }
        if let Some(summary) = report::summary(&chapters).filter(|_| request.form() != Form::Json) {
            println!("All real programs on JDK {}: median (least .. most) of their medians\n", jdk.build);
            println!("{}", shown(&summary, request.form()));
        }
        everything.extend(chapters.iter().map(Chapter::json));
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "rounds": rounds, "results": everything }));
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} of the results above are missing: the tables say why")),
    }
}

/// All variants on one program and one JDK.
#[expect(clippy::too_many_arguments, reason = "called once; a struct would only repeat the names")]
fn chapter<'a>(
    request: &Request,
    built: &Built,
    jars: &Jars,
    peers: &Peers,
    jdk: &'a Jdk,
    program: &'a Program,
    entries: &[&Entry],
    rounds: usize,
) -> Chapter<'a> {
    let fail = |reason: String| Chapter { jdk, program, base: Err(reason), rows: Vec::new() };
    let ready = match Ready::new(program, built, jars, jdk) {
        Ok(ready) => ready,
        Err(reason) => return fail(format!("left out: {reason}")),
    };
    let setting = Setting { built, peers, jdk, program: &ready, limit: request.limit };
    // The first run counts for nothing but what the program does: files come into memory.
    let expected = match setting.measure(&BASE, None) {
        Ok((_, work)) => work,
        Err(reason) => return fail(format!("failed without any agent: {reason}")),
    };
    let all: Vec<&Entry> = [&BASE].into_iter().chain(entries.iter().copied()).collect();
    let outcomes = alternate(all.len(), rounds, |round, index| measure(&setting, all[index], &expected, round, rounds));
    let mut results = outcomes.into_iter().map(|outcome| match outcome.failure {
        Some(reason) => Err(reason),
        None => Ok(outcome.runs),
    });
    let base = results.next().unwrap_or_else(|| Err("no runs".into()));
    let rows = entries.iter().zip(results);
    let rows = rows
        .map(|(entry, samples)| Row { id: entry.id, name: entry.variant.name, beside: entry.beside, samples })
        .collect();
    Chapter { jdk, program, base, rows }
}

fn measure(
    setting: &Setting<'_>,
    entry: &Entry,
    expected: &Work,
    round: usize,
    rounds: usize,
) -> Result<Sample, String> {
    let (program, name) = (setting.program.program.id, entry.variant.name);
    let result = setting.measure(entry, Some(expected)).map(|(sample, _)| sample);
    let said = match &result {
        Ok(sample) => format!("{:.3} s, {:.3} s of CPU", sample.wall_s, sample.cpu_s),
        Err(reason) => reason.clone(),
    };
    eprintln!("{program} on {}, round {} of {rounds}: {name}: {said}", setting.jdk.feature, round + 1);
    result
}

fn print(chapter: &Chapter<'_>, form: Form) {
    if form == Form::Json {
        return;
    }
    println!("{}\n", chapter.title());
    match chapter.table() {
        Ok(table) => {
            println!("{}", shown(&table, form));
            chapter.besides().iter().for_each(|sentence| println!("{sentence}\n"));
        }
        Err(reason) => println!("{reason}\n"),
    }
}

fn shown(table: &Table, form: Form) -> String {
    if form == Form::Markdown { table.markdown() } else { table.text() }
}
