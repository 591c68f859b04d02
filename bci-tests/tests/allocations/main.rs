//! Allocations: what the trace holds of them is what the programs did, in each mode, on each JDK and collector.

mod callers;
mod classes;
mod estimates;
mod executed;
mod explain;
mod filters;
mod heap_use;
mod idioms;
mod jit_and_vm;
mod mechanisms;
mod native_code;
mod object_deaths;
mod real_programs;
mod redefined;
mod sampled;
mod scale;
mod shapes;
mod sites;
mod stacks;
mod thread_accounts;
mod uncounted;

use std::process::ExitCode;

use bci_tests::suite::Suite;

fn main() -> ExitCode {
    // The longest first, so that no core waits for one at the end.
    Suite::run(&[
        scale::tests,
        mechanisms::tests,
        real_programs::tests,
        shapes::tests,
        object_deaths::tests,
        jit_and_vm::tests,
        estimates::tests,
        executed::tests,
        callers::tests,
        sampled::tests,
        explain::tests,
        stacks::tests,
        filters::tests,
        native_code::tests,
        heap_use::tests,
        idioms::tests,
        sites::tests,
        redefined::tests,
        thread_accounts::tests,
        classes::tests,
        uncounted::tests,
    ])
}
