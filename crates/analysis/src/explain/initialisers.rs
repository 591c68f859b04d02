//! What stands out of the start: static initialisers that keep a thread busy for long, and look-ups of classes that fail again and again.

use trace::filter::Pattern;
use trace::time::Nanos;

use super::cost::LEAST_SHARE;
use super::{Explanation, Finding, MOST, part};
use crate::warm_up::{InitialiserRow, WarmUpReport};

/// Nobody notices less.
const LEAST: Nanos = Nanos(100_000_000);
/// So long a wait is noticed, however long the recording is.
const LONG: Nanos = Nanos(500_000_000);

/// A failed look-up costs some 10 us and more, so that these cost a hundredth of a second at least.
const MANY_LOOKUPS: u64 = 1000;

/// A static initialiser that took long.
#[derive(Clone, Debug)]
pub struct SlowInitialiser<'a> {
    /// Which.
    pub row: InitialiserRow<'a>,
    /// What it took itself, of the time of the trace.
    pub share: f64,
    /// The request that had to wait for it, by its entry point and number, if one is known.
    pub request: Option<(&'a str, u64)>,
}

impl<'a> Explanation<'a> {
    /// Adds what stands out of the start; `own` are patterns for code that is the reader's own.
    pub fn add_warm_up(&mut self, report: &'a WarmUpReport, own: &[Pattern]) {
        let length = self.length;
        let slow = report.initialisers(own.to_vec()).into_iter().filter_map(|row| {
            let share = part(row.own.0, length.0);
            let is_slow = row.own >= LONG || (row.own >= LEAST && share >= LEAST_SHARE);
            is_slow.then_some(Finding::Initialiser(SlowInitialiser { row, share, request: None }))
        });
        self.findings.extend(slow.take(MOST));
        let mut lines = Vec::new();
        let failed = report.failed_lookups(own.to_vec()).into_iter().filter(|row| {
            // Loaders ask each other, so that a look-up may fail in several.
            let is_new = !lines.contains(&row.caused_by);
            lines.push(row.caused_by);
            is_new && row.count >= MANY_LOOKUPS
        });
        self.findings.extend(failed.take(MOST).map(Finding::FailedLookups));
        self.by_cost();
        self.has_start = !report.is_empty();
    }
}
