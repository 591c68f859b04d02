//! Messages to the user.

use std::io::Write;

/// Writes one line to standard error, since standard output is the program's.
pub(crate) fn message(text: &str) {
    // One write, so that lines of several JVMs do not mix. If standard error is closed, the message is dropped.
    let _ = std::io::stderr().write_all(format!("martini: {text}\n").as_bytes());
}
