//! The counts so far, while the program runs: on request, and regularly, in case it is killed.
//!
//! The agent's control thread makes them, the writer writes them. The program's threads take no part.

use std::collections::VecDeque;
use std::time::Instant;

use agent_options::beside;

use super::report::SiteCount;
use super::sums::Totals;
use crate::heap_histogram::ClassTotals;
use agent_base::clock::Ticks;
use agent_base::ids::{ClassIndex, ThreadIndex};
use agent_base::mutex::Mutex;
use agent_base::request_file::RequestFile;
use agent_core::core::Core;
use agent_core::core::schedule::Schedule;

/// Snapshots that wait to be written; of more, the oldest is left out, for what is counted is in the next one, too.
const MAX_WAITING: usize = 4;

/// What is counted so far.
pub(crate) struct CountsSnapshot {
    pub(crate) time: Ticks,
    /// What each living thread counted, and what the JVM accounts to it, if it says.
    pub(crate) threads: Vec<(ThreadIndex, Totals, Option<u64>)>,
    /// What sites have counted.
    pub(crate) sites: Vec<SiteCount>,
    /// What a walk of the heap found, if one was requested.
    pub(crate) live: Option<Vec<(ClassIndex, ClassTotals)>>,
}

/// Decides when a snapshot is made, on the control thread, and keeps it for the writer.
pub(super) struct Snapshots {
    request: Mutex<RequestFile>,
    schedule: Mutex<Option<Schedule>>,
    waiting: Mutex<VecDeque<CountsSnapshot>>,
}

impl Snapshots {
    /// Starts the clock, and removes an old request.
    pub(super) fn begin(core: &Core) -> Snapshots {
        let request = Mutex::new(RequestFile::begin(beside(&core.trace_path, "live")));
        let schedule = Mutex::new(Schedule::begin(core.options.every, Instant::now()));
        Snapshots { request, schedule, waiting: Mutex::default() }
    }

    /// Makes a snapshot if it is time for one, or if there is a request, which `make` gets to know.
    pub(super) fn check(&self, core: &Core, make: impl FnOnce(bool)) {
        let is_requested = core.is_reporting() && self.request.lock().take();
        let mut schedule = self.schedule.lock();
        let is_due = schedule.as_mut().is_some_and(|schedule| schedule.is_due(Instant::now()));
        match &mut *schedule {
            Some(schedule) if is_due || is_requested => schedule.make(|| make(is_requested)),
            None if is_requested => make(true),
            _ => {}
        }
    }

    /// Keeps one.
    pub(super) fn push(&self, snapshot: CountsSnapshot) {
        let mut waiting = self.waiting.lock();
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(snapshot);
    }

    /// The first that the writer has not taken yet, if it was made until then.
    pub(super) fn take(&self, until: Ticks) -> Option<CountsSnapshot> {
        let mut waiting = self.waiting.lock();
        let is_made = waiting.front().is_some_and(|snapshot| snapshot.time <= until);
        if is_made { waiting.pop_front() } else { None }
    }

    /// Forgets all of them.
    pub(super) fn release(&self) {
        *self.waiting.lock() = VecDeque::new();
    }
}
