//! One JVM run and what it took.

use std::collections::HashMap;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// A finished run.
pub(crate) struct Run {
    /// From start to end, as seen from outside.
    pub(crate) wall: Duration,
    /// CPU time of the process, user and system, all threads, to its very end.
    pub(crate) cpu: Duration,
    /// The most memory that it had in use, as the kernel counts it (maximum resident set size).
    pub(crate) rss_bytes: u64,
    /// What it wrote to standard output.
    pub(crate) out: String,
    /// The `key=value` lines of that.
    values: HashMap<String, u64>,
}

impl Run {
    /// A number the program printed.
    pub(crate) fn value(&self, key: &str) -> Result<u64, String> {
        self.values.get(key).copied().ok_or(format!("the program did not print {key}"))
    }
}

/// Runs the command to its end, which has to come within `limit` and with status 0.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Run, String> {
    // Options that reach every JVM would change all variants alike, and nobody would know.
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
        command.env_remove(variable);
    }
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{command:?} does not start: {e}"))?;
    let (send, closed) = channel();
    let out = child.stdout.take().map(|stream| collect(stream, send.clone()));
    let err = child.stderr.take().map(|stream| collect(stream, send));
    let mut late = false;
    for _ in [&out, &err] {
        if closed.recv_timeout((start + limit).saturating_duration_since(Instant::now())).is_err() && !late {
            late = true;
            child.kill().map_err(|e| format!("{command:?} cannot be stopped: {e}"))?;
        }
    }
    let ended = child.wait4().map_err(|e| format!("{command:?} cannot be waited for: {e}"))?;
    let wall = start.elapsed();
    let (out, err) = (text(out), text(err));
    if late {
        return Err(format!("not finished after {} s", limit.as_secs()));
    }
    if !ended.status.success() {
        eprintln!("{command:?} ended with {}:\n{out}{err}", ended.status);
        return Err(failure(ended.status, &out, &err));
    }
    Ok(Run {
        wall,
        cpu: ended.rusage.utime + ended.rusage.stime,
        rss_bytes: ended.rusage.maxrss,
        values: values(&out),
        out,
    })
}

/// Reads a stream to its end on a thread of its own, and says when that has come.
fn collect(mut stream: impl Read + Send + 'static, closed: Sender<()>) -> JoinHandle<Vec<u8>> {
    spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is all there is to show.
        let _ = stream.read_to_end(&mut bytes);
        // Nobody listens any more when the process had to be stopped.
        let _ = closed.send(());
        bytes
    })
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The `key=value` lines whose value is a number.
pub(crate) fn values(out: &str) -> HashMap<String, u64> {
    let pairs = out.lines().filter_map(|line| line.split_once('='));
    pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect()
}

/// One sentence for a run that failed: the agent's own, an exception, or else the last words.
fn failure(status: ExitStatus, out: &str, err: &str) -> String {
    let lines = || out.lines().chain(err.lines()).map(str::trim).filter(|line| !line.is_empty());
    let explains = |line: &&str| line.starts_with("martini:") || line.contains("Exception");
    match lines().find(explains).or_else(|| lines().next_back()) {
        Some(line) => format!("{status}: {line}"),
        None => format!("{status}, without a word"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_run_has_its_numbers() {
        let run = run(&mut shell("echo hello; echo answer=42; echo rest=of it"), LIMIT).expect("it ends well");
        assert_eq!(run.out, "hello\nanswer=42\nrest=of it\n");
        assert_eq!(run.value("answer"), Ok(42));
        assert_eq!(run.value("rest"), Err("the program did not print rest".into()));
        assert!(run.rss_bytes > 100_000, "{}", run.rss_bytes);
    }

    #[test]
    fn a_failure_is_told_in_the_words_that_matter() {
        let failed = ExitStatus::from_raw(1 << 8);
        assert_eq!(
            failure(failed, "", "VM\nmartini: no such option\nbye\n"),
            "exit status: 1: martini: no such option"
        );
        assert_eq!(failure(failed, "out\n", "one\ntwo\n\n"), "exit status: 1: two");
        assert_eq!(failure(failed, "", ""), "exit status: 1, without a word");
        let error = run(&mut shell("echo gone >&2; exit 3"), LIMIT).err();
        assert_eq!(error.as_deref(), Some("exit status: 3: gone"));
    }

    #[test]
    fn a_run_without_end_is_ended() {
        let error = run(&mut shell("exec sleep 3600"), Duration::from_millis(10)).err();
        assert_eq!(error.as_deref(), Some("not finished after 0 s"));
    }
}
