//! Locks that cost much, and threads that still wait for one when the trace ends.

use std::collections::BTreeMap;

use trace::time::Nanos;

use super::{Blocked, Contention, MOST, Place, part};
use crate::locks::{LockBy, LockReport, LockSubject, ThreadName};

/// A thread that waits for less than this part of the time hardly loses any.
const LEAST_SHARE: f64 = 0.05;
/// Less is what starting threads costs.
const LEAST_TOTAL: Nanos = Nanos(100_000_000);
/// Fewer are a thread that lost its processor while it had the lock, unless one of them was long.
const LEAST_WAITS: u64 = 10;
/// Who waits so long for a lock once has a reason to ask. A trace may end while a thread waits for less.
const LONG: Nanos = Nanos(1_000_000_000);

/// How long threads waited for the locks of the class that cost most.
pub(super) fn most(report: &LockReport) -> Option<Nanos> {
    let rows = report.rows(LockBy::Class, false);
    rows.iter().map(|row| row.contended.total()).max().filter(|most| most.0 > 0)
}

/// Threads that have waited for locks for long when the trace ends, and not for each other; of many those that blocked first.
pub(super) fn blocked(report: &LockReport) -> Option<Blocked<'_>> {
    let mut stuck = report.stuck().0;
    stuck.retain(|stuck| stuck.length >= LONG);
    let threads = stuck.len() as u64;
    let longest = stuck.into_iter().max_by_key(|stuck| stuck.length)?;
    Some(Blocked { threads, longest })
}

/// The classes of locks that cost most, if they cost much in so much time.
pub(super) fn locks(report: &LockReport, length: Nanos) -> Vec<Contention<'_>> {
    let mut locks_of: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for row in report.rows(LockBy::Monitor, false).iter().filter(|row| row.contended.count() > 0) {
        if let LockSubject::Monitor { class, .. } = row.subject {
            *locks_of.entry(class).or_default() += 1;
        }
    }
    let mut found: Vec<Contention<'_>> = report
        .rows(LockBy::Class, false)
        .into_iter()
        .filter_map(|row| {
            let LockSubject::Class(class) = row.subject else { return None };
            let (waits, total) = (row.contended.count(), row.contended.total());
            let share = part(total.0, length.0);
            let is_repeated = waits >= LEAST_WAITS || row.contended.max() >= LONG;
            (is_repeated && total >= LEAST_TOTAL && share >= LEAST_SHARE).then(|| Contention {
                class,
                locks: locks_of.get(&class).copied().unwrap_or(0),
                waits,
                total,
                share,
                waiters: places(report, LockBy::Site, class),
                owners: places(report, LockBy::Holder, class),
                owner: owner(report, class),
            })
        })
        .collect();
    found.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.class.cmp(&b.class)));
    found.truncate(MOST);
    found
}

/// Where threads waited for locks of a class, or where their owners were.
fn places<'a>(report: &'a LockReport, by: LockBy, class: Option<&str>) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'a>> = report
        .rows(by, false)
        .into_iter()
        .filter(|row| row.contended.count() > 0)
        .filter_map(|row| match row.subject {
            LockSubject::Site { class: of, at: Some(at) } if of == class => {
                Some(Place { at, total: row.contended.total() })
            }
            _ => None,
        })
        .collect();
    places.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.at.cmp(&b.at)));
    places
}

/// The thread, or the pool, for which threads waited longest.
fn owner<'a>(report: &'a LockReport, class: Option<&str>) -> Option<(ThreadName<'a>, Nanos)> {
    let mut owners = BTreeMap::new();
    for row in report.rows(LockBy::Pair, true) {
        if let LockSubject::Pair { owner: Some(owner), class: of, .. } = row.subject
            && of == class
        {
            let total: &mut Nanos = owners.entry(owner).or_default();
            total.0 = total.0.saturating_add(row.contended.total().0);
        }
    }
    owners.into_iter().max_by_key(|(_, total)| *total).filter(|(_, total)| total.0 > 0)
}
