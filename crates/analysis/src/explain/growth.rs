//! What piles up: objects that are allocated all the time and hardly ever collected, or at least a heap that fills.

use std::collections::BTreeMap;

use super::{Collections, Growing, Growth, MOST, Rising, are_enough, part};
use crate::allocations::{AllocationReport, By, Location, ObjectTotals, Row, SiteNames, Subject};

/// What makes less of what has survived a collection does not fill a heap. Of the rest nobody knows whether it is garbage.
const LEAST_SHARE: f64 = 0.1;
/// Less is within what the JDK keeps on behalf of a line: classes, names, tables ...
const LEAST_BYTES: u64 = 256 << 10;
/// ... unless about every second collection of the whole trace left some, so many at least, and hardly one was released: what is
/// recorded of an object may be its smallest part.
const MANY_GENERATIONS: u64 = 6;
const STEADILY_COLLECTED: f64 = 0.01;
/// A few that become larger are tables.
const LEAST_OBJECTS: u64 = 100;
/// Of fewer, the ages of objects say nothing.
pub(super) const LEAST_COLLECTIONS: u64 = 3;
/// A cache with a bound keeps objects of all ages too, but drops as many as it takes in.
const MOST_COLLECTED: f64 = 0.25;
/// Classes to name where only the heap is known to fill.
const MOST_CLASSES: usize = 3;

/// The lines whose objects pile up, those of most live bytes first.
pub(super) fn of_objects<'a>(report: &'a AllocationReport, names: &SiteNames, collections: u64) -> Vec<Growth<'a>> {
    if report.facts().frees == 0 && !report.has_live_samples() {
        return Vec::new();
    }
    let survived = report.sum(|_| true).survived_bytes();
    let mut rows = report.rows_named(By::Site, names, |_| true);
    rows.retain(piles_up);
    let mut found: Vec<Growth<'a>> = by_line(&rows)
        .into_iter()
        .map(|(at, mut classes)| {
            classes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(b.class)));
            let bytes = classes.iter().fold(0_u64, |sum, class| sum.saturating_add(class.bytes));
            Growth { at, bytes, share: part(bytes, survived), classes }
        })
        .filter(|growth| growth.share >= LEAST_SHARE)
        .filter(|growth| are_enough(growth.classes.iter().fold(0, |sum, class| sum.saturating_add(class.samples))))
        .filter(|growth| {
            let least = growth.classes.iter().fold(growth.bytes, |bytes, class| bytes.saturating_sub(class.error));
            least >= LEAST_BYTES || growth.classes.iter().any(|class| is_steady(class, collections))
        })
        .collect();
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.at.cmp(&b.at)));
    found.truncate(MOST);
    found
}

fn piles_up(row: &Row<'_>) -> bool {
    let totals = &row.totals;
    let collected = match totals.live_samples() {
        0 => part(totals.collected(), totals.total()),
        // Of what no collection has met yet nobody knows what becomes of it: as much as a heap has room for.
        _ => part(totals.collected_bytes(), totals.collected_bytes().saturating_add(totals.survived_bytes())),
    };
    totals.is_growing() && totals.live() >= LEAST_OBJECTS && collected <= MOST_COLLECTED
}

fn is_steady(class: &Growing<'_>, collections: u64) -> bool {
    class.samples == 0
        && class.generations >= MANY_GENERATIONS
        && class.generations.saturating_mul(2) >= collections
        && part(class.total.saturating_sub(class.live), class.total) <= STEADILY_COLLECTED
}

/// The growing classes by line. What a constructor allocates is part of the object, so it stands where the object is allocated, if
/// objects of that class pile up at one line only.
fn by_line<'a>(rows: &[Row<'a>]) -> BTreeMap<Option<Location<'a>>, Vec<Growing<'a>>> {
    let sites = || {
        rows.iter().filter_map(|row| match row.subject {
            Subject::Site { class, at } => Some((class, at, row)),
            _ => None,
        })
    };
    let mut lines_of: BTreeMap<&str, Vec<Location<'a>>> = BTreeMap::new();
    for (class, at, _) in sites() {
        lines_of.entry(class).or_default().extend(at);
    }
    let outer = |at: Location<'a>| {
        let is_constructor = at.method == "-init-";
        match lines_of.get(at.class).map(Vec::as_slice) {
            Some(&[line]) if is_constructor => line,
            _ => at,
        }
    };
    let mut lines: BTreeMap<Option<Location<'a>>, Vec<Growing<'a>>> = BTreeMap::new();
    for (class, at, row) in sites() {
        lines.entry(at.map(outer)).or_default().push(Growing {
            class,
            live: row.totals.live(),
            total: row.totals.total(),
            bytes: row.totals.survived_bytes(),
            generations: row.totals.generations(),
            oldest: row.totals.oldest().unwrap_or(0),
            samples: row.totals.survived_samples(),
            error: row.totals.survived_error(),
        });
    }
    lines
}

/// A heap that fills more and more.
pub(super) fn of_heap<'a>(report: &'a AllocationReport, collections: &Collections) -> Option<Rising<'a>> {
    let rise = collections.rise()?;
    let mut live: Vec<(&str, u64)> = report
        .rows(By::Class, |_| true)
        .into_iter()
        .filter_map(|row| match row.subject {
            Subject::Class(name) => Some((name, known_alive(&row.totals))),
            _ => None,
        })
        .filter(|(_, bytes)| *bytes > 0)
        .collect();
    live.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    live.truncate(MOST_CLASSES);
    Some(Rising { rise, live })
}

/// Bytes that are alive for all that is known: where ages are, of those that have survived a collection.
fn known_alive(totals: &ObjectTotals) -> u64 {
    if totals.average_age().is_some() { totals.survived_bytes() } else { totals.live_bytes() }
}
