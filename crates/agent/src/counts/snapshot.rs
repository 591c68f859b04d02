//! The counts so far, while the program runs: on request, and regularly, in case it is killed.
//!
//! The agent's control thread makes them, the writer writes them. The program's threads take no part.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jvmti::Jni;
use rustc_hash::FxHashMap;

use super::Counts;
use super::report::SiteCount;
use super::sites::ResolvePhase;
use super::threads::{ThreadCounts, Totals};
use crate::heap_histogram::{ClassTotals, walk};
use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::ids::{ClassIndex, ThreadIndex};
use agent_base::request_file::RequestFile;
use agent_core::core::asking::Wanted;
use agent_core::core::schedule::Schedule;
use agent_core::core::{Core, accounting};

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

impl Counts {
    /// The first snapshot that the writer has not taken yet, if it was made until then.
    pub(crate) fn take_snapshot(&self, until: Ticks) -> Option<CountsSnapshot> {
        let mut waiting = self.snapshots.lock();
        let is_made = waiting.front().is_some_and(|snapshot| snapshot.time <= until);
        if is_made { waiting.pop_front() } else { None }
    }

    pub(super) fn make_snapshot(&self, jni: Jni, wanted: Wanted) {
        let core = self.core;
        self.resolve_counted(jni, None, ResolvePhase::Meanwhile);
        let live = wanted
            .live
            .then(|| walk(core, jni, true))
            .and_then(|walked| walked.inspect_err(|&error| core.count_failure("heap walk", error)).ok());
        let time = wanted.at.unwrap_or_else(Ticks::now);
        let threads = self.living_accounts(jni);
        let (sites, _) = self.sites();
        let mut waiting = self.snapshots.lock();
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(CountsSnapshot { time, threads, sites, live });
    }
}

impl Counts {
    /// Makes a snapshot if it is time for one, or if there is a request.
    pub(super) fn check_requests(&self, jni: Jni) {
        let (is_due, is_requested) = self.trigger.lock().check(self.core);
        if is_requested || is_due {
            let begin = thread_cpu_nanos();
            self.make_snapshot(jni, Wanted { live: is_requested, at: None });
            self.trigger.lock().made(Duration::from_nanos(thread_cpu_nanos().saturating_sub(begin)));
        }
    }

    /// What each living thread has counted so far, and what the JVM accounts to it.
    fn living_accounts(&self, jni: Jni) -> Vec<(ThreadIndex, Totals, Option<u64>)> {
        let own = self.living();
        let own: FxHashMap<u32, &ThreadCounts> = own.iter().map(|own| (own.thread.0, &**own)).collect();
        let mut found = Vec::new();
        accounting::each_account(self.core, jni, |index, bytes| {
            if let (Some(own), Some(record)) = (own.get(&index.0), self.core.jvm.threads.get(index)) {
                self.settle(own, bytes, false);
                found.push((index, self.totals(own), record.accounted(bytes)));
            }
        });
        found
    }
}

/// The file that requests the counts so far and a heap histogram by its existence: the trace's path and `.live`.
fn request(trace: &Path) -> PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(".live");
    path.into()
}

/// Decides when a snapshot is made, on the control thread.
pub(super) struct SnapshotTrigger {
    request: RequestFile,
    schedule: Option<Schedule>,
}

impl SnapshotTrigger {
    /// Starts the clock, and removes an old request.
    pub(super) fn begin(core: &Core) -> SnapshotTrigger {
        let request = RequestFile::begin(request(&core.trace_path));
        SnapshotTrigger { request, schedule: Schedule::begin(core.options.every, Instant::now()) }
    }

    /// A snapshot was made, for which the control thread took that long.
    fn made(&mut self, took: Duration) {
        if let Some(schedule) = &mut self.schedule {
            schedule.took(took);
        }
    }

    /// Whether it is time for a snapshot, and whether there is a request.
    fn check(&mut self, core: &Core) -> (bool, bool) {
        let is_requested = core.is_reporting() && self.request.take();
        let is_due = self.schedule.as_mut().is_some_and(|schedule| schedule.is_due(Instant::now()));
        (is_due, is_requested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_lies_beside_the_trace() {
        assert_eq!(request(Path::new("/x/app.trcxml")), Path::new("/x/app.trcxml.live"));
    }
}
