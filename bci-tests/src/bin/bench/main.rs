//! The benchmarks that need a JVM, each with one command:
//!
//! - `cargo run --release -p bci-tests --bin bench -- alloc` : what one allocation costs, part by part, next to a bare
//!   agent that does the least possible;
//! - `cargo run --release -p bci-tests --bin bench -- start` : what the agent adds to the start of a JVM.
//!
//! Both alternate all variants in every round, so that a change of the machine's speed meets them all alike, and give
//! medians with the extremes. `--rounds N` sets how often, `--jdk N` the Java release (else: any for `alloc`, each for
//! `start`). For `alloc`, `--only A,B` restricts it to variants whose names contain one of the words, and
//! `--documents N` says how many documents a thread reads where an allocation is dear (ten times as many where it is cheap).

mod alloc;
mod built;
mod figures;
mod run;
mod start;
mod variant;

use std::process::ExitCode;

use bci_tests::jdk::{self, Jdk};

/// What the command line asks for.
struct Request {
    rounds: Option<usize>,
    jdk: Option<u32>,
    only: Vec<String>,
    documents: Option<usize>,
}

fn main() -> ExitCode {
    match dispatch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let benchmark = arguments.next().unwrap_or_default();
    let mut request = Request { rounds: None, jdk: None, only: Vec::new(), documents: None };
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(format!("{option} has no value behind it"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("{option} takes a number, not {value}"));
        match option.as_str() {
            "--rounds" => request.rounds = Some(number()?.max(1)),
            "--documents" => request.documents = Some(number()?.max(1)),
            "--jdk" => request.jdk = Some(number()? as u32),
            "--only" => request.only = value.split(',').map(str::to_owned).collect(),
            _ => return Err(format!("unknown option {option}: there are --rounds, --jdk, --only and --documents")),
        }
    }
    match benchmark.as_str() {
        "alloc" => alloc::run(&request),
        "start" => start::run(&request),
        _ => Err("name a benchmark: alloc or start".into()),
    }
}

impl Request {
    /// The installed JDKs of the release asked for, or those of `otherwise`.
    fn jdks(&self, otherwise: fn() -> Vec<&'static Jdk>) -> Result<Vec<&'static Jdk>, String> {
        let Some(feature) = self.jdk else { return Ok(otherwise()) };
        let found = jdk::each_feature().into_iter().find(|jdk| jdk.feature == feature);
        Ok(vec![found.ok_or(format!("no JDK {feature} here: name its folder in MARTINI_JDKS"))?])
    }
}
