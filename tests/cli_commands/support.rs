//! Runs the command, and finds what it works on.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run of the command left.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) status: i32,
    /// What it wrote to stdout.
    pub(crate) out: String,
    /// What it wrote to stderr.
    pub(crate) err: String,
}

/// The command, in an environment that does not change what it does, with room for all that it has to say.
pub(crate) fn martini() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_martini"));
    command.env_remove("MARTINI_AGENT").env_remove("JAVA_TOOL_OPTIONS").env_remove("CLICOLOR_FORCE");
    command.env("COLUMNS", "1000").stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn end(command: &mut Command) -> Ended {
    let output = command.output().expect("the command starts");
    Ended {
        status: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// Runs `martini` with arguments.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    end(martini().args(arguments))
}

/// The path of a trace in tests/traces.
pub(crate) fn trace(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name);
    path.to_str().expect("the project lies at a UTF-8 path").to_owned()
}

/// The text of a trace in tests/traces.
pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(trace(name)).expect("the trace is there")
}
