//! Reads all that a trace says; a large one by two threads at the same time, each of which adds up a part: to read it twice takes a sixth
//! of the work more.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::{panic, thread};

use analysis::cpu::CpuReport;
use analysis::execution::ExecutionReport;
use analysis::explain::{Collections, TraceReport, TraceStats};
use analysis::locks::{LockReport, Observer};
use analysis::requests::RequestReport;
use analysis::safepoints::SafepointReport;
use analysis::warm_up::WarmUpReport;
use trace::reader::TraceReader;

use super::reading::{Reading, named, read_trace};

/// All that a trace says, of one reading.
pub(crate) struct Whole {
    /// What was allocated.
    pub(crate) allocations: Reading,
    /// What threads waited for.
    pub(crate) locks: Reading<LockReport>,
    /// What they did on the processors.
    pub(crate) cpu: Reading<CpuReport>,
    /// What they did by the clock, where what happens when is read.
    pub(crate) wall: Option<CpuReport>,
    /// What collections cost, and what they left.
    pub(crate) collections: Collections,
    /// How long threads took to stop for the VM.
    pub(crate) safepoints: SafepointReport,
    pub(crate) warm_up: WarmUpReport,
    pub(crate) requests: RequestReport,
    /// Which methods were called.
    pub(crate) calls: Reading<ExecutionReport>,
}

/// Reads all that a trace says, as [`super::reading::allocations_in`] does.
pub(crate) fn whole(path: &Path) -> anyhow::Result<Whole> {
    whole_by(path, TraceStats::new())
}

/// The same with what happens when; the observer receives each wait.
pub(crate) fn whole_over_time(path: &Path, observer: &mut dyn Observer) -> anyhow::Result<Whole> {
    whole_by(path, TraceStats::over_time(observer))
}

/// All that a trace says by minute, and who waits for whom where.
pub(crate) fn by_minute(path: &Path) -> anyhow::Result<Reading<TraceReport>> {
    trace(path, TraceStats::by_minute())
}

fn whole_by(path: &Path, stats: TraceStats<'_>) -> anyhow::Result<Whole> {
    let (report, reading) = trace(path, stats)?.taken_apart();
    let TraceReport { allocations, locks, cpu, wall, collections, safepoints, warm_up, requests, calls } = report;
    let (allocations, locks, cpu) = (reading.with(allocations), reading.with(locks), reading.with(cpu));
    let calls = reading.with(calls);
    Ok(Whole { allocations, locks, cpu, wall, collections, safepoints, warm_up, requests, calls })
}

/// A smaller trace takes no second.
const LARGE: u64 = 64 << 20;

/// Reads a trace, as [`super::reading::trace`] does.
fn trace(path: &Path, stats: TraceStats<'_>) -> anyhow::Result<Reading<TraceReport>> {
    let several = thread::available_parallelism().is_ok_and(|processors| processors.get() > 1);
    if !several || !is_large_and_ended(path, LARGE).unwrap_or(false) {
        return super::reading::trace(path, stats);
    }
    twice(path, stats)
}

fn twice(path: &Path, mut stats: TraceStats<'_>) -> anyhow::Result<Reading<TraceReport>> {
    // These are half of the work.
    let allocations = stats.take_allocations();
    thread::scope(|scope| {
        let allocations = scope.spawn(|| {
            // A reader that does not know the length shows no progress: the other one does.
            let file = File::open(path)?;
            read_trace(path, TraceReader::new(file).map_err(|error| named(path, error))?, allocations)
        });
        let others = super::reading::trace(path, stats);
        let allocations = allocations.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        let mut reading = others?;
        reading.report.allocations = allocations?.report;
        Ok(reading)
    })
}

/// Whether nothing more will be written to a trace, so that two readers see the same. Packed ones are left to one reader: to unpack takes
/// longer than to add up.
fn is_large_and_ended(path: &Path, large: u64) -> io::Result<bool> {
    const END: &[u8] = b"</TRACE>";
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() < large {
        return Ok(false);
    }
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(64)))?;
    file.read_to_end(&mut end)?;
    Ok(end.trim_ascii_end().ends_with(END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_trace_that_has_ended_is_read_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        for (text, expected) in
            [("<TRACE>\n</TRACE>\n", true), ("<TRACE>\n", false), ("PK</TRACE>\0", false), ("</TRACE>", false)]
        {
            std::fs::write(&path, text).unwrap();
            assert_eq!(is_large_and_ended(&path, 9).unwrap(), expected, "{text}");
        }
        assert!(is_large_and_ended(&folder.path().join("none"), 0).is_err());
        assert!(!is_large_and_ended(folder.path(), 0).unwrap());
    }

    #[test]
    fn two_readers_find_what_one_finds() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/explain.trcxml");
        let found = [super::super::reading::trace(&path, TraceStats::new()), twice(&path, TraceStats::new())];
        let [one, two] = found.map(|reading| {
            let Reading { report, bytes, malformed, broken, .. } = reading.unwrap();
            let objects = report.allocations.sum(|_| true).total();
            assert!(objects > 0 && report.allocations.facts().elements == report.locks.facts().elements);
            (objects, report.locks.span(), report.allocations.facts().elements, bytes, malformed, broken)
        });
        assert_eq!(one, two);
        assert!(twice(Path::new("/no/such/trace"), TraceStats::new()).is_err());
    }
}
