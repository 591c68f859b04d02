//! How a command ends: exit codes, and the one sentence on stderr when something is wrong.

use std::io;
use std::process::ExitCode;

/// Success; for `validate`: the trace is valid.
pub(crate) const OK: u8 = 0;
/// `validate` found violations, `doctor` something that is in the way, `check` a budget that is exceeded.
pub(crate) const INVALID: u8 = 1;
/// The command line is wrong, or something could not be read, written or found.
pub(crate) const FAILED: u8 = 2;
/// `warmup PID`: it is not warm, or that cannot be said.
pub(crate) const NOT_WARM: u8 = 3;
/// `warmup PID --wait`: it compiles no less than before, so it will not be warm.
pub(crate) const NEVER_WARM: u8 = 4;
/// `run --check`: the program succeeded, but a budget is exceeded, or that cannot be said.
pub(crate) const EXCEEDED: u8 = 123;
/// `run --require-exact`: the program succeeded, but its trace is not complete enough. A number that programs hardly use.
pub(crate) const INEXACT: u8 = 125;
/// `run`: the program was found but cannot be started (the shells' convention).
pub(crate) const CANNOT_START: u8 = 126;
/// `run`: the program was not found (the shells' convention).
pub(crate) const NOT_FOUND: u8 = 127;
/// Added to the number of the signal that ended a process (the shells' convention).
pub(crate) const SIGNAL_BASE: u8 = 128;
/// The status of a process that SIGKILL ended.
pub(crate) const KILLED: u8 = SIGNAL_BASE + 9;
/// The reader of our output went away; what the shells show for a process ended by SIGPIPE.
const BROKEN_PIPE: u8 = SIGNAL_BASE + 13;

/// What `--help` says about exit codes.
pub(crate) const HELP: &str = "\
Exit status:
  0    success (validate: the trace is valid)
  1    validate: the trace breaks a rule; doctor: attaching is blocked;
       check: a budget is exceeded
  2    invalid command line, or something cannot be read, written or found
  3    warmup PID: it is not warm yet, or nothing can be said
  4    warmup PID --wait: it will not be warm
  run exits with the program's status: its exit code, or 128+n after signal n;
  127 if it was not found, 126 if it could not be started, 125 if it succeeded
  but a trace misses the coverage of --require-exact, 123 if a budget of
  --check is exceeded";

/// An error that has a status of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The exit status.
    pub(crate) status: u8,
    /// One sentence: what is wrong, where, what to do.
    pub(crate) message: String,
}

/// Turns the result of a command into its exit status; errors are printed on stderr; a closed pipe is not reported.
pub(crate) fn status(result: anyhow::Result<u8>) -> ExitCode {
    let error = match result {
        Ok(status) => return ExitCode::from(status),
        Err(error) => error,
    };
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return ExitCode::from(BROKEN_PIPE);
    }
    report(&error);
    ExitCode::from(error.downcast_ref::<Failure>().map_or(FAILED, |failure| failure.status))
}

/// Prints an error on stderr.
pub(crate) fn report(error: &anyhow::Error) {
    anstream::eprintln!("martini: {}", sentence(error));
}

/// The error and its causes in one line. Some errors of our libraries quote their cause already.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let missing = || Err::<(), _>(io::Error::from(io::ErrorKind::NotFound));
        let plain = missing().context("no trace").unwrap_err();
        assert_eq!(sentence(&plain), "no trace: entity not found");
        let quoting = missing().context("no trace: entity not found").unwrap_err();
        assert_eq!(sentence(&quoting), "no trace: entity not found");
    }
}
