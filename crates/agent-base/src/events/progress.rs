//! Whether the agent's own threads get on: a file system or a reader that has stopped must not stop the program.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The program waits at most this long for threads of the agent that do nothing.
pub const MAX_STALL: Duration = Duration::from_secs(5);

/// The end of the recording waits longer: what is not written by then is lost, and with it the end of the trace.
pub const MAX_STALL_AT_END: Duration = Duration::from_secs(10);

/// Counts what has been done: text that was written, events that were read, objects that were looked at.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Something has been done.
    pub fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn steps(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long somebody waits for what others do, as long as nothing is done.
#[derive(Debug)]
pub struct Patience<'p> {
    progress: &'p Progress,
    seen: u64,
    since: Instant,
    limit: Duration,
}

impl<'p> Patience<'p> {
    /// Begins now.
    pub fn new(progress: &'p Progress, limit: Duration) -> Patience<'p> {
        Patience { progress, seen: progress.steps(), since: Instant::now(), limit }
    }

    /// Whether nothing has been done for that long; each step begins the time anew. To be asked again and again.
    pub fn is_over(&mut self) -> bool {
        let steps = self.progress.steps();
        if steps != self.seen {
            (self.seen, self.since) = (steps, Instant::now());
        }
        self.since.elapsed() >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_renews_patience() {
        let progress = Progress::default();
        let mut patience = Patience::new(&progress, Duration::ZERO);
        assert!(patience.is_over());
        patience.limit = Duration::from_secs(3600);
        patience.since = Instant::now().checked_sub(Duration::from_secs(3600)).expect("the machine is up");
        progress.step();
        assert!(!patience.is_over());
    }
}
