//! Of which requests the time is divided: the first, the tenth and so on of each entry point, and its slowest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trace::filter::Pattern;
use trace::time::Nanos;

/// The numbers of requests that show how a program becomes warm.
const MILESTONES: [u64; 4] = [1, 10, 100, 1000];

/// Which requests are to be looked at in detail.
#[derive(Clone, Debug)]
pub struct Choice {
    /// How many of the slowest of each entry point.
    pub slowest: usize,
    /// This one alone of each entry point, instead of the first, tenth and so on and the slowest.
    pub number: Option<u64>,
    /// Only entry points with these names; all if empty.
    pub entries: Vec<Pattern>,
}

impl Default for Choice {
    fn default() -> Self {
        Choice { slowest: 3, number: None, entries: Vec::new() }
    }
}

impl Choice {
    /// Whether an entry point counts.
    pub(super) fn selects(&self, method: &str) -> bool {
        self.entries.is_empty() || self.entries.iter().any(|pattern| pattern.matches(method))
    }

    /// Whether a request is chosen by its number.
    pub(super) fn names(&self, number: u64) -> bool {
        self.number.map_or_else(|| Choice::is_milestone(number), |wanted| wanted == number)
    }

    /// Whether a request is one of the first, tenth and so on.
    pub fn is_milestone(number: u64) -> bool {
        MILESTONES.contains(&number)
    }

    /// How many of the slowest are kept.
    pub(super) fn most_slowest(&self) -> usize {
        if self.number.is_some() { 0 } else { self.slowest }
    }
}

/// The slowest requests so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Slowest(BinaryHeap<Reverse<(Nanos, Reverse<u64>)>>);

impl Slowest {
    /// Whether a request is one of the slowest so far; then it is one from now on.
    pub(super) fn takes(&mut self, number: u64, took: Nanos, most: usize) -> bool {
        self.0.push(Reverse((took, Reverse(number))));
        let shortest = if self.0.len() > most { self.0.pop() } else { None };
        shortest.is_none_or(|Reverse((_, Reverse(left)))| left != number)
    }

    /// Whether it is still one of them.
    pub(super) fn has(&self, number: u64) -> bool {
        self.0.iter().any(|Reverse((_, Reverse(one)))| *one == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_known_at_any_time() {
        let mut slowest = Slowest::default();
        let takes: Vec<bool> = [(1, 50), (2, 70), (3, 40), (4, 60), (5, 60)]
            .into_iter()
            .map(|(number, took)| slowest.takes(number, Nanos(took), 2))
            .collect();
        // Of two that took as long it is the first.
        assert_eq!(takes, [true, true, false, true, false]);
        assert_eq!([1, 2, 4].map(|number| slowest.has(number)), [false, true, true]);
        assert!(!Slowest::default().takes(9, Nanos(1000), 0));
    }
}
