//! How much the numbers of the tables grow in a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::figures::{Figures, Topic, VALUES};

/// Rates are those of so long a time, or longer where numbers come more seldom.
const WINDOW: Duration = Duration::from_secs(5);
/// What is older is kept once in each window, ...
const RECENT: Duration = Duration::from_secs(10);
/// ... and nothing is kept longer.
const LONGEST: Duration = Duration::from_secs(120);

/// The sums of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct History {
    sights: VecDeque<Sight>,
}

#[derive(Debug)]
struct Sight {
    at: Instant,
    figures: Figures,
    /// Of each topic and value over all rows.
    sums: [[u64; VALUES]; Topic::ALL.len()],
}

/// The figures with which the last ones are to be compared, and how long ago they were so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since<'a> {
    topic: Topic,
    value: usize,
    before: &'a Figures,
    /// The sum of all rows then, and now.
    sums: [u64; 2],
    seconds: f64,
}

impl Since<'_> {
    /// How much the value of a row grows in a second.
    pub(crate) fn rate(&self, name: &str, now: u64) -> f64 {
        let before = self.before.rows(self.topic).get(name).map_or(0, |row| row[self.value]);
        now.saturating_sub(before) as f64 / self.seconds
    }

    /// How much the sum of all rows does.
    pub(crate) fn rate_of_all(&self) -> f64 {
        self.sums[1].saturating_sub(self.sums[0]) as f64 / self.seconds
    }
}

impl History {
    /// What is known now.
    pub(crate) fn push(&mut self, at: Instant, figures: Figures) {
        let sums = Topic::ALL.map(|topic| std::array::from_fn(|value| figures.sum(topic, value)));
        self.sights.push_back(Sight { at, figures, sums });
        let mut kept: Option<Instant> = None;
        self.sights.retain(|sight| {
            let age = at - sight.at;
            let is_kept = age <= RECENT || age <= LONGEST && kept.is_none_or(|kept| sight.at - kept >= WINDOW);
            kept = if is_kept { Some(sight.at) } else { kept };
            is_kept
        });
    }

    /// What was known last.
    pub(crate) fn last(&self) -> Option<&Figures> {
        self.sights.back().map(|sight| &sight.figures)
    }

    /// With what the values of a topic's rows are to be compared. They may be written from time to time only: rates are those between two times
    /// at which they changed, at least the window apart. `None` if nothing is known of that yet.
    pub(crate) fn since(&self, topic: Topic, value: usize) -> Option<Since<'_>> {
        let sum = |at: usize| self.sights[at].sums[topic as usize][value];
        let first_like = |at: usize| (0..=at).find(|&other| sum(other) == sum(at)).unwrap_or(at);
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
        let before = first_like((0..last).rev().find(is_old).unwrap_or(0));
        let seconds = (at - self.sights[before].at).as_secs_f64();
        let sums = [sum(before), sum(newest)];
        (seconds > 0.0).then(|| Since { topic, value, before: &self.sights[before].figures, sums, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(sums: &[(u64, u64)]) -> History {
        let begin = Instant::now();
        let mut history = History::default();
        for &(second, sum) in sums {
            history.push(begin + Duration::from_secs(second), Figures::with(Topic::Locks, "lock", [0, sum, 0, 0, 0]));
        }
        history
    }

    /// The rate of the only row, after sums that were seen at these seconds.
    fn rate(sums: &[(u64, u64)]) -> Option<f64> {
        let history = history(sums);
        let now = history.last()?.rows(Topic::Locks).get("lock")?[1];
        let since = history.since(Topic::Locks, 1)?;
        assert_eq!(since.rate("lock", now), since.rate_of_all());
        Some(since.rate_of_all())
    }

    #[test]
    fn little_is_kept_of_what_is_long_ago() {
        let history = history(&(0..10_000).map(|second| (second, second)).collect::<Vec<_>>());
        assert!((30..40).contains(&history.sights.len()), "{}", history.sights.len());
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
        for end in 45..60 {
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
