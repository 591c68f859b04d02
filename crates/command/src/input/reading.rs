//! Reads a trace into statistics, and gathers what is wrong in it.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use analysis::allocations::{AllocationReport, AllocationStats, Facts, Scope};
use analysis::coverage::Coverage;
use analysis::cpu::{Conservation, CpuReport, CpuStats, SampleClock};
use analysis::execution::{CallSelection, ExecutionReport, ExecutionStats};
use analysis::explain::{TraceReport, TraceStats};
use analysis::locks::{LockReport, LockStats};
use analysis::marks::{MarkReport, MarkStats};
use analysis::requests::{Choice, RequestReport, RequestStats};
use analysis::safepoints::{SafepointReport, SafepointStats};
use analysis::warm_up::{WarmUpReport, WarmUpStats};
use anyhow::{anyhow, bail};
use trace::file;
use trace::locklog::{LockLogReader, LogError, LogItem, is_lock_log};
use trace::model::Element;
use trace::reader::{Event, ReadError, TraceReader};

use crate::input::progress::{self, Progress};
use crate::render::human::counted;

/// The progress bar is updated after this many elements.
const STRIDE: u64 = 1 << 14;

/// The statistics of a trace.
pub(crate) trait Report {
    /// What is known of any trace.
    fn facts(&self) -> &Facts;
}

/// Gathers the statistics of a trace, element by element.
pub(crate) trait Stats {
    /// What it gathers.
    type Report: Report;

    /// Takes in the next element of the document.
    fn element(&mut self, element: &Element<'_>);
    /// Ends a document.
    fn end_document(&mut self);
    /// What the documents that ended say.
    fn finish(self) -> Self::Report;
}

macro_rules! impl_stats {
    ($stats:ty, $report:ty, $facts:expr) => {
        impl Report for $report {
            fn facts(&self) -> &Facts {
                let facts: fn(&Self) -> &Facts = $facts;
                facts(self)
            }
        }

        impl Stats for $stats {
            type Report = $report;

            fn element(&mut self, element: &Element<'_>) {
                self.element(element);
            }

            fn end_document(&mut self) {
                self.end_document();
            }

            fn finish(self) -> $report {
                self.finish()
            }
        }
    };
}

impl_stats!(AllocationStats, AllocationReport, AllocationReport::facts);
impl_stats!(LockStats<'_>, LockReport, LockReport::facts);
// Allocations may come from another reader.
impl_stats!(TraceStats<'_>, TraceReport, |report| report.locks.facts());
impl_stats!(CpuStats, CpuReport, CpuReport::facts);
impl_stats!(SafepointStats, SafepointReport, SafepointReport::facts);
impl_stats!(WarmUpStats, WarmUpReport, WarmUpReport::facts);
impl_stats!(RequestStats, RequestReport, RequestReport::facts);
impl_stats!(ExecutionStats, ExecutionReport, ExecutionReport::facts);
impl_stats!(MarkStats, MarkReport, MarkReport::facts);

/// A trace that was read.
#[derive(Default)]
pub(crate) struct Reading<R = AllocationReport> {
    /// What it says.
    pub(crate) report: R,
    /// Its size, packed as it is.
    pub(crate) bytes: u64,
    /// Malformed elements, which were left out; lines of a lock log.
    pub(crate) malformed: u64,
    /// What was wrong with the first of them, and where.
    pub(crate) first_malformed: Option<String>,
    /// Why a part of the trace could not be read at all.
    pub(crate) broken: Option<String>,
    /// It has no end, and another process writes it.
    pub(crate) is_growing: bool,
    /// A lock log that ends inside a line.
    pub(crate) is_log_cut: bool,
}

impl<R> Reading<R> {
    /// What it says, and all else that is known of it.
    pub(crate) fn taken_apart(self) -> (R, Reading<()>) {
        let Reading { report, bytes, malformed, first_malformed, broken, is_growing, is_log_cut } = self;
        (report, Reading { report: (), bytes, malformed, first_malformed, broken, is_growing, is_log_cut })
    }
}

impl Reading<()> {
    /// The same reading of a part of what the trace says.
    pub(crate) fn with<R>(&self, report: R) -> Reading<R> {
        Reading {
            report,
            bytes: self.bytes,
            malformed: self.malformed,
            first_malformed: self.first_malformed.clone(),
            broken: self.broken.clone(),
            is_growing: self.is_growing,
            is_log_cut: self.is_log_cut,
        }
    }
}

impl Reading {
    /// How complete the trace is.
    pub(crate) fn coverage(&self) -> Coverage {
        self.report.coverage(self.broken.is_none() && self.malformed == 0)
    }
}

impl Reading<CpuReport> {
    /// How the samples add up to the CPU clocks.
    pub(crate) fn conservation(&self) -> Conservation {
        self.report.conservation(self.broken.is_none() && self.malformed == 0)
    }
}

/// Reads the allocation statistics of a trace, or of a part of it, or also what happens when; `-` is standard input. A trace is read as
/// far as possible; an error means that nothing could be read.
pub(crate) fn allocations_in(path: &Path, scope: &Scope) -> anyhow::Result<Reading> {
    trace(path, AllocationStats::of(scope))
}

/// Reads the samples of a clock that were taken in a part of a trace, as [`allocations_in`] does.
pub(crate) fn samples(path: &Path, of: SampleClock, scope: &Scope) -> anyhow::Result<Reading<CpuReport>> {
    trace(path, CpuStats::new(of, scope))
}

/// Reads which methods a trace says were called, as [`allocations_in`] does.
///
/// # Errors
/// There is no such document, too.
pub(crate) fn calls(path: &Path, selection: CallSelection) -> anyhow::Result<Reading<ExecutionReport>> {
    let document = selection.document;
    let reading = trace(path, ExecutionStats::new(selection))?;
    let documents = reading.report.documents();
    match document.filter(|document| *document > documents) {
        Some(document) => {
            let has = counted(documents, "document", "documents");
            bail!("{}: there is no document {document}; the trace has {has}", path.display())
        }
        None => Ok(reading),
    }
}

/// Reads what a trace says about safepoints, as [`allocations_in`] does.
pub(crate) fn safepoints(path: &Path) -> anyhow::Result<Reading<SafepointReport>> {
    trace(path, SafepointStats::new())
}

/// Reads what a trace says about the start of its JVM, as [`allocations_in`] does.
pub(crate) fn warm_up(path: &Path) -> anyhow::Result<Reading<WarmUpReport>> {
    trace(path, WarmUpStats::new())
}

/// Reads what a trace says about requests, in a part of it, as [`allocations_in`] does.
pub(crate) fn requests(path: &Path, choice: Choice, scope: &Scope) -> anyhow::Result<Reading<RequestReport>> {
    trace(path, RequestStats::new(choice, scope))
}

/// Reads which methods a trace marks, as [`allocations_in`] does.
pub(crate) fn marks(path: &Path) -> anyhow::Result<Reading<MarkReport>> {
    trace(path, MarkStats::new())
}

/// Reads a trace into statistics, as [`allocations_in`] does.
pub(crate) fn trace<S: Stats>(path: &Path, stats: S) -> anyhow::Result<Reading<S::Report>> {
    if path.as_os_str() == "-" {
        let reader = TraceReader::new(std::io::stdin().lock()).map_err(|error| named(path, error))?;
        return read_trace(path, reader, stats);
    }
    read_trace(path, TraceReader::open(path).map_err(|error| named(path, error))?, stats)
}

/// Reads what a trace or a lock log says about threads and locks, as [`allocations_in`] does.
pub(crate) fn locks(path: &Path, stats: LockStats<'_>) -> anyhow::Result<Reading<LockReport>> {
    if path.as_os_str() == "-" {
        return either(path, std::io::stdin().lock(), stats);
    }
    // An error here is reported when the file is opened again below.
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.is_file(), file)));
    match opened {
        Ok((true, ref file)) if is_lock_log(&beginning(file).unwrap_or_default()) => {
            read_log(path, LockLogReader::open(path)?, stats)
        }
        Ok((false, file)) if !path.is_dir() => either(path, file, stats),
        _ => read_trace(path, TraceReader::open(path).map_err(|error| named(path, error))?, stats),
    }
}

/// Whether a file is a lock log. What cannot be opened twice is not looked at.
pub(crate) fn is_log(path: &Path) -> bool {
    path.is_file() && File::open(path).and_then(beginning).is_ok_and(|bytes| is_lock_log(&bytes))
}

/// Reads a trace or a lock log from what cannot be opened twice.
fn either(path: &Path, mut input: impl Read, stats: LockStats<'_>) -> anyhow::Result<Reading<LockReport>> {
    let beginning = beginning(&mut input).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))?;
    let is_log = is_lock_log(&beginning);
    let input = Cursor::new(beginning).chain(input);
    if is_log {
        return read_log(path, LockLogReader::new(input), stats);
    }
    read_trace(path, TraceReader::new(input).map_err(|error| named(path, error))?, stats)
}

fn beginning(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(16).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An error with the name of the trace in front, unless it names the trace itself.
pub(crate) fn named(path: &Path, error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Open { .. } => error.into(),
        error => anyhow!("cannot read {}: {error}", path.display()),
    }
}

pub(super) fn read_trace<R: Read, S: Stats>(
    path: &Path,
    reader: TraceReader<R>,
    mut stats: S,
) -> anyhow::Result<Reading<S::Report>> {
    let outcome = read_parts(path, reader, |part| {
        match part {
            Part::Element(element) => stats.element(element),
            Part::DocumentEnd => stats.end_document(),
        }
        Ok(())
    })?;
    let report = stats.finish();
    let facts = report.facts();
    if outcome.broken.is_none() && facts.documents == 0 {
        bail!("cannot read {}: it contains no document", path.display());
    }
    refuse_foreign(path, facts.elements, facts.unknown, outcome.malformed)?;
    // Only of one without an end: to ask locks it for a moment, and whoever begins to write it finds it taken.
    let is_growing = facts.ended < facts.documents && file::is_being_written(path);
    Ok(Reading { is_growing, ..outcome.with(report) })
}

/// Refuses XML of another kind: of its elements none is one of a trace.
pub(crate) fn refuse_foreign(path: &Path, elements: u64, unknown: u64, malformed: u64) -> anyhow::Result<()> {
    if elements + malformed > 0 && elements == unknown {
        bail!("{} is XML, but not a trace: it has no trace elements", path.display());
    }
    Ok(())
}

/// A part of a trace.
pub(crate) enum Part<'a> {
    /// An element.
    Element(&'a Element<'a>),
    /// The end of a document; a zip may hold several.
    DocumentEnd,
}

/// Reads a trace as far as possible, with a progress bar.
///
/// # Errors
/// Nothing could be read, or `take` refuses a part.
pub(crate) fn read_parts<R: Read>(
    path: &Path,
    mut reader: TraceReader<R>,
    mut take: impl FnMut(Part<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Reading<()>> {
    let mut bar = bar(path, reader.total());
    let (mut elements, mut malformed, mut first_malformed, mut broken) = (0_u64, 0, None, None);
    let mut elements_at_bar = 0;
    loop {
        let mut taken = Ok(());
        let more = reader.next_events(|event| {
            taken = match event {
                Event::Element { element, .. } => {
                    elements += 1;
                    take(Part::Element(&element))
                }
                Event::DocumentStart { .. } => Ok(()),
                Event::DocumentEnd(_) => take(Part::DocumentEnd),
            };
            taken.is_ok()
        });
        taken?;
        match more {
            Ok(true) if elements - elements_at_bar >= STRIDE => {
                bar.set_position(reader.consumed());
                elements_at_bar = elements;
            }
            Ok(true) => {}
            Ok(false) => break,
            Err(error @ ReadError::Malformed { .. }) => {
                malformed += 1;
                first_malformed.get_or_insert_with(|| error.to_string());
            }
            Err(error) => {
                broken.get_or_insert(error);
            }
        }
    }
    drop(bar);
    match broken {
        Some(error) if elements == 0 => Err(named(path, error)),
        broken => {
            let broken = broken.map(|error| error.to_string());
            Ok(Reading { bytes: reader.consumed(), malformed, first_malformed, broken, ..Reading::default() })
        }
    }
}

fn bar(path: &Path, total: Option<u64>) -> Progress {
    progress::bar(total, &format!("reading {}", path.display()))
}

fn read_log<R: Read>(
    path: &Path,
    mut reader: LockLogReader<R>,
    mut stats: LockStats<'_>,
) -> anyhow::Result<Reading<LockReport>> {
    let mut bar = bar(path, reader.total());
    let (mut lines, mut malformed, mut first_malformed, mut broken) = (0_u64, 0, None, None);
    loop {
        match reader.next_item() {
            Ok(Some(LogItem::Start(clock))) => stats.log_start(clock),
            Ok(Some(LogItem::Event(event))) => stats.log_event(&event),
            Ok(None) => break,
            Err(error @ LogError::Line { .. }) => {
                malformed += 1;
                first_malformed.get_or_insert_with(|| error.to_string());
                continue;
            }
            Err(error) => broken = Some(error.to_string()),
        }
        lines += 1;
        if lines.is_multiple_of(STRIDE) {
            bar.set_position(reader.consumed());
        }
    }
    drop(bar);
    stats.end_document();
    let (bytes, is_log_cut) = (reader.consumed(), reader.is_cut());
    match (lines, first_malformed) {
        (0, Some(first)) => bail!("{} is neither a trace nor a lock log: {first}", path.display()),
        (_, first_malformed) => {
            let report = stats.finish();
            Ok(Reading { report, bytes, malformed, first_malformed, broken, is_growing: false, is_log_cut })
        }
    }
}
