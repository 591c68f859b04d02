//! The command `martini`: profiles Java programs and reads what the agent wrote.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
