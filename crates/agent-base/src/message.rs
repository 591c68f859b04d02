//! Messages to the user.

use std::cell::RefCell;
use std::io::Write;

/// A message waits at most so many milliseconds for a standard error that nobody reads.
const MAX_WAIT_MILLIS: i32 = 1000;

thread_local! {
    /// Messages of this thread for whoever asked it for something; `None` if nobody takes them.
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs `body`, and keeps what it would write to standard error on this thread.
pub fn kept<T>(body: impl FnOnce() -> T) -> (T, Vec<String>) {
    KEPT.set(Some(Vec::new()));
    let result = body();
    (result, KEPT.take().unwrap_or_default())
}

/// Writes one line to standard error, since standard output is the program's; or keeps it for whoever asked for it ([`kept`]).
pub fn message(text: &str) {
    // A thread that has called `exit` keeps nothing any more.
    let is_kept = KEPT.try_with(|kept| kept.borrow_mut().as_mut().map(|kept| kept.push(text.to_owned())).is_some());
    if is_kept == Ok(true) {
        return;
    }
    let mut ready = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: poll reads and writes the one that it is given.
    if unsafe { libc::poll(&mut ready, 1, MAX_WAIT_MILLIS) } == 0 {
        return;
    }
    // One write, so that lines of several JVMs do not mix. If standard error is closed, the message is dropped.
    let _ = std::io::stderr().write_all(format!("martini: {text}\n").as_bytes());
}
