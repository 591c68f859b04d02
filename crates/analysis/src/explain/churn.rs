//! Lines that allocate much, and only to drop it.

use trace::time::Nanos;

use super::{Churn, Collections, Explanation, MOST, are_enough, part, per_second};
use crate::allocations::{AllocationReport, Line, ObjectTotals, SiteNames, Subject};
use crate::own_code::is_jdk;

/// What makes less of the whole is not what a reader should look at first.
const LEAST_SHARE: f64 = 0.1;
/// What fits into the smallest young generation costs no collection.
const LEAST_BYTES: u64 = 16 << 20;
/// A few large objects are tables, not churn.
const LEAST_OBJECTS: u64 = 16;
/// What a processor clears in a second, about.
pub(super) const BYTES_PER_SECOND: f64 = 5e9;
/// Less in a second is less than a hundredth of a processor's time.
const LEAST_RATE: u64 = (BYTES_PER_SECOND / 100.0) as u64;
/// Recording single objects slows the program down, so that nothing can be said about a second of it. There most of the bytes ...
const LEAST_SHARE_OF_OBJECTS: f64 = 0.5;
/// ... of several young generations are much.
const LEAST_BYTES_OF_OBJECTS: u64 = 64 << 20;
/// Where collections take so much of the time, less is too much.
const LEAST_PAUSES: f64 = 0.05;
/// One or two may be the JVM's own, as for its metadata.
const LEAST_COLLECTIONS: u64 = 3;

/// The lines that allocate most of what is garbage by now, if that matters.
pub(super) fn lines<'a>(
    report: &'a AllocationReport,
    collections: &Collections,
    names: &SiteNames,
    looked_at: &Explanation<'_>,
) -> Vec<Churn<'a>> {
    let Some(all) = looked_at.allocated else { return Vec::new() };
    let collects =
        looked_at.pause_share().is_some_and(|share| share >= LEAST_PAUSES) && collections.count() >= LEAST_COLLECTIONS;
    // Who records each object makes the program slow.
    let has_rate = report.facts().allocations == 0;
    let matters = |bytes: u64| {
        let share = part(bytes, all);
        let is_much = match has_rate {
            true => per_second(bytes, looked_at.length).is_some_and(|rate| rate >= LEAST_RATE),
            false => bytes >= LEAST_BYTES_OF_OBJECTS && share >= LEAST_SHARE_OF_OBJECTS,
        };
        bytes >= LEAST_BYTES && share >= LEAST_SHARE && (collects || is_much)
    };
    let doubt = if report.is_counted() { doubt(report, collections) } else { 0 };
    let mut found: Vec<Churn<'a>> = report
        .lines(names, |_| true)
        .into_iter()
        .filter(|line| line.row.totals.total() >= LEAST_OBJECTS && are_enough(line.row.samples))
        .filter_map(|line| churn(line, report, all, looked_at.length))
        .filter(|churn| matters(churn.bytes.saturating_sub(churn.error.unwrap_or(0)).saturating_sub(doubt)))
        .collect();
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.at.cmp(&b.at)));
    found.truncate(MOST);
    for churn in &mut found {
        churn.called = churn.inside.and_then(|inside| report.called_at(names, churn.at, inside.class));
    }
    found
}

/// Of the bytes that sites have counted, how many may be none of the garbage. Which objects are still there is not known, but how much
/// is in use; and without a sampler it is not known where the JIT has removed objects, but how much at least.
fn doubt(report: &AllocationReport, collections: &Collections) -> u64 {
    let kept = collections.used_after_last().unwrap_or(0);
    let removed = if report.sum(|_| true).estimated_bytes().is_some() { 0 } else { report.coverage(true).excess };
    kept.saturating_add(removed)
}

/// Bytes of objects that were really allocated, and by how much that may be off: those that the JIT has removed are left out, where they
/// are known to be more than none.
pub(super) fn allocated(totals: &ObjectTotals, report: &AllocationReport) -> (u64, Option<u64>) {
    let error = report.facts().estimate_interval.and_then(|interval| totals.estimate_error(interval));
    match (totals.removed_bytes(), error) {
        (Some(removed), Some(error)) if removed > error => (totals.total_bytes() - removed, Some(error)),
        _ => (totals.total_bytes(), None),
    }
}

fn churn<'a>(line: Line<'a>, report: &AllocationReport, all: u64, length: Nanos) -> Option<Churn<'a>> {
    let Subject::Line(Some(at)) = line.row.subject else { return None };
    let totals = &line.row.totals;
    // Single objects are followed to their deaths.
    let is_collected = report.is_sampled() || report.facts().frees > 0;
    let (bytes, error) = match report.facts().frees {
        _ if report.is_sampled() => (totals.total_bytes().saturating_sub(totals.live_bytes()), None),
        0 => allocated(totals, report),
        _ => (totals.collected_bytes(), None),
    };
    Some(Churn {
        at,
        is_own: !is_jdk(at.class),
        bytes,
        is_collected,
        executed: (!is_collected && bytes < totals.total_bytes()).then(|| totals.total_bytes()),
        error: error.max(line.row.error),
        share: part(bytes, all),
        rate: per_second(bytes, length).filter(|_| report.facts().allocations == 0),
        inside: line.inside.first().copied(),
        called: None,
    })
}
