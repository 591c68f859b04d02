//! Which part of a trace counts: from when to when.

use trace::model::Element;
use trace::time::{Nanos, Time};

/// What of a trace is to be gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only what is allocated from this time after the beginning of the trace on ...
    pub from: Nanos,
    /// ... and earlier than this.
    pub to: Option<Nanos>,
    /// Also when it is allocated: [`AllocationReport::over_time`](crate::allocations::AllocationReport::over_time).
    pub over_time: bool,
}

/// Where a time lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Position {
    Before,
    #[default]
    Inside,
    After,
}

/// When an element was written, or what it is about happened, if it is one of those between the beginning of a trace and its end. The
/// first one is the beginning.
pub fn time_of(element: &Element<'_>) -> Option<Time> {
    match element {
        Element::TraceStart(start) => Some(start.time),
        Element::ThreadStart(start) => Some(start.time),
        Element::Node(_) | Element::ProcessCreate(_) | Element::AgentCreate(_) | Element::AgentDestroy(_) => None,
        element => element.event_time(),
    }
}

/// The times of a trace, and which of them count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    from: Nanos,
    to: Option<Nanos>,
    origin: Option<Time>,
    end: Time,
}

impl Clock {
    pub(crate) fn of(scope: &Scope) -> Clock {
        Clock { from: scope.from, to: scope.to, ..Clock::default() }
    }

    /// Takes in the time of an element. The first one of the recording, of a thread or of an event is the beginning; definitions may be
    /// older.
    pub(crate) fn note(&mut self, element: &Element<'_>) {
        if let Some(time) = time_of(element) {
            self.origin.get_or_insert(time);
            self.end = self.end.max(time);
        }
    }

    /// Takes in a time of which the trace says no more than that it belongs to it.
    pub(crate) fn reach(&mut self, time: Time) {
        if self.origin.is_some() {
            self.end = self.end.max(time);
        }
    }

    /// When the trace begins.
    pub(crate) fn origin(&self) -> Time {
        self.origin.unwrap_or_default()
    }

    /// How long the trace is.
    pub(crate) fn length(&self) -> Nanos {
        self.end.since(self.origin())
    }

    /// Whether only a part counts.
    pub(crate) fn is_window(&self) -> bool {
        self.from.0 > 0 || self.to.is_some()
    }

    /// Where a time lies.
    pub(crate) fn position(&self, time: Time) -> Position {
        if !self.is_window() {
            return Position::Inside;
        }
        match time.since(self.origin()) {
            since if since < self.from => Position::Before,
            since if self.to.is_some_and(|to| since >= to) => Position::After,
            _ => Position::Inside,
        }
    }

    /// The part that counts: from when to when.
    pub(crate) fn part(&self) -> (Time, Time) {
        let at = |after: Nanos| Time(self.origin().0.saturating_add(after.0));
        let begin = at(self.from);
        (begin, self.to.map_or(self.end, |to| self.end.min(at(to))).max(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_follow_each_other_share_no_time() {
        let clock = |from, to: Option<u64>| Clock {
            from: Nanos(from),
            to: to.map(Nanos),
            origin: Some(Time(100)),
            end: Time(200),
        };
        for time in [0, 100, 109, 110, 111, 149, 150, u64::MAX] {
            let clocks = [clock(0, Some(10)), clock(10, Some(50)), clock(50, None)];
            let inside = clocks.iter().filter(|clock| clock.position(Time(time)) == Position::Inside);
            assert_eq!(inside.count(), 1, "{time}");
        }
        assert_eq!(clock(10, Some(50)).part(), (Time(110), Time(150)));
        assert_eq!(clock(10, None).part(), (Time(110), Time(200)));
        assert_eq!(clock(500, Some(600)).part(), (Time(600), Time(600)));
        assert_eq!(clock(u64::MAX, Some(0)).position(Time(u64::MAX)), Position::Before);
    }
}
