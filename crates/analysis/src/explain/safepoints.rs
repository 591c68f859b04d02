//! Threads that make all others wait for a safepoint.

use trace::filter::Pattern;
use trace::time::Nanos;

use super::{Explanation, Finding, part};
use crate::safepoints::{LateBy, LateRow, SafepointReport};

/// All threads wait: a hundredth of the time is lost to each of them.
const LEAST_SHARE: f64 = 0.01;
/// Less is what a machine with few processors costs now and then.
const LEAST_TOTAL: Nanos = Nanos(20_000_000);

/// Stops that took long to reach, if they cost much in so much time.
#[derive(Clone, Debug)]
pub struct Lateness<'a> {
    /// How long all threads together had to be waited for.
    pub sync: Nanos,
    /// Of the time of the trace.
    pub share: f64,
    /// In how many stops.
    pub stops: u64,
    /// The longest of them.
    pub longest: Nanos,
    /// Who cost most; `None` if no late thread was seen.
    pub worst: Option<LateRow<'a>>,
}

impl<'a> Explanation<'a> {
    /// Adds what stands out among safepoints; `own` are patterns for code that is the reader's own.
    pub fn add_safepoints(&mut self, report: &'a SafepointReport, own: &[Pattern]) {
        self.findings.extend(lateness(report, self.length, own).map(Finding::Lateness));
        self.by_cost();
        self.to_safepoint = (report.sums().count > 0).then(|| report.sums().sync);
    }
}

fn lateness<'a>(report: &'a SafepointReport, length: Nanos, own: &[Pattern]) -> Option<Lateness<'a>> {
    let slow = report.slow();
    let share = part(slow.sync.0, length.0);
    let costs_much = slow.sync >= LEAST_TOTAL && share >= LEAST_SHARE;
    costs_much.then(|| Lateness {
        sync: slow.sync,
        share,
        stops: slow.count,
        longest: slow.longest,
        worst: report.late(LateBy::Line, own.to_vec()).into_iter().next(),
    })
}
