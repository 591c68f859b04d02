//! The agent inside the JVM: how it starts, what it refuses, where it writes, how it ends, and that rewritten classes are accepted.

mod archives;
mod beside;
mod class_archives;
mod each_collector;
mod exit;
mod files;
mod filters;
mod hints;
mod inherited;
mod loaders;
mod marks;
mod names;
mod options;
mod other_users;
mod outputs;
mod readiness;
mod requests;
mod rewriting;
mod seen;
mod stalls;
mod starting;
mod warm_up;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    Suite::run(&[
        rewriting::tests,
        starting::tests,
        seen::tests,
        exit::tests,
        each_collector::tests,
        archives::tests,
        beside::tests,
        class_archives::tests,
        names::tests,
        outputs::tests,
        files::tests,
        options::tests,
        filters::tests,
        hints::tests,
        inherited::tests,
        other_users::tests,
        loaders::tests,
        marks::tests,
        stalls::tests,
        warm_up::tests,
        readiness::tests,
        requests::tests,
    ])
}
