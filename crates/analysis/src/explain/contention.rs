//! Locks that cost much, and threads that still wait for one when the trace ends.

use std::collections::{BTreeMap, BTreeSet};

use trace::time::Nanos;

use super::dumped::Named;
use super::{Blocked, Contention, LineWaits, MOST, Waited, part};
use crate::locks::{
    CalledLock, LockBy, LockName, LockReport, LockRow, LockSubject, LocksOf, Place, TimeTotals, WaitPlaces,
};
use crate::own_code::OwnCode;

/// A thread that waits for less than this part of the time hardly loses any.
const LEAST_SHARE: f64 = 0.05;
/// Less is what starting threads costs.
const LEAST_TOTAL: Nanos = Nanos(100_000_000);
/// Fewer are a thread that lost its processor while it had the lock, unless one of them was long.
const LEAST_WAITS: u64 = 10;
/// Who waits so long for a lock once has a reason to ask. A trace may end while a thread waits for less.
const LONG: Nanos = Nanos(1_000_000_000);
/// Whoever ends the JVM has locks of this class locked until all shutdown hooks have run: who waits for one waits for the end.
const END: &str = "java.lang.Shutdown";

fn is_of_the_end(name: Option<LockName<'_>>) -> bool {
    name.is_some_and(|name| name.class == END)
}

/// How long threads waited for the lock that cost most.
pub(super) fn most(report: &LockReport) -> Option<Nanos> {
    let rows = report.rows(LockBy::Monitor, false);
    let rows = rows.iter().filter(|row| !row.says_too_little());
    rows.map(|row| row.contended.total()).max().filter(|most| most.0 > 0)
}

/// Threads that have waited for locks for long when the trace ends, not for each other, and are in no finding yet; of many those that blocked first.
pub(super) fn blocked<'a>(report: &'a LockReport, named: &Named<'_>) -> Option<Blocked<'a>> {
    let mut stuck = report.stuck().0;
    stuck.retain(|stuck| stuck.length >= LONG && !is_of_the_end(stuck.name) && !named.has_thread(stuck.thread.name));
    let threads = stuck.len() as u64;
    let longest = stuck.into_iter().max_by_key(|stuck| stuck.length)?;
    Some(Blocked { threads, longest })
}

/// The locks that cost most, if they cost much in so much time; and the classes of locks of which no single one does, but all together. Those of which a finding says more are left out.
pub(super) fn locks<'a>(
    report: &'a LockReport,
    named: &Named<'_>,
    length: Nanos,
    own: &mut OwnCode,
) -> Vec<Contention<'a>> {
    let costs_much = |row: &LockRow<'_>| {
        let contended = &row.contended;
        let is_repeated = contended.count() >= LEAST_WAITS || contended.max() >= LONG;
        let error = row.estimate.map_or(0, |estimate| estimate.error.0);
        let total = Nanos(contended.total().0.saturating_sub(error));
        is_repeated && !row.says_too_little() && total >= LEAST_TOTAL && part(total.0, length.0) >= LEAST_SHARE
    };
    let mut found = Vec::new();
    let mut locks_of: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let mut has_single = BTreeSet::new();
    for row in report.rows(LockBy::Monitor, false).into_iter().filter(|row| row.contended.count() > 0) {
        let LockSubject::Monitor { name, class, object } = row.subject else { continue };
        if is_of_the_end(name) {
            // Among the waits of its class.
            if costs_much(&row) {
                has_single.insert(class);
            }
            continue;
        }
        *locks_of.entry(class).or_default() += 1;
        if let Some((object, serial)) = object.filter(|_| costs_much(&row)) {
            has_single.insert(class);
            if named.has_waits_of(&row, object) {
                continue;
            }
            found.push((LocksOf::Single(serial), class, Some(CalledLock { name, class, object }), 1, row));
        }
    }
    for row in report.rows(LockBy::Class, false) {
        let LockSubject::Class(class) = row.subject else { continue };
        if costs_much(&row) && !has_single.contains(&class) {
            let locks = locks_of.get(&class).copied().unwrap_or(0);
            found.push((LocksOf::Class(class), class, None, locks, row));
        }
    }
    found.sort_by(|a, b| b.4.contended.total().cmp(&a.4.contended.total()).then_with(|| a.1.cmp(&b.1)));
    found.truncate(MOST);
    let contention = |(which, class, single, locks, row): (_, _, _, _, LockRow<'a>)| {
        let WaitPlaces { waiters, holders, owners } = report.wait_places(which, own);
        let waited = Waited { waits: row.contended.count(), total: row.contended.total() };
        let [longest, _] = row.longest;
        Contention {
            class,
            single,
            locks,
            waited,
            estimate: row.estimate,
            share: part(waited.total.0, length.0),
            waiters: waiters.into_iter().map(place).collect(),
            owners: holders.into_iter().map(place).collect(),
            owner: owners.first().map(|(thread, waits)| (*thread, waits.total)),
            longest,
        }
    };
    found.into_iter().map(contention).collect()
}

fn place<'a>((place, waits): (Place<'a>, TimeTotals)) -> LineWaits<'a> {
    LineWaits { place, waited: Waited { waits: waits.count, total: waits.total } }
}
