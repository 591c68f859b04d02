//! One JVM run and what it took.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Linux counts CPU time of processes in hundredths of a second, whatever the kernel's own tick.
const TICKS_PER_SECOND: u32 = 100;

/// A finished run.
pub(crate) struct Run {
    /// From start to end, as seen from outside.
    pub(crate) wall: Duration,
    /// CPU time of the process, user and system, all threads, to its very end.
    pub(crate) cpu: Duration,
    /// The `key=value` lines it printed.
    values: HashMap<String, u64>,
}

impl Run {
    /// A number the program printed.
    pub(crate) fn value(&self, key: &str) -> Result<u64, String> {
        self.values.get(key).copied().ok_or(format!("the program did not print {key}"))
    }
}

/// Runs the command to its end. No other child may be running.
pub(crate) fn run(command: &mut Command) -> Result<Run, String> {
    let cpu_before = cpu_of_children()?;
    let start = Instant::now();
    let output = command.output().map_err(|e| format!("{command:?} does not start: {e}"))?;
    let wall = start.elapsed();
    let cpu = cpu_of_children()? - cpu_before;
    let Output { status, stdout, stderr } = output;
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    if !status.success() {
        return Err(format!("{command:?} ended with {status}:\n{out}\n{err}"));
    }
    let pairs = out.lines().filter_map(|line| line.split_once('='));
    let values = pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect();
    Ok(Run { wall, cpu, values })
}

/// CPU time of all children that have ended.
fn cpu_of_children() -> Result<Duration, String> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|e| format!("/proc/self/stat cannot be read: {e}"))?;
    // The second field, the program's name, may contain spaces; cutime and cstime are fields 16 and 17.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<u32>().ok());
    let (user, system) = ticks(16).zip(ticks(17)).ok_or("/proc/self/stat has no times of children")?;
    Ok(Duration::from_secs(1) * (user + system) / TICKS_PER_SECOND)
}
