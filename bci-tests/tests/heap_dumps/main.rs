//! Heap dumps, of Martini and of JVMs, and what Martini makes of them: sizes to the byte, who holds what, planted leaks, and readers of
//! other people who agree.

mod disturbed;
mod dump;
mod files;
mod followed;
mod harmless;
mod histogram;
mod holders;
mod known_graph;
mod leaks;
mod moments;
mod readers;
mod support;
mod waste;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    Suite::run(&[
        moments::tests,
        disturbed::tests,
        files::tests,
        harmless::tests,
        readers::tests,
        known_graph::tests,
        holders::tests,
        histogram::tests,
        followed::tests,
        leaks::tests,
        waste::tests,
    ])
}
