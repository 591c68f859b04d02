//! What threads did on processors, or by the clock.

use analysis::allocations::Naming;
use analysis::cpu::CpuReport;
use analysis::explain::TraceReport;
use analysis::locks::pool_name;
use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::{FIRST_BATCH, after, minute};
use crate::columns::{Rows, row};
use crate::names::{Collision, Names};
use crate::schema::CPU;

/// What samples are kept apart by.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    line: Option<i64>,
    stack: Option<i64>,
    thread: String,
    minute: Time,
}

#[derive(Default)]
struct Sum {
    samples: u64,
    nanos: u64,
    variance: f64,
}

/// An error that holds 95 times in 100 is so many standard errors.
const STANDARD_ERRORS: f64 = 2.0;

/// The samples of both clocks, by line, stack, threads and minute.
pub(crate) fn samples(run: i64, report: &TraceReport, names: &mut Names) -> Result<Rows, Collision> {
    let begin = super::run::begin(report);
    let mut rows = Rows::new(&CPU);
    for (clock, samples) in [("cpu", Some(&report.cpu)), ("wall", report.wall.as_ref())] {
        for (key, sum) in samples.map_or_else(|| Ok(FxHashMap::default()), |samples| sums(samples, begin, names))? {
            let Key { line, stack, thread, minute } = key;
            let error = STANDARD_ERRORS * sum.variance.sqrt();
            rows.push(row![run, FIRST_BATCH, clock, line, stack, thread, minute, sum.samples, sum.nanos, error]);
        }
    }
    Ok(rows)
}

fn sums(report: &CpuReport, begin: Time, names: &mut Names) -> Result<FxHashMap<Key, Sum>, Collision> {
    let mut kinds = Vec::new();
    let site_names = report.site_names(&Naming::Own(Vec::new()));
    for entry in report.entries(&site_names) {
        let frames = entry.labels.iter().map(|(label, _)| names.label(label)).collect::<Result<Vec<i64>, _>>()?;
        let line = match &entry.named {
            Some(label) => Some(names.label(label)?),
            // There is no Java frame: the outermost says what it is.
            None => frames.last().copied(),
        };
        let variance = if entry.time > Nanos(0) { entry.variance / entry.time.0 as f64 } else { 0.0 };
        kinds.push((line, names.stack(&frames)?, pool_name(entry.thread.name), variance));
    }
    let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
    let (width, moments) = report.moments().unwrap_or_default();
    for moment in moments {
        let Some((line, stack, thread, variance)) = kinds.get(moment.entry as usize) else { continue };
        let since = Nanos(moment.slot.saturating_mul(width.0));
        let (line, stack, thread) = (*line, *stack, thread.clone());
        let sum = sums.entry(Key { line, stack, thread, minute: minute(after(begin, since)) }).or_default();
        sum.samples += moment.samples;
        sum.nanos = sum.nanos.saturating_add(moment.time.0);
        sum.variance += variance * moment.time.0 as f64;
    }
    Ok(sums)
}
