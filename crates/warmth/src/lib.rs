//! Whether a JVM is warm: what its optimising compiler and its program have used of the processors within a window, and whether its
//! requests still get faster.
//!
//! The command looks from outside, the agent from inside; both judge by this.

mod threads;

use std::time::{Duration, Instant};

pub use threads::ThreadKind;

/// A compiler that uses less of one processor has an empty queue most of the time.
const IDLE: f64 = 0.01;
/// A program that uses less does nothing that could become warm.
const NOTHING: f64 = 0.01;
/// A compiler whose use has not fallen below this part of what it was in the window before does not settle.
const FALLS: f64 = 0.5;
/// Fewer requests within a window say nothing.
const FEW: u64 = 20;
/// Requests that take less than this part of what those of the window before took still get faster.
const FASTER: f64 = 0.9;

/// Requests that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requests {
    /// How many.
    pub number: u64,
    /// The sum of the logarithms (to base 2) of how many nanoseconds each took: a few slow ones do not change their mean much.
    pub log_sum: f64,
}

impl Requests {
    fn since(&self, earlier: &Requests) -> Requests {
        Requests { number: self.number.saturating_sub(earlier.number), log_sum: self.log_sum - earlier.log_sum }
    }

    /// The geometric mean; `None` of few.
    fn typical(&self) -> Option<Duration> {
        (self.number >= FEW).then(|| Duration::from_nanos((self.log_sum / self.number as f64).exp2() as u64))
    }
}

/// What was used and done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// CPU time of the threads of C1.
    pub c1: Duration,
    /// CPU time of the threads of C2, or of another optimising compiler.
    pub c2: Duration,
    /// CPU time of threads that are not known to be the JVM's own.
    pub program: Duration,
    /// Its requests, where these are known.
    pub requests: Requests,
}

impl Used {
    /// What was used since an earlier look.
    pub fn since(&self, earlier: &Used) -> Used {
        Used {
            c1: self.c1.saturating_sub(earlier.c1),
            c2: self.c2.saturating_sub(earlier.c2),
            program: self.program.saturating_sub(earlier.program),
            requests: self.requests.since(&earlier.requests),
        }
    }
}

/// What a JVM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// C2 has had nothing to do, while the program ran.
    Warm,
    /// C2 compiles.
    Compiling,
    /// C2 has nothing to do, but requests still get faster.
    Settling,
    /// The program does nothing, so nothing can be said.
    Idle,
    /// C2 compiles, and no less than before.
    Never,
}

impl State {
    /// A word for programs.
    pub fn word(self) -> &'static str {
        match self {
            State::Warm => "warm",
            State::Compiling => "compiling",
            State::Settling => "settling",
            State::Idle => "idle",
            State::Never => "never",
        }
    }
}

/// What was seen within a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// How long it was.
    pub length: Duration,
    /// What was used within it.
    pub used: Used,
    /// How long its requests took.
    pub requests: Trend,
}

/// How long requests took in two windows, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Trend {
    /// There were none, or few in one of the windows.
    #[default]
    Unknown,
    /// There is no window before yet.
    Begins,
    /// In the window before, and in this one.
    Known(Duration, Duration),
}

impl Trend {
    /// Whether requests still get faster, or may do so.
    fn is_falling(self) -> bool {
        match self {
            Trend::Unknown => false,
            Trend::Begins => true,
            Trend::Known(before, now) => now.as_secs_f64() < FASTER * before.as_secs_f64(),
        }
    }
}

impl Seen {
    /// A part of a window that was not whole.
    pub fn of_part(length: Duration, used: Used) -> Seen {
        Seen { length, used, requests: Trend::Unknown }
    }

    fn share(&self, time: Duration) -> f64 {
        let length = self.length.as_secs_f64();
        if length > 0.0 { time.as_secs_f64() / length } else { 0.0 }
    }

    /// The state of the JVM by this window alone.
    pub fn state(&self) -> State {
        match (self.share(self.used.c2) < IDLE, self.share(self.used.program) < NOTHING) {
            (false, _) => State::Compiling,
            (true, true) => State::Idle,
            (true, false) if self.requests.is_falling() => State::Settling,
            (true, false) => State::Warm,
        }
    }

    /// One sentence that says so, and why.
    pub fn says(&self, state: State) -> String {
        let percent = |time| format!("{:.2} %", self.share(time) * 100.0);
        let (c2, program) = (percent(self.used.c2), percent(self.used.program));
        let window = format!("{:.1} s", self.length.as_secs_f64());
        match state {
            State::Warm => format!("warm: in the last {window} C2 used {c2} of a processor, and the program {program}"),
            State::Compiling => format!("not warm: in the last {window} C2 used {c2} of a processor"),
            State::Settling => match self.requests {
                Trend::Known(before, now) => format!(
                    "not warm: C2 has nothing to do, but requests still get faster: {before:.1?} in one window, {now:.1?} in the next"
                ),
                Trend::Unknown | Trend::Begins => {
                    "not warm: C2 has nothing to do; whether requests still get faster shows the next window".into()
                }
            },
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
pub struct History(Vec<(Instant, Used)>);

impl History {
    /// Adds what has been used in all until now; what is older than two windows is forgotten.
    pub fn add(&mut self, at: Instant, used: Used, window: Duration) {
        self.0.push((at, used));
        let keep = (2 * window).max(Duration::from_secs(1));
        // One that is older stays, from which whole windows reach to now.
        while self.0.get(1).is_some_and(|&(second, _)| at.saturating_duration_since(second) >= keep) {
            self.0.remove(0);
        }
    }

    /// Whether nothing was added before the last.
    pub fn begins(&self) -> bool {
        self.0.len() <= 1
    }

    fn used_within(&self, length: Duration, ago: Duration) -> Option<(Duration, Used)> {
        let &(last, _) = self.0.last()?;
        let at = |before: Duration| {
            let until = |&&(at, _): &&(Instant, Used)| last.saturating_duration_since(at) >= before;
            self.0.iter().rev().find(until)
        };
        let (&(begin, first), &(end, used)) = (at(ago + length)?, at(ago)?);
        Some((end.saturating_duration_since(begin), used.since(&first)))
    }

    /// What was seen within the last window; `None` if it is not known for so long.
    pub fn last(&self, window: Duration) -> Option<Seen> {
        let (length, used) = self.used_within(window, Duration::ZERO)?;
        let requests = match (used.requests.typical(), self.used_within(window, window)) {
            (None, _) => Trend::Unknown,
            (Some(_), None) => Trend::Begins,
            (Some(now), Some((_, before))) => {
                before.requests.typical().map_or(Trend::Unknown, |before| Trend::Known(before, now))
            }
        };
        Some(Seen { length, used, requests })
    }

    /// Whether C2 has used no less than in the window before.
    pub fn does_not_fall(&self, window: Duration) -> bool {
        let c2 = |ago| self.used_within(window, ago).map(|(length, used)| used.c2.as_secs_f64() / length.as_secs_f64());
        c2(Duration::ZERO).zip(c2(window)).is_some_and(|(now, before)| now >= FALLS * before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(c2: u64, program: u64) -> Used {
        let millis = Duration::from_millis;
        Used { c2: millis(c2), program: millis(program), ..Used::default() }
    }

    /// Looks each second, each with what C2 and the program have used since the one before, and requests that took so many
    /// milliseconds.
    fn history_with(uses: &[(u64, u64)], requests: &[u64]) -> History {
        let (mut history, mut sum, begun) = (History::default(), (0, 0), Instant::now());
        let mut all = Requests::default();
        for (second, &(c2, program)) in uses.iter().enumerate() {
            sum = (sum.0 + c2, sum.1 + program);
            if let Some(&millis) = requests.get(second) {
                all.number += 100;
                all.log_sum += 100.0 * (millis as f64 * 1e6).log2();
            }
            let used = Used { requests: all, ..used(sum.0, sum.1) };
            history.add(begun + Duration::from_secs(second as u64), used, WINDOW);
        }
        history
    }

    fn history(uses: &[(u64, u64)]) -> History {
        history_with(uses, &[])
    }

    const WINDOW: Duration = Duration::from_secs(3);

    fn state(uses: &[(u64, u64)]) -> Option<State> {
        history(uses).last(WINDOW).map(|seen| seen.state())
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
    fn requests_that_get_faster_are_not_warm() {
        let idle_compiler = [(0, 900); 7];
        let state = |requests: &[u64]| history_with(&idle_compiler, requests).last(WINDOW).map(|seen| seen.state());
        assert_eq!(state(&[50, 50, 50, 50, 30, 30, 30]), Some(State::Settling));
        assert_eq!(state(&[50, 30, 30, 30, 30, 31, 29]), Some(State::Warm));
        assert_eq!(state(&[50, 50, 50]), Some(State::Warm), "no requests say nothing");
        let first = history_with(&idle_compiler[..4], &[50; 4]).last(WINDOW).expect("whole");
        assert_eq!((first.state(), first.requests), (State::Settling, Trend::Begins));
        let seen = history_with(&idle_compiler, &[50, 50, 50, 50, 30, 30, 30]).last(WINDOW).expect("whole");
        assert!(
            seen.says(State::Settling).ends_with("requests still get faster: 50.0ms in one window, 30.0ms in the next")
        );
    }
}
