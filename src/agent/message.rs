//! Messages to the user.

use std::io::Write;

/// A message waits at most so many milliseconds for a standard error that nobody reads.
const MAX_WAIT_MILLIS: i32 = 1000;

/// Writes one line to standard error, since standard output is the program's.
pub(crate) fn message(text: &str) {
    let mut ready = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: poll reads and writes the one that it is given.
    if unsafe { libc::poll(&mut ready, 1, MAX_WAIT_MILLIS) } == 0 {
        return;
    }
    // One write, so that lines of several JVMs do not mix. If standard error is closed, the message is dropped.
    let _ = std::io::stderr().write_all(format!("martini: {text}\n").as_bytes());
}
