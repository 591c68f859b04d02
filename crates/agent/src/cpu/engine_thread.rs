//! The engine's own thread: finds the threads that do not run Java, has threads looked at in turn, and watches that the signal stays
//! ours.

use std::fs;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Engine;
use super::handler::on_signal;
use agent_base::message::message;
use agent_base::native_thread;

/// How often it looks which threads there are.
const SCAN: Duration = Duration::from_millis(100);
/// So often it looks even if their number is the same.
const EACH: u32 = 10;

const TASKS: &str = "/proc/self/task";

/// Starts it.
///
/// # Errors
/// The system has no thread for it.
pub(super) fn start(engine: &'static Engine) -> Result<JoinHandle<()>, String> {
    native_thread::start("martini-cpu", move || run(engine))
        .map_err(|error| format!("cannot start the thread that finds the others: {error}"))
}

fn run(engine: &Engine) {
    let rest = engine.wall.map_or(SCAN, |wall| wall.min(SCAN));
    let (mut scanned, mut looked, mut same) = (None::<Instant>, Instant::now(), 0);
    let mut number = None;
    while !engine.is_stopping.load(Ordering::Relaxed) {
        if scanned.is_none_or(|scanned| scanned.elapsed() >= SCAN) {
            scanned = Some(Instant::now());
            // The trace may have ended before the recording.
            if engine.core.pool.is_closed() || !check(engine) {
                return engine.stop();
            }
            let now = count();
            same = if now == number && now.is_some() { same + 1 } else { 0 };
            number = now;
            // Twice after each change, since a thread has to be seen twice.
            if same < 2 || same % EACH == 0 {
                engine.registry.lock().scan(&tids());
            }
        }
        if engine.wall.is_some_and(|wall| looked.elapsed() >= wall) {
            looked = Instant::now();
            engine.registry.lock().look();
        }
        std::thread::park_timeout(rest);
    }
}

/// Whether the signal is still ours; else the user is warned.
fn check(engine: &Engine) -> bool {
    engine.handled.loads.check();
    let is_ours = engine.signal.is_handled_by(on_signal);
    if !is_ours {
        message(&format!("thread sampling stopped: the program now uses signal {} itself", engine.signal.name()));
    }
    is_ours
}

/// How many threads there are, without reading them all: `.`, `..` and one for each.
fn count() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(TASKS).ok().map(|tasks| tasks.nlink())
}

fn tids() -> Vec<libc::pid_t> {
    let entries = fs::read_dir(TASKS).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
