//! What a thread did when: a timeline of slices, each with the time spent in each state.
//!
//! The length of a trace is known only at its end, so slices grow: when time leaves the last one, all become twice as wide.

use trace::time::{Nanos, Time};

/// Slices of a timeline.
const SLICES: usize = 48;

/// Width of a slice at first.
const FIRST_WIDTH: u64 = 1 << 16;

/// What a thread may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// It waits for a monitor that another thread owns.
    Blocked,
    /// It is in `Object.wait`.
    Waiting,
    /// It is parked by `java.util.concurrent`.
    Parked,
    /// It is in `Thread.sleep`.
    Sleeping,
    /// None of these: it runs, or could run, or waits for input or output, or for the JVM. In traces of old profilers, and earlier ones
    /// of Martini, it may sleep.
    Running,
}

impl State {
    /// All of them; those in which a thread waits come first.
    pub const ALL: [State; 5] = [State::Blocked, State::Waiting, State::Parked, State::Sleeping, State::Running];
    /// In so many it waits.
    pub const STALLS: usize = State::ALL.len() - 1;

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Blocked => "blocked",
            State::Waiting => "waiting",
            State::Parked => "parked",
            State::Sleeping => "sleeping",
            State::Running => "running",
        }
    }
}

/// Something for each state, in the order of [`State::ALL`].
pub type ByState<T> = [T; State::ALL.len()];

/// From when to when a trace reaches, and which part of that counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    origin: Option<Time>,
    end: Time,
    /// From the origin on, until when; all of it if absent.
    from: Nanos,
    to: Option<Nanos>,
    width: u64,
}

impl Span {
    /// Only what lies between two moments after the beginning counts.
    pub(super) fn window(from: Nanos, to: Option<Nanos>) -> Self {
        Span { from, to, ..Span::default() }
    }

    /// Extends the span to a time, which begins it if it is the first.
    pub(super) fn reach(&mut self, time: Time) {
        if self.origin.is_none() {
            self.origin = Some(time);
            self.width = FIRST_WIDTH;
        }
        self.end = self.end.max(time);
        let length = self.end.since(self.begin()).0;
        while self.width.saturating_mul(SLICES as u64) < length {
            self.width *= 2;
        }
    }

    /// The time of the first element.
    pub(super) fn origin(&self) -> Option<Time> {
        self.origin
    }

    /// The latest time of all.
    pub(super) fn end(&self) -> Time {
        self.end
    }

    /// Where counting begins.
    fn begin(&self) -> Time {
        Time(self.origin.unwrap_or_default().0.saturating_add(self.from.0))
    }

    /// Where counting ends, unless it is the end of the trace.
    pub(super) fn limit(&self) -> Option<Time> {
        self.to.map(|to| Time(self.origin.unwrap_or_default().0.saturating_add(to.0)))
    }

    /// The part of a length of time that counts.
    pub(super) fn clip(&self, since: Time, until: Time) -> Option<(Time, Time)> {
        let since = since.max(self.begin());
        let until = self.limit().map_or(until, |limit| until.min(limit));
        (since <= until).then_some((since, until))
    }

    /// Width of a slice, and how many of them the span takes.
    pub(super) fn slices(&self) -> (Nanos, usize) {
        let until = self.clip(self.begin(), self.end).map_or(self.begin(), |(_, until)| until);
        let length = until.since(self.begin()).0;
        let slices = length.div_ceil(self.width.max(1)).clamp(1, SLICES as u64);
        (Nanos(self.width), slices as usize)
    }
}

/// Nanoseconds in each state, slice by slice. Single precision is more than a picture needs.
#[derive(Clone, Debug)]
pub(super) struct TimelineRow {
    width: u64,
    slices: Box<[ByState<f32>; SLICES]>,
}

impl TimelineRow {
    pub(super) fn new() -> Self {
        TimelineRow { width: FIRST_WIDTH, slices: Box::new([ByState::default(); SLICES]) }
    }

    /// Adds time in a state, clipped to the span.
    pub(super) fn add(&mut self, span: &Span, state: State, since: Time, until: Time) {
        self.widen(span.width);
        let Some((since, until)) = span.clip(since, until) else { return };
        let (from, to) = (since.since(span.begin()).0, until.since(span.begin()).0);
        let slice_at = |nanos: u64| usize::try_from(nanos / self.width).unwrap_or(SLICES).min(SLICES - 1);
        for slice in slice_at(from)..=slice_at(to) {
            let begin = (slice as u64).saturating_mul(self.width);
            let overlap = to.min(begin.saturating_add(self.width)).saturating_sub(from.max(begin));
            self.slices[slice][state as usize] += overlap as f32;
        }
    }

    /// The slices as wide as the span's by now: nanoseconds in each state.
    pub(super) fn slices(&mut self, span: &Span) -> &[ByState<f32>] {
        self.widen(span.width);
        &self.slices[..span.slices().1]
    }

    fn widen(&mut self, width: u64) {
        while self.width < width {
            for slice in 0..SLICES {
                let pair = |half: usize| self.slices.get(2 * slice + half).copied().unwrap_or_default();
                let (one, other) = (pair(0), pair(1));
                self.slices[slice] = std::array::from_fn(|state| one[state] + other[state]);
            }
            self.width *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_time_is_lost_when_slices_grow(
            stays in proptest::collection::vec((0_u64..1 << 40, 0_u64..1 << 36, prop::sample::select(&State::ALL[..])), 1..40),
            from in prop_oneof![Just(0_u64), 0_u64..1 << 38],
        ) {
            let mut span = Span::window(Nanos(from), None);
            span.reach(Time(1000));
            let mut timeline = TimelineRow::new();
            let mut sums = ByState::<f64>::default();
            for &(since, length, state) in &stays {
                let (since, until) = (Time(1000 + since), Time(1000 + since + length));
                span.reach(until);
                timeline.add(&span, state, since, until);
                sums[state as usize] += span.clip(since, until).map_or(0.0, |(since, until)| until.since(since).0 as f64);
            }
            let (width, count) = span.slices();
            let slices = timeline.slices(&span);
            prop_assert_eq!(slices.len(), count);
            for state in 0..4 {
                let sum: f64 = slices.iter().map(|slice| f64::from(slice[state])).sum();
                prop_assert!((sum - sums[state]).abs() <= sums[state] * 1e-4 + 1.0, "{} {}", sum, sums[state]);
            }
            // They are as narrow as they can be.
            let length = span.end().since(span.begin()).0;
            prop_assert!(width.0 == FIRST_WIDTH || width.0 * (SLICES as u64) < 2 * length);
        }

        #[test]
        fn any_time_is_taken(times in proptest::collection::vec(any::<u64>(), 2..20)) {
            let mut span = Span::default();
            let mut timeline = TimelineRow::new();
            for pair in times.windows(2) {
                span.reach(Time(pair[0]));
                span.reach(Time(pair[1]));
                timeline.add(&span, State::Blocked, Time(pair[0]), Time(pair[1]));
            }
            prop_assert!(!timeline.slices(&span).is_empty());
        }
    }
}
