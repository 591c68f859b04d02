//! Child processes that cannot hang a test run.

use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::documents;

/// How long any JVM of the tests may take; far beyond what a slow machine needs.
pub const LIMIT: Duration = Duration::from_secs(180);

/// The same for JVMs that do all that `MARTINI_LONG` asks for.
const LONG_LIMIT: Duration = Duration::from_secs(3600);

/// Whether tests that can do more than a run of all tests has time for are to do it (`MARTINI_LONG`).
pub fn is_long() -> bool {
    std::env::var_os("MARTINI_LONG").is_some()
}

fn limit() -> Duration {
    if is_long() { LONG_LIMIT } else { LIMIT }
}

/// What a process left behind.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Panics with everything the process said unless it ended with status 0.
    #[track_caller]
    pub fn success(self) -> Self {
        assert!(
            self.status.success(),
            "the process ended with {}\n--- standard output\n{}\n--- standard error\n{}{}",
            self.status,
            self.out(),
            self.err(),
            crash(&self.out())
        );
        self
    }
}

/// Thread and stacks of a JVM that has crashed, from the report that its output names; empty if it names none.
fn crash(out: &str) -> String {
    let path = out.lines().skip_while(|line| !line.contains("error report file")).nth(1);
    let report = path.and_then(|line| fs::read_to_string(line.trim_start_matches('#').trim()).ok()).unwrap_or_default();
    let thread = report.lines().skip_while(|line| !line.contains("T H R E A D")).take_while(|l| !l.contains("siginfo"));
    thread.map(|line| format!("\n{line}")).collect()
}

/// Runs a command to its end; panics with its stacks and output if it takes longer than [`LIMIT`].
#[track_caller]
pub fn run(command: &mut Command) -> Finished {
    let finished = Running::start(command).finish();
    documents::check(command, &finished.stdout);
    finished
}

/// Waits for what must come, unless it takes longer than [`LIMIT`].
#[track_caller]
pub fn wait_until(mut is_there: impl FnMut() -> bool) {
    wait_for(|| if is_there() { Ok(()) } else { Err("") });
}

/// Waits for what must come, unless it takes longer than [`LIMIT`]; an error says what is there instead.
#[track_caller]
pub fn wait_for<E: Display>(mut come: impl FnMut() -> Result<(), E>) {
    let begun = Instant::now();
    while let Err(instead) = come() {
        assert!(begun.elapsed() < LIMIT, "waited in vain: {instead}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that a test talks to while it runs.
#[derive(Debug)]
pub struct Running {
    command: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// Starts it with all three streams in the test's hands.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let shown = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{shown} does not start: {e}"));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("asked for above");
        let mut stderr = child.stderr.take().expect("asked for above");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if send.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is all there is to show.
            let _ = stderr.read_to_end(&mut bytes);
            bytes
        });
        Self { command: shown, child, stdin, lines, seen: Vec::new(), stderr: Some(stderr) }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has printed exactly this line.
    #[track_caller]
    pub fn wait_for(&mut self, line: &str) {
        self.wait_for_what(&format!("{line:?}"), |found| found == line.as_bytes());
    }

    /// Waits for a line that begins so; the rest of it.
    #[track_caller]
    pub fn wait_for_rest(&mut self, beginning: &str) -> String {
        let line = self.wait_for_what(&format!("{beginning:?}..."), |found| found.starts_with(beginning.as_bytes()));
        String::from_utf8_lossy(&line[beginning.len()..]).into_owned()
    }

    /// Waits for a line that contains one of these; the line.
    #[track_caller]
    pub fn wait_for_any(&mut self, parts: &[&str]) -> String {
        let line = self.wait_for_what(&format!("any of {parts:?}"), |found| {
            let line = String::from_utf8_lossy(found);
            parts.iter().any(|part| line.contains(part))
        });
        String::from_utf8_lossy(&line).into_owned()
    }

    #[track_caller]
    fn wait_for_what(&mut self, what: &str, is_it: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let deadline = Instant::now() + limit();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.seen.extend_from_slice(&bytes);
                    if is_it(bytes.trim_ascii_end()) {
                        return bytes.trim_ascii_end().to_vec();
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.hung(),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait();
                    let err = String::from_utf8_lossy(&self.collect_stderr()).into_owned();
                    let out = String::from_utf8_lossy(&self.seen).into_owned();
                    let crash = crash(&out);
                    panic!("{} ended with {status} before it printed {what}\n{out}\n{err}{crash}", self.command);
                }
            }
        }
    }

    /// Writes a line to its standard input.
    #[track_caller]
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("open until finish");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the process reads its standard input");
    }

    /// Ends it at once with SIGKILL.
    #[track_caller]
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
    }

    /// Closes its standard input and waits for its end.
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        drop(self.stdin.take());
        let deadline = Instant::now() + limit();
        // The end of its output comes first: a process that is still writing is not finished.
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.extend_from_slice(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.hung(),
            }
        }
        let status = self.wait();
        let stderr = self.collect_stderr();
        Finished { status, stdout: std::mem::take(&mut self.seen), stderr }
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + limit();
        loop {
            if let Some(status) = self.child.try_wait().expect("the process is ours") {
                return status;
            }
            if Instant::now() > deadline {
                self.hung();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn collect_stderr(&mut self) -> Vec<u8> {
        self.stderr.take().map(|reader| reader.join().unwrap_or_default()).unwrap_or_default()
    }

    /// Asks a JVM for the stacks of its threads, kills it and panics with all it has said.
    #[track_caller]
    fn hung(&mut self) -> ! {
        let quit = Command::new("kill").arg("-QUIT").arg(self.pid().to_string()).status();
        if quit.is_ok() {
            // Time to print; nothing depends on its being enough.
            std::thread::sleep(Duration::from_secs(3));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(1)) {
            self.seen.extend_from_slice(&line);
        }
        let err = String::from_utf8_lossy(&self.collect_stderr()).into_owned();
        let out = String::from_utf8_lossy(&self.seen).into_owned();
        let limit = limit();
        panic!("{} did not end within {limit:?}\n--- standard output\n{out}\n--- standard error\n{err}", self.command);
    }
}

impl Drop for Running {
    /// A test that panics leaves no process behind.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::Workdir;

    #[test]
    fn a_crash_is_shown_with_its_stacks() {
        let dir = Workdir::new();
        let report = dir.join("hs_err_pid7.log");
        let text = "# head\n---  T H R E A D  ---\nCurrent thread: \"main\"\nV  [libjvm.so]  f()\nsiginfo: 11\nRAX=0\n";
        fs::write(&report, text).expect("a file");
        let out = format!("# An error report file with more information is saved as:\n# {}\n#\n", report.display());
        assert_eq!(crash(&out), "\n---  T H R E A D  ---\nCurrent thread: \"main\"\nV  [libjvm.so]  f()");
        assert_eq!(crash("right\n"), "");
        assert_eq!(crash("# An error report file with more information is saved as:\n# /nowhere\n"), "");
    }
}
