//! Where threads wait for each single lock, and who owned it meanwhile. The other tables have this by class, where locks of the program
//! and of the JDK mix.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::threads::{RowIndex, ThreadName, Threads, TimeTotals};
use crate::location::Location;
use crate::symbols::{SiteIndex, Symbols};

/// Maximum number of entries; what comes later is not known.
const MOST: usize = 100_000;

/// A lock by its serial number, and a part of the waits for it.
pub(super) type PlaceKey = (u64, LockPart);

/// Which waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LockPart {
    /// Those of threads at a line.
    Waiters(SiteIndex),
    /// Those while the owner was at a line.
    Holders(SiteIndex),
    /// Those while a thread owned it.
    Owner(RowIndex),
}

/// The waits for all locks.
#[derive(Clone, Debug, Default)]
pub(super) struct LockPlaces(FxHashMap<PlaceKey, TimeTotals>);

impl LockPlaces {
    pub(super) fn add(&mut self, key: PlaceKey, length: Nanos) {
        if self.0.len() < MOST || self.0.contains_key(&key) {
            self.0.entry(key).or_default().add(length);
        }
    }

    /// The waits for the lock of a serial number.
    pub(super) fn single<'a>(&self, monitor: u64, symbols: &'a Symbols, threads: &'a Threads) -> SingleLock<'a> {
        let mut lock = SingleLock::default();
        let mut owners: FxHashMap<ThreadName<'_>, TimeTotals> = FxHashMap::default();
        for (&(_, part), &waits) in self.0.iter().filter(|((of, _), _)| *of == monitor) {
            match part {
                LockPart::Waiters(site) => lock.waiters.push((symbols.location(site), waits)),
                LockPart::Holders(site) => lock.holders.push((symbols.location(site), waits)),
                LockPart::Owner(row) => owners.entry(threads.name(row, true)).or_default().merge(waits),
            }
        }
        lock.owners = owners.into_iter().collect();
        lock.waiters.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
        lock.holders.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
        lock.owners.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
        lock
    }
}

/// Waits for one lock, as far as they are known: longest in all first.
#[derive(Clone, Debug, Default)]
pub struct SingleLock<'a> {
    /// Where threads waited.
    pub waiters: Vec<(Location<'a>, TimeTotals)>,
    /// Where its owner was meanwhile.
    pub holders: Vec<(Location<'a>, TimeTotals)>,
    /// Who that was; threads whose names differ in numbers only are one.
    pub owners: Vec<(ThreadName<'a>, TimeTotals)>,
}
