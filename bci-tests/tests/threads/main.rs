//! What threads do: samples add up to what the system counts, for every thread, and say where it was.

mod bad_ground;
mod conservation;
mod samples;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    Suite::run(&[conservation::tests, bad_ground::tests])
}
