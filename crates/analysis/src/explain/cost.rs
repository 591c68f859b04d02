//! What a finding costs, so that findings of all kinds have one order.

use super::churn::BYTES_PER_SECOND;
use super::{Churn, CpuUse, Explanation, Finding, Growth, Rising, part};

/// What costs less of the wall clock of one processor is no finding.
pub(super) const LEAST_SHARE: f64 = 0.01;

impl Explanation<'_> {
    /// The share of the time, or of the heap, that the program loses to a finding. Time is that of one thread or processor, so that more
    /// than 1 is possible. `None` for what may never end: it costs all that is to come.
    pub fn cost(&self, finding: &Finding<'_>) -> Option<f64> {
        match finding {
            Finding::Deadlock(_)
            | Finding::DumpedDeadlock(_)
            | Finding::HeldUp(_)
            | Finding::Queued(_)
            | Finding::Stuck(_) => None,
            Finding::Growth(Growth { bytes, share, .. }) => {
                // Of a heap that is known to be at least as large.
                Some(self.in_use.filter(|in_use| in_use >= bytes).map_or(*share, |in_use| part(*bytes, in_use)))
            }
            Finding::Rise(Rising { rise, .. }) => Some(part(rise.to.saturating_sub(rise.from), rise.to)),
            Finding::Churn(Churn { bytes, share, .. }) => {
                let seconds = self.length.0 as f64 / 1e9;
                let clearing = if seconds > 0.0 { *bytes as f64 / BYTES_PER_SECOND / seconds } else { 0.0 };
                Some(clearing + share * self.pause_share().unwrap_or(0.0))
            }
            Finding::Cpu(CpuUse { time, .. }) => Some(part(time.0, self.length.0)),
            Finding::Contention(contention) => Some(contention.share),
            Finding::Lateness(lateness) => Some(lateness.share),
            Finding::Initialiser(slow) => Some(slow.share),
            Finding::Request(slow) => Some(slow.share),
            Finding::Calls(costly) => Some(costly.share),
            // What they cost is not measured.
            Finding::FailedLookups(_) => Some(0.0),
        }
    }

    /// Puts the findings in order, and drops those that cost next to nothing.
    pub(super) fn by_cost(&mut self) {
        let mut findings = std::mem::take(&mut self.findings);
        findings.retain(|finding| match finding {
            // Memory is lost for good. What is recorded of each object makes the program slow, so that little can be said of its time.
            Finding::Growth(_) | Finding::Rise(_) | Finding::Churn(Churn { rate: None, .. }) => true,
            // It happens once, however long the recording is.
            Finding::Initialiser(_) | Finding::Request(_) | Finding::FailedLookups(_) => true,
            // Without a length there is no share.
            _ => self.length.0 == 0 || self.cost(finding).is_none_or(|cost| cost >= LEAST_SHARE),
        });
        let cost = |finding: &Finding<'_>| self.cost(finding).unwrap_or(f64::INFINITY);
        // Those that cost the same keep their order.
        findings.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        self.findings = findings;
    }
}
