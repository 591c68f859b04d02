//! The benchmarks that need a JVM, each with one command, such as `cargo run --release -p bench -- compare`;
//! `--help` describes all. `torture` measures nothing; it uses the same builds and tables.

mod alternate;
mod builds;
mod built;
mod callers;
mod compare;
mod diff;
mod figures;
mod fleet;
mod jars;
mod launch;
mod machine;
mod peers;
mod random;
mod reading;
mod ready;
mod request;
mod run;
mod sampled;
mod server;
mod start;
mod table;
mod threads;
mod torture;
mod variant;

use std::process::ExitCode;

use clap::Parser;

use crate::request::{Benchmark, Request};

fn main() -> ExitCode {
    if let Some(arguments) = torture::arguments() {
        return exit(torture::run(arguments));
    }
    let request = Request::parse();
    let result = match request.benchmark {
        benchmark if request.against.is_some() && !benchmark.takes_two_builds() => {
            Err("--against is for start, instructions, server and reading".into())
        }
        Benchmark::Compare => compare::run(&request),
        Benchmark::Instructions => compare::instructions::run(&request),
        Benchmark::Start => start::run(&request),
        Benchmark::Sampled => sampled::run(&request),
        Benchmark::Callers => callers::run(&request),
        Benchmark::Server => server::run(&request),
        Benchmark::Threads => threads::run(&request),
        Benchmark::Diff => diff::run(&request),
        Benchmark::Fleet => fleet::measure(&request),
        Benchmark::Reading => reading::measure(&request),
        Benchmark::Ready => ready::run(&request),
        Benchmark::Torture => Err("torture comes first, since it has options of its own".into()),
    };
    exit(result)
}

fn exit(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
