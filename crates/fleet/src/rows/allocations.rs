//! What was allocated, and what of it lived at the end.

use std::collections::BTreeMap;

use analysis::allocations::{AllocationReport, By, Entry, Naming, Subject};
use analysis::locks::pool_name;
use rustc_hash::FxHashMap;
use trace::time::Time;

use super::{FIRST_BATCH, divided, minute};
use crate::columns::{Rows, row};
use crate::names::{Collision, Names};
use crate::schema::{ALLOC, LIVE};

/// What rows of allocations are kept apart by.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    class: i64,
    line: Option<i64>,
    stack: Option<i64>,
    thread: Option<String>,
    kind: &'static str,
    minute: Time,
    is_exact: bool,
    is_line_exact: bool,
}

/// The numbers of a row.
#[derive(Default)]
struct Sum {
    objects: u64,
    bytes: u64,
    samples: u64,
    weight: f64,
    /// The error squared.
    error: f64,
}

/// What was allocated, by class, line, stack, threads and minute.
pub(crate) fn allocated(run: i64, report: &AllocationReport, names: &mut Names) -> Result<Rows, Collision> {
    let site_names = report.site_names(&Naming::Own(Vec::new()));
    let times: Vec<Time> = report.slice_times().into_iter().map(minute).collect();
    let begin = minute(report.beginning());
    let mut frames: FxHashMap<usize, i64> = FxHashMap::default();
    let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
    for entry in report.entries(&site_names, times.len()) {
        if entry.rounded == Default::default() && entry.share.is_none() {
            continue;
        }
        let mut frame = |names: &mut Names, at: usize| match frames.get(&at) {
            Some(&known) => Ok(known),
            None => names.line(report.frame(at)).inspect(|&id| _ = frames.insert(at, id)),
        };
        let stack = entry.frames.iter().map(|&at| frame(names, at)).collect::<Result<Vec<i64>, _>>()?;
        let line = entry
            .named
            .filter(|_| !entry.is_removed || entry.is_always_named)
            .map(|at| frame(names, at))
            .transpose()?;
        let (class, stack) = (names.class(entry.class)?, names.stack(&stack)?);
        // Of a counted site samples say the parts; all that is known otherwise is an estimate itself.
        let is_exact = entry.share.is_none() || report.is_counted() && !entry.is_uncounted;
        let is_line_exact = is_exact && (entry.share.is_none() || entry.is_always_named);
        let error = report.error_of(&entry) as f64;
        let spread = entry.share.map(|(_, spread)| spread);
        for (minute, [objects, bytes]) in by_minute(&entry, &times, begin) {
            let key = Key {
                class,
                line,
                stack,
                thread: entry.thread.map(|thread| pool_name(thread.name)),
                kind: kind(&entry),
                minute,
                is_exact,
                is_line_exact,
            };
            let part = if entry.rounded.bytes > 0 { bytes as f64 / entry.rounded.bytes as f64 } else { 1.0 };
            let sum = sums.entry(key).or_default();
            sum.objects += objects;
            sum.bytes += bytes;
            sum.error += error.powi(2) * part;
            if let Some(spread) = spread {
                sum.samples += (spread.samples as f64 * part).round() as u64;
                sum.weight += spread.weight * part;
            }
        }
    }
    let mut rows = Rows::new(&ALLOC);
    for (key, sum) in sums {
        let Key { class, line, stack, thread, kind, minute, is_exact, is_line_exact } = key;
        let Sum { objects, bytes, samples, weight, error } = sum;
        let error = error.sqrt();
        rows.push(row![
            run,
            FIRST_BATCH,
            class,
            line,
            stack,
            thread,
            kind,
            minute,
            objects,
            bytes,
            is_exact,
            is_line_exact,
            samples,
            weight,
            error
        ]);
    }
    Ok(rows)
}

fn kind(entry: &Entry<'_>) -> &'static str {
    match (entry.is_removed, entry.is_uncounted) {
        (true, _) => "removed",
        (_, true) => "uncounted",
        (false, false) => "allocated",
    }
}

/// The objects and bytes of each minute. What is not known by time is in that in which the trace begins.
fn by_minute(entry: &Entry<'_>, times: &[Time], begin: Time) -> BTreeMap<Time, [u64; 2]> {
    let of = |number: fn(&analysis::allocations::Amount) -> u64| {
        let weights: Vec<u64> = entry.changes.iter().map(|(_, [allocated, _])| number(allocated)).collect();
        divided(number(&entry.rounded), &weights)
    };
    let mut minutes: BTreeMap<Time, [u64; 2]> = BTreeMap::new();
    for (number, parts) in [of(|amount| amount.objects), of(|amount| amount.bytes)].into_iter().enumerate() {
        let whole = if number == 0 { entry.rounded.objects } else { entry.rounded.bytes };
        match parts {
            Some(parts) => {
                for ((slice, _), part) in entry.changes.iter().zip(parts).filter(|(_, part)| *part > 0) {
                    let time = times.get(*slice).copied().unwrap_or(begin);
                    minutes.entry(time).or_default()[number] += part;
                }
            }
            None if whole > 0 => minutes.entry(begin).or_default()[number] += whole,
            None => {}
        }
    }
    minutes
}

/// What lived at the end, by class and line; where the lines are not known, by class.
pub(crate) fn living(run: i64, report: &AllocationReport, names: &mut Names) -> Result<Rows, Collision> {
    let site_names = report.site_names(&Naming::Own(Vec::new()));
    let mut rows = Rows::new(&LIVE);
    let mut by_line: FxHashMap<&str, u64> = FxHashMap::default();
    let lines = report.rows_named(By::Site, &site_names, |_| true);
    let classes = report.rows_named(By::Class, &site_names, |_| true);
    for row in lines.iter().chain(&classes).filter(|row| row.totals.live() > 0) {
        let (class, line) = match row.subject {
            Subject::Site { class, at } => {
                *by_line.entry(class).or_default() += row.totals.live();
                (class, at.map(|at| names.line(at)).transpose()?)
            }
            Subject::Class(class) if !by_line.contains_key(class) => (class, None),
            _ => continue,
        };
        let totals = &row.totals;
        let knows_ages = totals.average_age().is_some();
        rows.push(row![
            run,
            FIRST_BATCH,
            names.class(class)?,
            line,
            totals.live(),
            totals.live_bytes(),
            knows_ages.then(|| totals.survived_bytes()),
            totals.live_samples(),
            totals.live_error() as f64,
            totals.average_age(),
            totals.oldest().map(u64::from),
            knows_ages.then(|| totals.generations()),
            knows_ages.then(|| totals.is_growing()),
        ]);
    }
    Ok(rows)
}
