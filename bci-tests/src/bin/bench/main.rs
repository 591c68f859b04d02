//! The benchmarks that need a JVM, each with one command, such as `cargo run --release -p bci-tests --bin bench -- compare`;
//! `--help` describes all. `torture` measures nothing; it uses the same builds and tables.

mod alloc;
mod alternate;
mod attach;
mod builds;
mod built;
mod callers;
mod collections;
mod compare;
mod cpu;
mod dump;
mod figures;
mod jars;
mod launch;
mod locks;
mod machine;
mod memory;
mod peers;
mod report;
mod request;
mod run;
mod sampled;
mod start;
mod table;
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
            Err("--against is for start and instructions".into())
        }
        Benchmark::Compare => compare::run(&request),
        Benchmark::Instructions => compare::instructions::run(&request),
        Benchmark::Alloc => alloc::run(&request),
        Benchmark::Start => start::run(&request),
        Benchmark::Memory => memory::run(&request),
        Benchmark::Locks => locks::run(&request),
        Benchmark::Dump => dump::run(&request),
        Benchmark::Collections => collections::run(&request),
        Benchmark::Cpu => cpu::run(&request),
        Benchmark::Sampled => sampled::run(&request),
        Benchmark::Callers => callers::run(&request),
        Benchmark::Attach => attach::run(&request),
        Benchmark::Report => report::run(&request),
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
