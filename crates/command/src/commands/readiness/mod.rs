//! `martini warmup PID`: whether a JVM is warm, seen from outside. Needs no agent.

mod methods;

use std::fs;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::bail;
use attach::{CpuWatch, Pid, Process};
use serde_json::json;
use warmth::{History, Seen, State};

use crate::attach::until::{Asked, time};
use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::human::counted;

/// How a JVM is judged, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Readiness {
    /// Of a running JVM: wait until it is warm
    #[arg(long)]
    wait: bool,
    /// Give up waiting after this time: 500ms, 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s", requires = "wait")]
    budget: Duration,
    /// C2 must have had nothing to do for this time
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "5s")]
    window: Duration,
    /// Warm once C2 has compiled this many methods, whatever else it does; the JVM must be recorded with --warmup --ready
    #[arg(long, value_name = "N")]
    methods: Option<u64>,
}

/// It is looked at so often.
const EACH: Duration = Duration::from_millis(200);
/// Says whether a JVM is warm, or waits until it is.
///
/// # Errors
/// It is no JVM, or cannot be looked at.
pub(crate) fn run(pid: u32, readiness: &Readiness, as_json: bool) -> anyhow::Result<u8> {
    let process = Process::find(Pid(pid))?;
    if let Some(wanted) = readiness.methods {
        return methods::run(&process, pid, readiness, wanted, as_json);
    }
    let mut watch = CpuWatch::new(&process);
    let mut history = History::default();
    let (asked, begun) = (Asked::listen()?, Instant::now());
    let window = readiness.window;
    let budget = if readiness.wait { readiness.budget } else { window };
    let shows = std::io::stderr().is_terminal() && !as_json;
    let (seen, state) = loop {
        let now = Instant::now();
        history.add(now, watch.look()?, window);
        if history.begins() && !watch.has_c2() {
            bail!(
                "process {pid} has no thread of C2: it is no JVM, has not started yet, or compiles with C1 or not at all (-Xint)"
            );
        }
        if let Some(seen) = history.last(window) {
            let state = seen.state();
            let is_over = begun.elapsed() >= budget;
            if state == State::Warm || is_over || asked.is_so() || !readiness.wait {
                let never = state == State::Compiling && is_over && history.does_not_fall(window);
                break (seen, if never && readiness.wait { State::Never } else { state });
            }
            if shows {
                eprint!("\r\x1b[K{}", seen.says(state));
            }
        } else if asked.is_so() || begun.elapsed() >= budget + EACH {
            // The budget is shorter than the window.
            let length = begun.elapsed();
            let used = history.last(Duration::ZERO).map(|seen| seen.used).unwrap_or_default();
            break (Seen::of_part(length, used), State::Compiling);
        }
        std::thread::sleep(EACH);
    };
    if shows {
        eprint!("\r\x1b[K");
    }
    let waited = begun.elapsed();
    let mut out = anstream::stdout().lock();
    let processors = processors(&process);
    if as_json {
        let document = json!({
            "pid": pid,
            "state": state.word(),
            "reason": seen.says(state),
            "window_nanos": seen.length.as_nanos() as u64,
            "waited_nanos": waited.as_nanos() as u64,
            "c1_nanos": seen.used.c1.as_nanos() as u64,
            "c2_nanos": seen.used.c2.as_nanos() as u64,
            "program_nanos": seen.used.program.as_nanos() as u64,
            "processors": processors,
        });
        print_json("warmup", &document, &mut out)?;
    } else {
        let may =
            processors.map_or(String::new(), |n| format!(" (it may use {})", counted(n, "processor", "processors")));
        writeln!(out, "JVM {pid} is {}{may}", seen.says(state))?;
    }
    Ok(match state {
        State::Warm => exit::OK,
        State::Compiling | State::Settling | State::Idle => exit::NOT_WARM,
        State::Never => exit::NEVER_WARM,
    })
}

/// How many processors a process may use: as many as it may run on, and as its control group lets it.
fn processors(process: &Process) -> Option<u64> {
    let status = process.read("status").ok()?;
    let status = String::from_utf8_lossy(&status);
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let allowed: u64 = list.trim().split(',').filter_map(range).sum();
    let quota =
        fs::read_to_string(process.folder().join("root/sys/fs/cgroup/cpu.max")).ok().and_then(|text| quota(&text));
    Some(quota.map_or(allowed, |quota| quota.min(allowed)).max(1))
}

/// How many numbers `3` or `0-7` are.
fn range(text: &str) -> Option<u64> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

/// Processors of `cpu.max`, rounded up as the JVM does; `None` without a limit.
fn quota(text: &str) -> Option<u64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0).then(|| quota.div_ceil(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_as_the_jvm_does() {
        let all = |list: &str| list.split(',').filter_map(range).sum::<u64>();
        assert_eq!((all("0-7"), all("0-1,4,6-7"), all("x")), (8, 5, 0));
        assert_eq!((quota("150000 100000\n"), quota("max 100000\n"), quota("1 0")), (Some(2), None, None));
    }
}
