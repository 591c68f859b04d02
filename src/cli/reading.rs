//! Reads a trace into statistics, with whatever is wrong in it gathered on the way.

use std::io::Read;
use std::path::Path;

use analysis::heap::{HeapReport, HeapStats};
use analysis::truth::Truth;
use anyhow::{anyhow, bail};
use trace::filter::Pattern;
use trace::reader::{Event, ReadError, TraceReader};

use super::progress;

/// A trace that was read.
pub(crate) struct Reading {
    /// What it says.
    pub(crate) report: HeapReport,
    /// Its size, packed as it is.
    pub(crate) bytes: u64,
    /// Elements that made no sense and were left out.
    pub(crate) malformed: u64,
    /// What was wrong with the first of them, and where.
    pub(crate) first_malformed: Option<String>,
    /// Why a part of the trace could not be read at all.
    pub(crate) broken: Option<String>,
}

impl Reading {
    /// How complete the trace is.
    pub(crate) fn truth(&self) -> Truth {
        self.report.truth(self.broken.is_none() && self.malformed == 0)
    }
}

/// Reads the heap statistics of a trace; `-` is standard input. A trace that can be read in part is; an error means that there is
/// nothing to tell. `callers` are the classes to look for in call stacks.
pub(crate) fn heap(path: &Path, callers: &[Pattern]) -> anyhow::Result<Reading> {
    if path.as_os_str() == "-" {
        let reader = TraceReader::new(std::io::stdin().lock()).map_err(|error| named(path, error))?;
        return read(path, reader, callers);
    }
    read(path, TraceReader::open(path).map_err(|error| named(path, error))?, callers)
}

/// An error with the name of the trace in front, unless it names the trace itself.
pub(crate) fn named(path: &Path, error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Open { .. } => error.into(),
        error => anyhow!("cannot read {}: {error}", path.display()),
    }
}

fn read<R: Read>(path: &Path, mut reader: TraceReader<R>, callers: &[Pattern]) -> anyhow::Result<Reading> {
    /// The bar is told how far the reading is after so many elements.
    const STRIDE: u64 = 1 << 14;

    let bar = progress::bar(reader.total(), &format!("reading {}", path.display()));
    let mut stats = HeapStats::with_callers(callers.to_vec());
    let mut malformed = 0;
    let mut first_malformed = None;
    let mut broken = None;
    let mut elements: u64 = 0;
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element, .. })) => {
                stats.element(&element);
                elements += 1;
                if elements.is_multiple_of(STRIDE) {
                    bar.set_position(reader.consumed());
                }
            }
            Ok(Some(Event::DocumentStart { .. })) => {}
            Ok(Some(Event::DocumentEnd(_))) => stats.end_document(),
            Ok(None) => break,
            Err(error @ ReadError::Malformed { .. }) => {
                malformed += 1;
                first_malformed.get_or_insert_with(|| error.to_string());
            }
            Err(error) => {
                broken.get_or_insert(error);
            }
        }
    }
    bar.finish_and_clear();
    let report = stats.finish();
    let facts = report.facts();
    match broken {
        Some(error) if facts.elements == 0 => return Err(named(path, error)),
        None if facts.documents == 0 => bail!("cannot read {}: it holds no document", path.display()),
        _ if facts.elements + malformed > 0 && facts.elements == facts.unknown => {
            bail!("{} is XML, but no trace: it holds no element that a trace has", path.display());
        }
        _ => {}
    }
    let bytes = reader.consumed();
    Ok(Reading { report, bytes, malformed, first_malformed, broken: broken.map(|error| error.to_string()) })
}
