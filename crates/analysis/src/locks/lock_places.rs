//! Where threads wait for each lock, and what its owner did meanwhile: by whole stacks, so that a reader can name the frame that is the
//! user's own and what that calls.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::report::LockReport;
use super::stacks::StackIndex;
use super::threads::{RowIndex, ThreadName, TimeTotals};
use crate::location::Location;
use crate::own_code::OwnCode;
use crate::symbols::ClassIndex;

/// Maximum number of entries; what comes later is not known.
const MOST: usize = 100_000;

/// A part of the waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlaceKey {
    pub(super) class: Option<ClassIndex>,
    /// The lock's serial number; a lock log has none.
    pub(super) monitor: Option<u64>,
    pub(super) part: LockPart,
}

/// Which waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LockPart {
    /// Those of threads with a stack.
    Waiters(StackIndex),
    /// Those while the owner had a stack.
    Holders(StackIndex),
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
}

/// Which locks are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocksOf<'a> {
    /// The one with this serial number ([`LockSubject::Monitor`](super::LockSubject::Monitor)).
    Single(u64),
    /// All of a class, if it is known.
    Class(Option<&'a str>),
}

/// A line of the user's code, and what it called there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place<'a> {
    /// The line.
    pub at: Location<'a>,
    /// The frame that it called; `None` if the line is innermost.
    pub calls: Option<Location<'a>>,
}

/// Waits for locks, as far as they are known: longest in all first.
#[derive(Clone, Debug, Default)]
pub struct WaitPlaces<'a> {
    /// Where threads waited.
    pub waiters: Vec<(Place<'a>, TimeTotals)>,
    /// Where the owner was meanwhile.
    pub holders: Vec<(Place<'a>, TimeTotals)>,
    /// Who that was; the threads of a pool are one.
    pub owners: Vec<(ThreadName<'a>, TimeTotals)>,
}

impl LockReport {
    /// Where threads waited for locks, and what the owners did. Lines are those of the user's own code.
    pub fn wait_places<'a>(&'a self, locks: LocksOf<'_>, own: &mut OwnCode) -> WaitPlaces<'a> {
        let is_meant = |key: &PlaceKey| match locks {
            LocksOf::Single(monitor) => key.monitor == Some(monitor),
            LocksOf::Class(class) => key.class.map(|class| self.class(class)) == class,
        };
        let [mut waiters, mut holders] = [FxHashMap::default(), FxHashMap::default()];
        let mut owners: FxHashMap<ThreadName<'_>, TimeTotals> = FxHashMap::default();
        for (key, &waits) in self.lock_places.0.iter().filter(|(key, _)| is_meant(key)) {
            let (places, stack) = match key.part {
                LockPart::Owner(row) => {
                    owners.entry(self.threads.name(row, true)).or_default().merge(waits);
                    continue;
                }
                LockPart::Waiters(stack) => (&mut waiters, stack),
                LockPart::Holders(stack) => (&mut holders, stack),
            };
            if let Some(place) = self.place(stack, own) {
                places.entry(place).or_insert_with(TimeTotals::default).merge(waits);
            }
        }
        WaitPlaces { waiters: longest_first(waiters), holders: longest_first(holders), owners: longest_first(owners) }
    }

    fn place(&self, stack: StackIndex, own: &mut OwnCode) -> Option<Place<'_>> {
        let frames = self.stacks.frames(stack);
        let site = own.frame(frames, &self.symbols)?;
        let calls = frames.iter().take_while(|&&frame| frame != site).last();
        Some(Place { at: self.symbols.location(site), calls: calls.map(|&frame| self.symbols.location(frame)) })
    }
}

fn longest_first<K: Ord>(waits: FxHashMap<K, TimeTotals>) -> Vec<(K, TimeTotals)> {
    let mut waits: Vec<(K, TimeTotals)> = waits.into_iter().collect();
    waits.sort_by(|a, b| b.1.total.cmp(&a.1.total).then_with(|| a.0.cmp(&b.0)));
    waits
}
