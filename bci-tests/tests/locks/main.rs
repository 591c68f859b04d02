//! Locks: each wait of programs whose threads wait for each other is in the trace once, with owner, end and time.

mod deadlock;
mod idle;
mod lock_log;
mod monitors;
mod names;
mod parks;
mod scale;
mod server;
mod support;
mod times;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    Suite::run(&[
        scale::tests,
        server::tests,
        monitors::tests,
        parks::tests,
        times::tests,
        names::tests,
        idle::tests,
        deadlock::tests,
        lock_log::tests,
    ])
}
