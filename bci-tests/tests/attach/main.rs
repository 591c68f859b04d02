//! A JVM that runs already is recorded: what the trace says is true, the program does what it would have done, and afterwards the JVM
//! is as it was.

mod before;
mod endings;
mod engines;
mod program;
mod repeated;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    Suite::run(&[engines::tests, before::tests, repeated::tests, endings::tests])
}
