//! Lines for whoever runs the tests, which must be seen even when every test passes.

use std::io::Write;

/// Writes one line to the standard error of the process.
///
/// `cargo test` captures what `eprintln!` prints, but not what is written to the stream itself.
pub fn say(line: &str) {
    // There is nobody to read it when standard error is closed.
    let _ = std::io::stderr().write_all(format!("bci-tests: {line}\n").as_bytes());
}
