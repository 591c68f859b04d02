//! Runs a JVM to its end, which has to come, and does to it what was drawn.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::acts::{Act, Timed};
use super::attach::{Attached, Recorded, Recording, end_of, is_alive};
use bci_tests::jdwp;

/// The line that says that the program's `main` runs.
const BEGINS: &str = "= begins";

/// How long a JVM that hangs may print its threads.
const DUMPING: Duration = Duration::from_secs(4);

/// How long a command that asks the JVM for something may take.
const ACT_LIMIT: Duration = Duration::from_secs(40);

/// How a run ended.
pub(super) struct Ended {
    /// Its status; none if it hung and was killed.
    pub(super) status: Option<ExitStatus>,
    /// What it wrote.
    pub(super) out: String,
    /// What it complained about.
    pub(super) err: String,
    /// What was done to it.
    pub(super) acted: Vec<Act>,
    /// The recordings that were made by attaching.
    pub(super) recorded: Vec<Recorded>,
    /// What its threads did when it hung.
    pub(super) hung: Option<String>,
    /// How long it took.
    pub(super) wall: Duration,
}

impl Ended {
    /// Whether somebody has ended it.
    pub(super) fn was_ended(&self) -> bool {
        self.acted.iter().any(|act| act.ends())
    }
}

/// What the acts need to know.
pub(super) struct Target<'a> {
    /// The folder of the run.
    pub(super) dir: &'a Path,
    /// The name of its trace there.
    pub(super) trace: &'a str,
    /// The tool for the JVM's commands, if there is one.
    pub(super) jcmd: Option<&'a Path>,
    /// The command `martini`.
    pub(super) martini: &'a Path,
    /// What is recorded by attaching.
    pub(super) recordings: &'a [Recording],
    /// So many at most.
    pub(super) most_recordings: usize,
}

type Text = Arc<Mutex<Vec<u8>>>;

/// Runs it.
pub(super) fn run(
    command: &mut Command,
    acts: &[Timed],
    target: &Target<'_>,
    limit: Duration,
) -> Result<Ended, String> {
    let begun = Instant::now();
    // A Ctrl-C is for this program: it ends its JVMs itself.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("{command:?} does not start: {e}"))?;
    let (out, begins) = collect(child.stdout.take().expect("asked for above"));
    let (err, _) = collect(child.stderr.take().expect("asked for above"));
    let attached = Attached {
        martini: target.martini,
        pid: child.id(),
        dir: target.dir,
        most: target.most_recordings,
        // Longer than the JVM itself may take.
        limit: limit + ACT_LIMIT,
        is_running: AtomicBool::new(false),
        has_ended: AtomicBool::new(false),
    };
    let (lived, recorded) = thread::scope(|scope| {
        let recorder = scope.spawn(|| attached.record(target.recordings));
        let lived = live(&mut child, acts, target, begun + limit, &begins, &attached, &out.0);
        attached.has_ended.store(true, Ordering::Relaxed);
        (lived, recorder.join().unwrap_or_default())
    });
    let Lived { status, acted, hung } = lived.map_err(|e| format!("{command:?} cannot be waited for: {e}"))?;
    let wall = begun.elapsed();
    let (out, err) = (text(out), text(err));
    Ok(Ended { status, out, err, acted, recorded, hung, wall })
}

/// What is known of a JVM at its end.
struct Lived {
    status: Option<ExitStatus>,
    acted: Vec<Act>,
    hung: Option<String>,
}

/// Waits for its end, and does to it what was drawn.
fn live(
    child: &mut Child,
    acts: &[Timed],
    target: &Target<'_>,
    until: Instant,
    begins: &Receiver<()>,
    attached: &Attached<'_>,
    out: &Text,
) -> io::Result<Lived> {
    let mut acted = Vec::new();
    let mut left = acts.iter();
    let mut next = left.next();
    let mut due: Option<Instant> = None;
    let mut is_running = false;
    let mut hung = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > until {
            hung = Some(stacks(child));
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        is_running = is_running || begins.try_recv().is_ok();
        attached.is_running.store(is_running, Ordering::Relaxed);
        if is_running && let Some(timed) = next {
            let at = *due.get_or_insert_with(|| Instant::now() + Duration::from_millis(timed.millis));
            if Instant::now() >= at {
                act(timed.act, child, target, out);
                acted.push(timed.act);
                (next, due) = (left.next(), None);
            }
        }
        thread::sleep(Duration::from_millis(5));
    };
    Ok(Lived { status, acted, hung })
}

/// Reads a stream on a thread of its own, and says when the program begins.
fn collect(stream: impl Read + Send + 'static) -> ((Text, thread::JoinHandle<()>), Receiver<()>) {
    let (send, begins) = channel();
    let text = Text::default();
    let reader = thread::spawn({
        let text = Arc::clone(&text);
        move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if line.trim_ascii_end() == BEGINS.as_bytes() {
                    // Nobody listens to the one of standard error.
                    let _ = send.send(());
                }
                text.lock().unwrap_or_else(PoisonError::into_inner).append(&mut line);
            }
        }
    });
    ((text, reader), begins)
}

/// What was read, to the end of the stream, or until soon after the end of the process: a child of it may keep the stream open.
fn text((text, reader): (Text, thread::JoinHandle<()>)) -> String {
    let until = Instant::now() + Duration::from_secs(5);
    while !reader.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    String::from_utf8_lossy(&text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

fn act(act: Act, child: &Child, target: &Target<'_>, out: &Text) {
    let dir = target.dir.display().to_string();
    match act {
        Act::Signal(name) => signal(name, child),
        Act::Stop => {
            signal("STOP", child);
            thread::sleep(Duration::from_millis(150));
            signal("CONT", child);
        }
        Act::Jcmd(words) => {
            let Some(jcmd) = target.jcmd else { return };
            let words = words.iter().map(|word| word.replace("{dir}", &dir));
            let mut command = Command::new(jcmd);
            ask(command.arg(child.id().to_string()).args(words), child);
        }
        Act::Martini(word) => {
            let file = (word == "dump").then(|| format!("{dir}/asked.hprof"));
            ask(Command::new(target.martini).arg(word).arg(child.id().to_string()).args(file), child);
        }
        Act::Debugger(times) => {
            let so_far = String::from_utf8_lossy(&out.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
            let port = so_far.lines().find_map(|line| line.strip_prefix(jdwp::LISTENING)?.trim().parse().ok());
            // A JVM that ends meanwhile closes the connection.
            let _ = port.map(|port| jdwp::stop_and_go(port, times));
        }
        Act::Request(what) => {
            // It fails where the run has no trace of its own, which then shows by itself.
            let _ = fs::write(target.dir.join(format!("{}{what}", target.trace)), "");
        }
    }
}

/// Runs a command that asks the JVM for something. A JVM that ends does not answer; whether it ends is asked elsewhere.
fn ask(command: &mut Command, child: &Child) {
    end_of(command.stderr(Stdio::null()), ACT_LIMIT, || is_alive(child.id()));
}

fn signal(name: &str, child: &Child) {
    // It may have ended meanwhile; nobody else has its id before it is waited for.
    let _ = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).stderr(Stdio::null()).status();
}

/// Asks a JVM that hangs for the stacks of its threads, which it prints where it prints, and the kernel for what they wait in.
fn stacks(child: &Child) -> String {
    signal("QUIT", child);
    thread::sleep(DUMPING);
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    let read = |path: &Path, name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
    let mut lines: Vec<String> = tasks
        .map(|task| task.path())
        .map(|path| {
            let state = read(&path, "stat").rsplit(") ").next().unwrap_or_default().chars().next().unwrap_or('?');
            format!("  {} {} {}", read(&path, "comm").trim(), state, read(&path, "wchan").trim())
        })
        .collect();
    lines.sort();
    lines.push(native_stacks(child));
    lines.join("\n")
}

/// The innermost frames of all threads, if there is a `gdb`: what a JVM does not print by itself are waits inside it.
fn native_stacks(child: &Child) -> String {
    let mut gdb = Command::new("timeout");
    gdb.args(["-s", "KILL", "60", "gdb", "-batch", "-ex", "thread apply all backtrace 14", "-p"]);
    let printed = gdb.arg(child.id().to_string()).stderr(Stdio::null()).output();
    let text = printed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let is_frame = |line: &&str| line.starts_with('#') || line.starts_with("Thread ");
    text.lines().filter(is_frame).collect::<Vec<_>>().join("\n")
}
