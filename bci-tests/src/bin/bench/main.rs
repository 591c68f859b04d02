//! The benchmarks that need a JVM, each with one command:
//!
//! - `cargo run --release -p bci-tests --bin bench -- compare` : Martini beside no agent and other profilers, on a program
//!   made to allocate and on real programs;
//! - `cargo run --release -p bci-tests --bin bench -- alloc` : what one allocation costs, part by part, next to a bare
//!   agent that does the least possible;
//! - `cargo run --release -p bci-tests --bin bench -- start` : what the agent adds to the start of a JVM;
//! - `cargo run --release -p bci-tests --bin bench -- memory` : what the agent needs for live objects, threads and sites;
//! - `cargo run --release -p bci-tests --bin bench -- locks` : what it costs to record who waits for which lock;
//! - `cargo run --release -p bci-tests --bin bench -- dump` : what a heap dump takes beside the JVM's own dumper, and what
//!   `martini heap` takes to read it.
//!
//! All alternate their variants in every round, so that a change of the machine's speed meets them all alike, and give
//! medians with the extremes. A run that fails is shown in its place in the table.
//!
//! `--rounds N` sets how often; `--jdk 17,25` or `--jdk all` the Java releases (else: any for `compare`, `alloc`, `memory`, `dump`
//! and `locks`, each for `start`); `--variant A,B` and `--program A,B` what `compare`, `memory` and `dump` run, by id, `all` for
//! everything (`locks`: `--program`); `--objects N` how large the heap of `dump` is (92 bytes for each);
//! `--limit SECONDS` when a run has failed; `--markdown` and `--json` how results are printed. For `alloc` and `locks`,
//! `--only A,B` restricts it to variants whose names contain one of the words; for `alloc`, `--documents N` says how many documents
//! a thread reads where an allocation is dear (ten times as many where it is cheap).

mod alloc;
mod alternate;
mod built;
mod compare;
mod dump;
mod figures;
mod jars;
mod locks;
mod machine;
mod memory;
mod peers;
mod request;
mod run;
mod start;
mod table;
mod variant;

use std::process::ExitCode;

use crate::request::Request;

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
    let request = Request::parse(arguments)?;
    match benchmark.as_str() {
        "compare" => compare::run(&request),
        "alloc" => alloc::run(&request),
        "start" => start::run(&request),
        "memory" => memory::run(&request),
        "locks" => locks::run(&request),
        "dump" => dump::run(&request),
        _ => Err("name a benchmark: compare, alloc, start, memory, locks or dump".into()),
    }
}
