//! `martini warmup PID`: whether a JVM is warm, seen from outside. Needs no agent.

use std::fs;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::bail;
use attach::{CpuUse, CpuWatch, Pid, Process};
use serde_json::json;
use trace::time::Nanos;

use crate::attach::until::{Asked, time};
use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::human::{counted, duration, share};

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
}

/// It is looked at so often.
const EACH: Duration = Duration::from_millis(200);
/// A compiler that uses less of one processor has an empty queue most of the time.
const IDLE: f64 = 0.01;
/// A program that uses less does nothing that could become warm.
const NOTHING: f64 = 0.01;
/// A compiler whose use has not fallen below this part of what it was in the window before does not settle.
const FALLS: f64 = 0.5;

/// What a JVM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// C2 has had nothing to do, while the program ran.
    Warm,
    /// C2 compiles.
    Compiling,
    /// The program does nothing, so nothing can be said.
    Idle,
    /// C2 compiles, and no less than before.
    Never,
}

/// What was seen within a window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    length: Duration,
    used: CpuUse,
}

impl Seen {
    fn of(&self, time: Duration) -> f64 {
        let length = self.length.as_secs_f64();
        if length > 0.0 { time.as_secs_f64() / length } else { 0.0 }
    }

    fn state(&self) -> State {
        match (self.of(self.used.c2) < IDLE, self.of(self.used.program) < NOTHING) {
            (false, _) => State::Compiling,
            (true, true) => State::Idle,
            (true, false) => State::Warm,
        }
    }

    fn says(&self, state: State) -> String {
        let (c2, program) = (share(self.of(self.used.c2)), share(self.of(self.used.program)));
        let window = duration(Nanos(self.length.as_nanos() as u64));
        match state {
            State::Warm => format!("warm: in the last {window} C2 used {c2} of a processor, and the program {program}"),
            State::Compiling => format!("not warm: in the last {window} C2 used {c2} of a processor"),
            State::Idle => format!(
                "idle: in the last {window} the program used only {program} of a processor, so that nothing was compiled; put load on it"
            ),
            State::Never => format!(
                "not warm, and will not be: C2 used {c2} of a processor in the last {window}, no less than before; \
                 martini warmup of a trace with warmup=on shows what is compiled again"
            ),
        }
    }
}

/// What was used, at moments of the past.
#[derive(Debug, Default)]
struct History(Vec<(Instant, CpuUse)>);

impl History {
    fn add(&mut self, at: Instant, used: CpuUse, keep: Duration) {
        self.0.push((at, used));
        // One that is older stays, from which a whole window reaches to now.
        while self.0.get(1).is_some_and(|&(second, _)| at.saturating_duration_since(second) >= keep) {
            self.0.remove(0);
        }
    }

    /// What was used within a length of time that ended so long ago; `None` if it is not known for so long.
    fn within(&self, length: Duration, ago: Duration) -> Option<Seen> {
        let &(last, _) = self.0.last()?;
        let at = |before: Duration| {
            let until = |&&(at, _): &&(Instant, CpuUse)| last.saturating_duration_since(at) >= before;
            self.0.iter().rev().find(until)
        };
        let (&(begin, first), &(end, used)) = (at(ago + length)?, at(ago)?);
        Some(Seen { length: end.saturating_duration_since(begin), used: used.since(&first) })
    }

    /// Whether C2 has used no less than in the window before.
    fn does_not_fall(&self, window: Duration) -> bool {
        let (Some(now), Some(before)) = (self.within(window, Duration::ZERO), self.within(window, window)) else {
            return false;
        };
        now.of(now.used.c2) >= FALLS * before.of(before.used.c2)
    }
}

/// Says whether a JVM is warm, or waits until it is.
///
/// # Errors
/// It is no JVM, or cannot be looked at.
pub(crate) fn run(pid: u32, readiness: &Readiness, as_json: bool) -> anyhow::Result<u8> {
    let process = Process::find(Pid(pid))?;
    let mut watch = CpuWatch::new(&process);
    let mut history = History::default();
    let (asked, begun) = (Asked::listen()?, Instant::now());
    let window = readiness.window;
    let budget = if readiness.wait { readiness.budget } else { window };
    let keep = (2 * window).max(Duration::from_secs(1));
    let shows = std::io::stderr().is_terminal() && !as_json;
    let (seen, state) = loop {
        let now = Instant::now();
        history.add(now, watch.look()?, keep);
        if history.0.len() == 1 && !watch.has_c2() {
            bail!(
                "process {pid} has no thread of C2: it is no JVM, has not started yet, or compiles with C1 or not at all (-Xint)"
            );
        }
        if let Some(seen) = history.within(window, Duration::ZERO) {
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
            let used = history.within(Duration::ZERO, Duration::ZERO).map(|seen| seen.used).unwrap_or_default();
            break (Seen { length, used }, State::Compiling);
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
            "state": match state {
                State::Warm => "warm",
                State::Compiling => "compiling",
                State::Idle => "idle",
                State::Never => "never",
            },
            "reason": seen.says(state),
            "window_nanos": seen.length.as_nanos() as u64,
            "waited_nanos": waited.as_nanos() as u64,
            "c1_nanos": seen.used.c1.as_nanos() as u64,
            "c2_nanos": seen.used.c2.as_nanos() as u64,
            "program_nanos": seen.used.program.as_nanos() as u64,
            "processors": processors,
        });
        print_json(&document, &mut out)?;
    } else {
        let may =
            processors.map_or(String::new(), |n| format!(" (it may use {})", counted(n, "processor", "processors")));
        writeln!(out, "JVM {pid} is {}{may}", seen.says(state))?;
    }
    Ok(match state {
        State::Warm => exit::OK,
        State::Compiling | State::Idle => exit::NOT_WARM,
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

    fn used(c2: u64, program: u64) -> CpuUse {
        let millis = Duration::from_millis;
        CpuUse { c1: Duration::ZERO, c2: millis(c2), program: millis(program) }
    }

    /// Looks each second, each with what C2 and the program have used since the one before.
    fn history(uses: &[(u64, u64)]) -> History {
        let (mut history, mut sum, begun) = (History::default(), (0, 0), Instant::now());
        for (second, &(c2, program)) in uses.iter().enumerate() {
            sum = (sum.0 + c2, sum.1 + program);
            history.add(begun + Duration::from_secs(second as u64), used(sum.0, sum.1), Duration::from_secs(6));
        }
        history
    }

    const WINDOW: Duration = Duration::from_secs(3);

    fn state(uses: &[(u64, u64)]) -> Option<State> {
        history(uses).within(WINDOW, Duration::ZERO).map(|seen| seen.state())
    }

    #[test]
    fn a_jvm_is_warm_once_c2_has_had_nothing_to_do_for_a_window() {
        assert_eq!(state(&[(900, 900), (900, 900), (0, 900)]), None, "no whole window yet");
        assert_eq!(state(&[(900, 900), (900, 900), (0, 900), (0, 900)]), Some(State::Compiling));
        assert_eq!(state(&[(900, 900), (900, 900), (0, 900), (5, 900), (0, 900)]), Some(State::Warm));
        assert_eq!(state(&[(900, 900), (0, 1), (0, 2), (0, 1)]), Some(State::Idle));
    }

    #[test]
    fn one_that_compiles_as_much_as_before_does_not_settle() {
        let falls = [(0, 900), (900, 900), (900, 900), (900, 900), (300, 900), (200, 900), (100, 900)];
        assert!(!history(&falls).does_not_fall(WINDOW));
        let stays = [(0, 900), (400, 900), (500, 900), (400, 900), (500, 900), (400, 900), (450, 900)];
        assert!(history(&stays).does_not_fall(WINDOW));
        assert!(!history(&stays[..4]).does_not_fall(WINDOW), "not known for so long");
    }

    #[test]
    fn processors_are_counted_as_the_jvm_does() {
        let all = |list: &str| list.split(',').filter_map(range).sum::<u64>();
        assert_eq!((all("0-7"), all("0-1,4,6-7"), all("x")), (8, 5, 0));
        assert_eq!((quota("150000 100000\n"), quota("max 100000\n"), quota("1 0")), (Some(2), None, None));
    }
}
