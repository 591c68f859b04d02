//! How much the numbers of the tables grow in a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::figures::{Figures, Topic, VALUES};

/// Rates are those of so long a time, or longer where numbers come more seldom.
const WINDOW: Duration = Duration::from_secs(5);
/// Nothing that came before is kept longer.
const LONGEST: Duration = Duration::from_secs(300);

/// The sums of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct History {
    sights: VecDeque<Sight>,
}

#[derive(Debug)]
struct Sight {
    at: Instant,
    figures: Figures,
}

/// A topic's sums then, and how long ago that was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since<'a> {
    /// The sums then.
    pub(crate) before: &'a Figures,
    /// Seconds between them and the last that changed.
    pub(crate) seconds: f64,
}

impl Since<'_> {
    /// How much a value of a row grows in a second.
    pub(crate) fn rate(&self, topic: Topic, name: &str, now: &[u64; VALUES], value: usize) -> f64 {
        let before = self.before.rows(topic).get(name).map_or(0, |row| row[value]);
        now[value].saturating_sub(before) as f64 / self.seconds
    }

    /// How much a sum grows in a second.
    pub(crate) fn growth(&self, before: u64, now: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.seconds
    }
}

impl History {
    /// What is known now.
    pub(crate) fn push(&mut self, at: Instant, figures: Figures) {
        while self.sights.len() > 2 && self.sights.front().is_some_and(|sight| at - sight.at > LONGEST) {
            self.sights.pop_front();
        }
        self.sights.push_back(Sight { at, figures });
    }

    /// What was known last.
    pub(crate) fn last(&self) -> Option<&Figures> {
        self.sights.back().map(|sight| &sight.figures)
    }

    /// With what a topic's numbers are to be compared. They may be written from time to time only: rates are those between two times at
    /// which they changed, at least the window apart. `None` if nothing is known of that yet.
    pub(crate) fn since(&self, topic: Topic) -> Option<Since<'_>> {
        let first_like = |at: usize| {
            let sum = self.sights[at].figures.sum(topic, 0);
            self.sights.iter().position(|sight| sight.figures.sum(topic, 0) == sum).unwrap_or(at)
        };
        let newest = self.sights.len().checked_sub(1)?;
        let (now, changed) = (self.sights[newest].at, first_like(newest));
        let before_it = changed.checked_sub(1).map(first_like);
        let gap = before_it.map_or(Duration::ZERO, |before| self.sights[changed].at - self.sights[before].at);
        // Numbers that have not come for three times as long as the last ones took do not come: nothing happens.
        let (at, last) = match self.sights[changed].at {
            at if now - at > WINDOW.max(gap * 3) => (now, newest),
            at => (at, changed),
        };
        let is_old = |&index: &usize| at - self.sights[index].at >= WINDOW;
        let before = &self.sights[first_like((0..last).rev().find(is_old).unwrap_or(0))];
        let seconds = (at - before.at).as_secs_f64();
        (seconds > 0.0).then_some(Since { before: &before.figures, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate of the only row, after sums that were seen at these seconds.
    fn rate(sums: &[(u64, u64)]) -> Option<f64> {
        let begin = Instant::now();
        let mut history = History::default();
        for &(second, sum) in sums {
            history.push(begin + Duration::from_secs(second), Figures::with(Topic::Locks, "lock", [sum, 0, 0, 0, 0]));
        }
        let now = *history.last()?.rows(Topic::Locks).get("lock")?;
        history.since(Topic::Locks).map(|since| since.rate(Topic::Locks, "lock", &now, 0))
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        assert_eq!(rate(&[(0, 7)]), None);
        assert_eq!(rate(&[(0, 0), (1, 10)]), Some(10.0));
        let steady: Vec<_> = (0..100).map(|second| (second, second * 3)).collect();
        assert_eq!(rate(&steady), Some(3.0));
        let faster: Vec<_> = (0..100_u64).map(|second| (second, second * 3 + second.saturating_sub(90) * 20)).collect();
        assert_eq!(rate(&faster), Some(23.0));
    }

    #[test]
    fn numbers_that_come_seldom_have_the_rate_of_the_time_between() {
        for end in 40..50 {
            let steps: Vec<_> = (0..end).map(|second| (second, second / 10 * 50)).collect();
            assert_eq!(rate(&steps), Some(5.0), "{end}");
        }
    }

    #[test]
    fn what_stops_has_no_rate() {
        let stopped: Vec<_> = (0..60).map(|second| (second, second.min(20) * 3)).collect();
        assert_eq!(rate(&stopped), Some(0.0));
        // It may still come.
        assert_eq!(rate(&stopped[..24]), Some(3.0));
    }
}
