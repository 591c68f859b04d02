//! Time to safepoint: what the trace says of each operation is what the JVM logs, and who is late is named.

mod budget;
mod late;
mod totals;

use std::process::ExitCode;

use analysis::safepoints::{SafepointReport, SafepointStats};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

fn main() -> ExitCode {
    Suite::run(&[budget::tests, late::tests, totals::tests])
}

/// What a trace says of safepoints.
#[derive(Default)]
struct Read(SafepointStats);

impl TraceData for Read {
    fn element(&mut self, element: &Element<'_>) {
        self.0.element(element);
    }

    fn end(&mut self, _: bool) {
        self.0.end_document();
    }
}

/// Loops without checks, whose lines the JVM knows all the same.
const FLAGS: [&str; 5] = [
    "-Xmx640m",
    "-XX:+UseSerialGC",
    "-XX:-UseCountedLoopSafepoints",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+DebugNonSafepoints",
];

/// A program with a thread that does this all the time, while another one asks for safepoints.
fn program<'a>(jdk: &'a Jdk, what: &str) -> Profiled<'a> {
    let profiled = Profiled::on(jdk).options("ttsp=on").main("late.Main");
    let file = profiled.dir().join("mapped").display().to_string();
    profiled.args(&[what, "3000", &file]).flags(&FLAGS)
}

/// Runs it; its standard output, and what the trace says.
fn run(profiled: Profiled<'_>) -> (String, SafepointReport) {
    let ran = profiled.run_and_read::<Read>();
    (ran.out(), ran.trace.0.finish())
}
