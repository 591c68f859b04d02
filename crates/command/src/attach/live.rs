//! The line on the terminal while a recording is watched.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use attach::Process;

use crate::render::human::{bytes, share};

/// Erases the rest of the line and returns to its beginning.
const BACK: &str = "\x1b[K\r";

/// The line: how long, how large, and what the agent's own threads take.
#[derive(Debug)]
pub(crate) struct Live<'a> {
    process: &'a Process,
    trace: PathBuf,
    is_shown: bool,
    before: Sight,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sight {
    at: Duration,
    size: u64,
    ticks: u64,
}

impl<'a> Live<'a> {
    /// For a trace at that path; nothing is shown unless stderr is a terminal, and one that the JVM does not write to.
    pub(crate) fn new(process: &'a Process, trace: PathBuf) -> Self {
        let mut live = Live {
            process,
            trace,
            is_shown: std::io::stderr().is_terminal() && !shares_terminal(process),
            before: Sight::default(),
        };
        live.before = live.look(Duration::ZERO);
        live
    }

    /// Shows what is so after that time.
    pub(crate) fn show(&mut self, at: Duration) {
        if self.is_shown {
            let now = self.look(at);
            // The terminal may be gone.
            let _ = write!(std::io::stderr(), "{}{BACK}", line(self.before, now));
            self.before = now;
        }
    }

    fn look(&self, at: Duration) -> Sight {
        let size = fs::metadata(&self.trace).map_or(0, |found| found.len());
        Sight { at, size, ticks: if self.is_shown { ticks_of_agent(self.process) } else { 0 } }
    }
}

/// Whether one of a process's standard streams is our terminal.
fn shares_terminal(process: &Process) -> bool {
    let Ok(ours) = fs::read_link("/proc/self/fd/2") else { return false };
    (0..=2).any(|stream| fs::read_link(process.folder().join(format!("fd/{stream}"))).is_ok_and(|its| its == ours))
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "{BACK}");
        }
    }
}

fn line(before: Sight, now: Sight) -> String {
    let time = (now.at - before.at).as_secs_f64().max(0.001);
    let per_second = now.size.saturating_sub(before.size) as f64 / time;
    let ticks = now.ticks.saturating_sub(before.ticks) as f64 / rustix::param::clock_ticks_per_second() as f64;
    format!(
        "martini: {} s; trace {}, +{}/s; agent {} of a CPU",
        now.at.as_secs(),
        bytes(now.size),
        bytes(per_second as u64),
        share(ticks / time)
    )
}

/// The CPU time of the agent's threads, in the system's ticks.
fn ticks_of_agent(process: &Process) -> u64 {
    let tasks = fs::read_dir(process.folder().join("task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| ticks(&fs::read(task.path().join("stat")).ok()?)).sum()
}

/// User and system time of one of the agent's threads, from its line of numbers behind the name in parentheses.
fn ticks(stat: &[u8]) -> Option<u64> {
    let (open, close) = (stat.iter().position(|&byte| byte == b'(')?, stat.iter().rposition(|&byte| byte == b')')?);
    let name = stat.get(open + 1..close)?;
    let is_agents = name.get(..7).is_some_and(|name| name.eq_ignore_ascii_case(b"martini"));
    let fields = std::str::from_utf8(stat.get(close + 1..)?).ok().filter(|_| is_agents)?;
    let mut numbers = fields.split_whitespace().skip(11);
    Some(numbers.next()?.parse::<u64>().ok()? + numbers.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_agents_threads_count() {
        let stat = |name: &str| format!("12 ({name}) S 1 2 3 4 5 6 7 8 9 10 250 17 0 0 20 0 1 0\n").into_bytes();
        assert_eq!(ticks(&stat("martini-writer")), Some(267));
        assert_eq!(ticks(&stat("Martini control")), Some(267));
        assert_eq!(ticks(&stat("martini)( x")), Some(267));
        assert_eq!(ticks(&stat("main")), None);
        assert_eq!(ticks(b"12 (martini) S 1"), None);
        assert_eq!(ticks(b")("), None);
    }

    #[test]
    fn the_line_shows_time_size_rate_and_price() {
        let before = Sight { at: Duration::from_secs(1), size: 1 << 20, ticks: 0 };
        let line = line(before, Sight { at: Duration::from_secs(3), size: 3 << 20, ticks: 2 });
        assert!(line.starts_with("martini: 3 s; trace 3.0 MiB, +1.0 MiB/s; agent "), "{line}");
        // It has to fit into a terminal, or it could not be written over.
        assert!(line.ends_with("% of a CPU") && line.len() < 70, "{line}");
    }
}
