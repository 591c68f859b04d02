//! Recordings of a JVM that was started without agent, one after the other until it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::attach::{Pid, Process};

use super::modes::Mode;
use crate::random::Random;

/// Different recordings in one JVM.
const MOST: u64 = 6;

/// What is recorded, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    /// The options of the agent.
    pub(super) mode: Mode,
    /// Milliseconds.
    pub(super) millis: u64,
}

/// A recording that was asked for.
pub(super) struct Recorded {
    /// What was drawn.
    pub(super) drawn: Recording,
    /// The folder with its trace.
    pub(super) dir: PathBuf,
    /// How the command ended; none if it did not, and was killed.
    pub(super) status: Option<ExitStatus>,
    /// What the command complained about.
    pub(super) err: String,
    /// The program's `main` ran when the command was started, and the process was there when it had ended.
    pub(super) is_in_time: bool,
}

impl Recorded {
    /// Whether there was a recording, and it has ended.
    pub(super) fn has_succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How the command ended, and what it said.
    pub(super) fn ending(&self) -> String {
        let status = self.status.map_or("was killed, since it did not end".to_owned(), |status| status.to_string());
        format!("martini attach: {status}; {}", self.err.trim())
    }
}

/// Draws recordings, which follow each other again and again.
pub(super) fn draw(random: &mut Random, fills_heap: bool, samples: bool) -> Vec<Recording> {
    let number = 1 + random.below(MOST);
    let mut one =
        || Recording { mode: Mode::draw(random, fills_heap, samples), millis: random.pick(&[20, 100, 250, 500, 1000]) };
    (0..number).map(|_| one()).collect()
}

/// A JVM that is recorded.
pub(super) struct Attached<'a> {
    /// The command.
    pub(super) martini: &'a Path,
    /// Its process.
    pub(super) pid: u32,
    /// The folder of the run, where each recording gets one of its own.
    pub(super) dir: &'a Path,
    /// So many recordings at most.
    pub(super) most: usize,
    /// How long one recording may take.
    pub(super) limit: Duration,
    /// The program's `main` runs.
    pub(super) is_running: AtomicBool,
    /// The process has ended.
    pub(super) has_ended: AtomicBool,
}

impl Attached<'_> {
    /// Records until the process has ended.
    pub(super) fn record(&self, drawn: &[Recording]) -> Vec<Recorded> {
        let mut recorded = Vec::new();
        for (number, drawn) in drawn.iter().cycle().take(self.most).enumerate() {
            if self.has_ended.load(Ordering::Relaxed) {
                break;
            }
            let dir = self.dir.join(format!("recording-{number}"));
            let is_running = self.is_running.load(Ordering::Relaxed);
            let (status, err) = self.once(drawn, &dir).unwrap_or_else(|error| (None, error));
            let is_in_time = is_running && is_alive(self.pid);
            if status.is_none_or(|status| !status.success()) {
                // It may go on recording.
                let mut stop = Command::new(self.martini);
                end_of(stop.arg("stop").arg(self.pid.to_string()).stderr(Stdio::null()), self.limit, || true);
            }
            recorded.push(Recorded { drawn: drawn.clone(), dir, status, err, is_in_time });
        }
        recorded
    }

    fn once(&self, drawn: &Recording, dir: &Path) -> Result<(Option<ExitStatus>, String), String> {
        let make = || fs::create_dir_all(dir).and_then(|()| fs::File::create(dir.join("attach.err")));
        let err = make().map_err(|e| format!("{} cannot be made: {e}", dir.display()))?;
        let mut command = Command::new(self.martini);
        command.arg("attach").arg(self.pid.to_string()).arg(format!("--duration={}ms", drawn.millis));
        command.arg(format!("--file={}", dir.join(drawn.mode.trace_name()).display()));
        command.args(drawn.mode.values(dir).map(|(name, value)| format!("--{name}={value}")));
        let status = end_of(command.stderr(err), self.limit, || true);
        Ok((status, fs::read_to_string(dir.join("attach.err")).unwrap_or_default()))
    }
}

/// Runs a command that asks the JVM for something, without input and output. None if it does not start, or has not ended in time or when
/// nobody is to wait any longer; then it is killed.
pub(super) fn end_of(command: &mut Command, limit: Duration, is_awaited: impl Fn() -> bool) -> Option<ExitStatus> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().ok()?;
    let until = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until && is_awaited() => thread::sleep(Duration::from_millis(10)),
            Ok(status) => break status,
            Err(_) => break None,
        }
    };
    // Whoever has ended takes no harm.
    let _ = child.kill();
    let _ = child.wait();
    status
}

/// Whether the process has not ended yet; it is there for as long as nobody has waited for it.
pub(super) fn is_alive(pid: u32) -> bool {
    Process::find(Pid(pid)).is_ok_and(|process| process.is_alive())
}
