//! `martini fleet add`: reads traces and adds their rows to a store.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use analysis::allocations::time_of;
use anyhow::{Context, bail};
use fleet::{Added, ContentId, Labels, Recording, Store};
use trace::date::Date;
use trace::reader::{Event, TraceReader};
use trace::time::Time;

use crate::commands::selection::note;
use crate::exit;
use crate::input::reading::named;
use crate::input::whole;
use crate::redact::{RedactArguments, Redactor};
use crate::render::human::{counted, printable};
use crate::render::notes;

/// Clocks of machines differ by less.
const MOST_DAYS_EARLIER: i64 = 730;
const MOST_DAYS_LATER: i64 = 1;

/// Add traces to a store, which is made if there is none
///
/// A trace that is in the store is not added again. One that cannot be added does not keep the others from being added.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of the store
    store: PathBuf,
    /// Traces to add
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Service that was recorded [default: what the trace says, or the JVM's jar or main class]
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Its release [default: what the trace says]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Machine [default: what the trace says]
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Pod or container [default: what the trace says]
    #[arg(long, value_name = "NAME")]
    pod: Option<String>,
    #[command(flatten)]
    redact: RedactArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let store = Store::open_or_create(&arguments.store)?;
    let Arguments { service, release, host, pod, .. } = arguments;
    let labels = Labels { service: service.clone(), release: release.clone(), host: host.clone(), pod: pod.clone() };
    let redactor = arguments.redact.redactor();
    let mut status = exit::OK;
    for path in &arguments.traces {
        match add(&store, path, &labels, redactor.as_ref()) {
            Ok(sentence) => {
                let mut out = anstream::stdout().lock();
                writeln!(out, "{}: {sentence}", path.display())?;
                out.flush()?;
            }
            Err(error) => {
                exit::report(&error);
                status = exit::FAILED;
            }
        }
    }
    Ok(status)
}

/// Adds a trace, and says what became of it.
fn add(store: &Store, path: &Path, labels: &Labels, redactor: Option<&Redactor>) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    // A pipe cannot be read twice.
    if !fs::metadata(path).with_context(cannot)?.is_file() {
        bail!("{} is not a regular file, which fleet add needs", path.display());
    }
    let content = ContentId::of_file(path).with_context(cannot)?;
    let failed = || format!("{} is not added", path.display());
    let Some(begin) = begin(path)? else { bail!("{} has nothing with a time, so it is not added", path.display()) };
    if store.has(content.0, begin).with_context(failed)? {
        return Ok("was added before".to_owned());
    }
    let copy = redactor.map(|redactor| redactor.temporary(path)).transpose()?;
    let reading = whole::by_minute(copy.as_ref().map_or(path, |copy| copy.path()))?;
    if reading.is_growing || fs::metadata(path).with_context(cannot)?.len() != content.1 {
        bail!("{} is still being written; add it when its recording has ended", path.display());
    }
    notes::completeness(&reading).iter().for_each(|sentence| note(path, sentence));
    wrong_clock(begin).iter().for_each(|sentence| note(path, sentence));
    let is_read = reading.broken.is_none() && reading.malformed == 0;
    let recording = Recording { report: &reading.report, is_read, content, labels };
    Ok(match store.add(&recording).with_context(failed)? {
        Added::Before => "was added before".to_owned(),
        Added::Now { run, date, service, release, rows } => {
            let (service, release) = (printable(&service), printable(&release));
            let rows = counted(rows, "row", "rows");
            format!("run {run} of {service}, release {release}, {date}: {rows}")
        }
    })
}

/// When a trace begins.
fn begin(path: &Path) -> anyhow::Result<Option<Time>> {
    let mut reader = TraceReader::open(path).map_err(|error| named(path, error))?;
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element, .. })) => {
                if let Some(time) = time_of(&element) {
                    return Ok(Some(time));
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(trace::reader::ReadError::Malformed { .. }) => {}
            Err(error) => return Err(named(path, error)),
        }
    }
}

/// The day by the clock of this machine.
pub(super) fn today() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Date::of(Time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

/// Says that a trace comes from a machine whose clock is wrong, or is very old.
fn wrong_clock(begin: Time) -> Option<String> {
    let (date, today) = (Date::of(begin), today());
    let days = today.days_since(date);
    let what = if days > MOST_DAYS_EARLIER {
        "years ago"
    } else if days < -MOST_DAYS_LATER {
        "in the future"
    } else {
        return None;
    };
    Some(format!("by its clock it began on {date}, {what}; it is filed under that day"))
}
