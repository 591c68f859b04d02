//! Locks that cost much, and threads that still wait for one when the trace ends.

use std::collections::{BTreeMap, BTreeSet};

use trace::time::Nanos;

use super::{Blocked, Contention, LineWaits, MOST, Waited, part};
use crate::location::Location;
use crate::locks::{CalledLock, Durations, LockBy, LockReport, LockSubject, ThreadName, TimeTotals};

/// A thread that waits for less than this part of the time hardly loses any.
const LEAST_SHARE: f64 = 0.05;
/// Less is what starting threads costs.
const LEAST_TOTAL: Nanos = Nanos(100_000_000);
/// Fewer are a thread that lost its processor while it had the lock, unless one of them was long.
const LEAST_WAITS: u64 = 10;
/// Who waits so long for a lock once has a reason to ask. A trace may end while a thread waits for less.
const LONG: Nanos = Nanos(1_000_000_000);

/// How long threads waited for the lock that cost most.
pub(super) fn most(report: &LockReport) -> Option<Nanos> {
    let rows = report.rows(LockBy::Monitor, false);
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

/// The locks that cost most, if they cost much in so much time; and the classes of locks of which no single one does, but all together.
pub(super) fn locks(report: &LockReport, length: Nanos) -> Vec<Contention<'_>> {
    let costs_much = |contended: &Durations| {
        let is_repeated = contended.count() >= LEAST_WAITS || contended.max() >= LONG;
        is_repeated && contended.total() >= LEAST_TOTAL && part(contended.total().0, length.0) >= LEAST_SHARE
    };
    let mut found = Vec::new();
    let mut locks_of: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let mut has_single = BTreeSet::new();
    for row in report.rows(LockBy::Monitor, false).iter().filter(|row| row.contended.count() > 0) {
        let LockSubject::Monitor { name, class, object } = row.subject else { continue };
        *locks_of.entry(class).or_default() += 1;
        if let Some((object, serial)) = object.filter(|_| costs_much(&row.contended)) {
            has_single.insert(class);
            let lock = report.single_lock(serial);
            found.push(Contention {
                single: Some(CalledLock { name, class, object }),
                owner: lock.owners.first().map(|(thread, waits)| (*thread, waits.total)),
                waiters: lock.waiters.into_iter().map(place).collect(),
                owners: lock.holders.into_iter().map(place).collect(),
                ..contention(class, 1, &row.contended, length)
            });
        }
    }
    for row in report.rows(LockBy::Class, false) {
        let LockSubject::Class(class) = row.subject else { continue };
        if costs_much(&row.contended) && !has_single.contains(&class) {
            found.push(Contention {
                waiters: places(report, LockBy::Site, class),
                owners: places(report, LockBy::Holder, class),
                owner: owner(report, class),
                ..contention(class, locks_of.get(&class).copied().unwrap_or(0), &row.contended, length)
            });
        }
    }
    found.sort_by(|a, b| b.waited.total.cmp(&a.waited.total).then_with(|| a.class.cmp(&b.class)));
    found.truncate(MOST);
    found
}

fn contention<'a>(class: Option<&'a str>, locks: u64, contended: &Durations, length: Nanos) -> Contention<'a> {
    let waited = Waited { waits: contended.count(), total: contended.total() };
    Contention {
        class,
        single: None,
        locks,
        waited,
        share: part(waited.total.0, length.0),
        waiters: Vec::new(),
        owners: Vec::new(),
        owner: None,
    }
}

fn place<'a>((at, waits): (Location<'a>, TimeTotals)) -> LineWaits<'a> {
    LineWaits { at, waited: Waited { waits: waits.count, total: waits.total } }
}

/// Where threads waited for locks of a class, or where their owners were.
fn places<'a>(report: &'a LockReport, by: LockBy, class: Option<&str>) -> Vec<LineWaits<'a>> {
    let mut places: Vec<LineWaits<'a>> = report
        .rows(by, false)
        .into_iter()
        .filter(|row| row.contended.count() > 0)
        .filter_map(|row| match row.subject {
            LockSubject::Site { class: of, at: Some(at) } if of == class => {
                Some(LineWaits { at, waited: Waited { waits: row.contended.count(), total: row.contended.total() } })
            }
            _ => None,
        })
        .collect();
    places.sort_by(|a, b| b.waited.total.cmp(&a.waited.total).then_with(|| a.at.cmp(&b.at)));
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
