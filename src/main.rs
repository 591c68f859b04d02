//! The program `martini`: the command, with the agents that its file carries.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/agents.rs"));

fn main() -> ExitCode {
    command::main(AGENTS)
}
