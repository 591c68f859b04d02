//! What the watching thread hands to the writer.

use super::late::LateThread;
use super::line::Stop;
use super::totals::Totals;
use agent_base::clock::Ticks;
use agent_base::mutex::Mutex;

/// What is to be written.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    /// What all stops until that time have cost.
    Totals(Totals, Ticks),
    /// A stop that was slow.
    Stop(Stop),
    /// A thread that was late for it.
    Late(LateThread),
}

/// So many wait for the writer.
const MOST: usize = 16 << 10;

/// Those that the writer has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Reports(Mutex<Vec<Report>>);

impl Reports {
    /// Adds one; false if there is no room. There is for totals, which replace earlier ones.
    pub(super) fn add(&self, report: Report) -> bool {
        let mut reports = self.0.lock();
        if let Report::Totals(..) = report {
            reports.retain(|report| !matches!(report, Report::Totals(..)));
        } else if reports.len() >= MOST {
            return false;
        }
        reports.push(report);
        true
    }

    pub(super) fn take(&self) -> Vec<Report> {
        std::mem::take(&mut self.0.lock())
    }
}
