//! What stands out among requests: a first one that takes much longer than others, and initialisers that run in a request.

use trace::filter::Pattern;
use trace::time::Nanos;

use super::{Explanation, Finding, MOST, SlowInitialiser, part};
use crate::requests::{RequestReport, RequestRow};

/// Nobody notices less.
const LEAST: Nanos = Nanos(100_000_000);
/// A first request that takes so many times as long as half of the others do is not just one of the slower ones.
const TIMES: u64 = 10;

/// A first request that took much longer than others.
#[derive(Clone, Debug)]
pub struct SlowRequest<'a> {
    /// Which, and where its time went.
    pub row: RequestRow<'a>,
    /// How long half of the requests of its entry point took at most.
    pub median: Nanos,
    /// Of the time of the trace.
    pub share: f64,
}

impl<'a> Explanation<'a> {
    /// Adds what stands out among requests, and to initialisers the request that had to wait for them; `own` are patterns for code that is
    /// the reader's own. Initialisers come [before](Self::add_warm_up).
    pub fn add_requests(&mut self, report: &'a RequestReport, own: &[Pattern]) {
        self.has_requests = !report.is_empty();
        let mut slow = Vec::new();
        for entry in report.entries() {
            let rows = report.requests(entry.method, own);
            for finding in &mut self.findings {
                if let Finding::Initialiser(initialiser) = finding {
                    name_request(initialiser, &rows);
                }
            }
            let Some(median) = entry.median() else { continue };
            let is_slow = |row: &RequestRow<'_>| row.took >= LEAST && row.took.0 >= median.0.saturating_mul(TIMES);
            let first = rows.into_iter().find(|row| row.number == 1).filter(is_slow);
            slow.extend(first.map(|row| SlowRequest { share: part(row.took.0, self.length.0), row, median }));
        }
        slow.sort_by_key(|slow| std::cmp::Reverse(slow.row.took));
        self.findings.extend(slow.into_iter().take(MOST).map(Finding::Request));
        self.by_cost();
    }
}

/// Says in which of the requests an initialiser ran.
fn name_request<'a>(initialiser: &mut SlowInitialiser<'a>, rows: &[RequestRow<'a>]) {
    let ran = |row: &&RequestRow<'a>| row.initialisers.iter().any(|part| part.class == initialiser.row.class);
    if let Some(row) = rows.iter().find(ran) {
        initialiser.request.get_or_insert((row.method, row.number));
    }
}
