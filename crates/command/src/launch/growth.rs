//! Shows how fast a trace grows while the program runs, if a person is watching.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::launch::outputs::Outputs;
use crate::render::human::bytes;

/// Slow enough to be read.
const PACE: Duration = Duration::from_secs(1);

/// Erases the rest of the line and returns to its beginning, so that what the program prints next takes the line's place.
const BACK: &str = "\x1b[K\r";

/// A line on the terminal that is kept up to date until this is dropped.
pub(crate) struct Growth {
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Growth {
    /// Watches the traces whose names follow the pattern; does nothing unless stderr is a terminal.
    pub(crate) fn watch(pattern: &Path) -> Self {
        if !std::io::stderr().is_terminal() {
            return Growth { stop: None, thread: None };
        }
        let outputs = Outputs::before(pattern);
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut shown: Option<(u64, Instant)> = None;
            while stopped.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                let (size, now) = (outputs.size(), Instant::now());
                let (before, since) = shown.unwrap_or((0, now - PACE));
                if size > before {
                    // The terminal may be gone.
                    let _ = write!(std::io::stderr(), "{}{BACK}", line(size, size - before, now - since));
                }
                shown = Some((size.max(before), now));
            }
            if shown.is_some_and(|(size, _)| size > 0) {
                let _ = write!(std::io::stderr(), "{BACK}");
            }
        });
        Growth { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Growth {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn line(size: u64, grown: u64, time: Duration) -> String {
    let per_second = grown as f64 / time.as_secs_f64().max(0.001);
    format!("martini: the trace has {} and grows by {}/s", bytes(size), bytes(per_second as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_size_and_rate() {
        let line = line(3 << 30, 90 << 20, Duration::from_secs(2));
        assert_eq!(line, "martini: the trace has 3.0 GiB and grows by 45.0 MiB/s");
    }
}
