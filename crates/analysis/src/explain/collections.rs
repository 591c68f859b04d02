//! What collections cost, and how much was in use after them.

use trace::model::Element;
use trace::time::{Nanos, Time};

/// Maximum number of fills that are kept; twice as many collections share one from then on.
const MAX_FILLS: usize = 768;

/// A smaller rise is within what caches and classes of a program need that has just begun.
const LEAST_RISE: u64 = 32 << 20;
/// And a heap that was fuller at first has to rise further.
const LEAST_GROWTH: f64 = 1.5;
/// A small heap that is twice as full, after many collections, has risen too ...
const SMALL_RISE: u64 = 8 << 20;
const SMALL_GROWTH: f64 = 2.0;
/// ... of which each third has enough of those that look at the older part of the heap.
const MANY_COLLECTIONS: u64 = 30;
/// Of fewer collections each third may be chance: the least of three is compared with the least of three.
const LEAST_COLLECTIONS: u64 = 9;

/// So many collections are kept one by one; of more, each stands for several.
const MAX_EACH: usize = 4096;

/// A collection, or several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// When it began.
    pub since: Time,
    /// How long the program stood still for it.
    pub pause: Nanos,
    /// How many collections it stands for.
    pub collections: u64,
    /// Bytes in use after it, if the trace has them.
    pub used: Option<u64>,
}

/// The collections of a trace that stopped the program.
#[derive(Clone, Debug)]
pub struct Collections {
    count: u64,
    pauses: Nanos,
    begun: Option<Time>,
    /// The least that was in use after so many collections in a row, in order.
    fills: Vec<u64>,
    /// How many collections share each of `fills`.
    stride: u64,
    /// How many collections are in the last of `fills`.
    in_last: u64,
    /// How many said what was in use after them.
    filled: u64,
    last: Option<u64>,
    /// Each, where that is asked for.
    each: Option<Vec<Collected>>,
}

/// What is in use after collections becomes more and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// The least that was in use after a collection of the first third.
    pub from: u64,
    /// The least that was in use after one of the last third.
    pub to: u64,
    /// Collections that said what was in use.
    pub collections: u64,
}

impl Default for Collections {
    fn default() -> Self {
        Collections {
            count: 0,
            pauses: Nanos(0),
            begun: None,
            fills: Vec::new(),
            stride: 1,
            in_last: 0,
            filled: 0,
            last: None,
            each: None,
        }
    }
}

impl Collections {
    /// The same with each of them.
    pub fn with_each() -> Self {
        Collections { each: Some(Vec::new()), ..Self::default() }
    }

    /// Each of them, in their order; some in a row are one if there are very many. Empty if that was not asked for.
    pub fn each(&self) -> &[Collected] {
        self.each.as_deref().unwrap_or_default()
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How long the program stood still for them in all.
    pub fn pauses(&self) -> Nanos {
        self.pauses
    }

    /// Bytes in use after the last one, if the trace has them.
    pub fn used_after_last(&self) -> Option<u64> {
        self.last
    }

    /// Whether what is in use becomes more and more: the least after a collection of each third of them is more than that of the third
    /// before. The least, since most collections leave garbage in the older part of the heap, and only some look there.
    pub fn rise(&self) -> Option<Rise> {
        let third = self.fills.len() / 3;
        if self.filled < LEAST_COLLECTIONS || third == 0 {
            return None;
        }
        let least = |fills: &[u64]| fills.iter().copied().min().unwrap_or(0);
        let [from, middle, to] = [
            &self.fills[..third],
            &self.fills[third..self.fills.len() - third],
            &self.fills[self.fills.len() - third..],
        ]
        .map(least);
        if !(from < middle && middle < to) {
            return None;
        }
        let (rise, growth) = (to - from, to as f64 / from as f64);
        let is_small_rise = self.filled >= MANY_COLLECTIONS && rise >= SMALL_RISE && growth >= SMALL_GROWTH;
        (is_small_rise || rise >= LEAST_RISE && growth >= LEAST_GROWTH).then_some(Rise {
            from,
            to,
            collections: self.filled,
        })
    }

    pub(super) fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::GcStart(start) => self.begun = Some(start.time),
            Element::GcFinish(finish) => {
                self.count += 1;
                if let Some(begun) = self.begun.take() {
                    let pause = finish.time.since(begun);
                    self.pauses = Nanos(self.pauses.0.saturating_add(pause.0));
                    self.keep(Collected { since: begun, pause, collections: 1, used: finish.used_space });
                }
                if let Some(used) = finish.used_space {
                    self.fill(used);
                }
            }
            _ => {}
        }
    }

    pub(super) fn end_document(&mut self) {
        self.begun = None;
    }

    fn keep(&mut self, collected: Collected) {
        let Some(each) = &mut self.each else { return };
        if each.len() == MAX_EACH {
            let both = |pair: &[Collected]| Collected {
                since: pair[0].since,
                pause: Nanos(pair.iter().map(|one| one.pause.0).sum()),
                collections: pair.iter().map(|one| one.collections).sum(),
                used: pair.iter().rev().find_map(|one| one.used),
            };
            *each = each.chunks(2).map(both).collect();
        }
        each.push(collected);
    }

    fn fill(&mut self, used: u64) {
        self.filled += 1;
        self.last = Some(used);
        match self.fills.last_mut() {
            Some(last) if self.in_last < self.stride => {
                *last = used.min(*last);
                self.in_last += 1;
                return;
            }
            _ => {}
        }
        if self.fills.len() == MAX_FILLS {
            self.fills = self.fills.chunks(2).map(|pair| pair.iter().copied().min().unwrap_or(0)).collect();
            self.stride *= 2;
        }
        self.fills.push(used);
        self.in_last = 1;
    }
}

#[cfg(test)]
mod tests {
    use trace::model::{GcFinish, GcStart};

    use super::*;

    fn collections(fills: impl IntoIterator<Item = u64>) -> Collections {
        let mut collections = Collections::default();
        for (number, used) in (0..).zip(fills) {
            let finish = GcFinish {
                time: Time(number * 100 + 7),
                used_objects: None,
                used_space: Some(used),
                total_space: None,
            };
            collections.element(&Element::GcStart(GcStart { time: Time(number * 100), thread: None }));
            collections.element(&Element::GcFinish(finish));
        }
        collections
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn pauses_are_added_up() {
        let collections = collections([1, 2, 3]);
        assert_eq!((collections.count(), collections.pauses()), (3, Nanos(21)));
        assert_eq!(collections.used_after_last(), Some(3));
    }

    #[test]
    fn a_heap_that_fills_more_and_more_rises() {
        let leak = collections((1..=9).map(|number| number * 10 * MIB));
        assert_eq!(leak.rise(), Some(Rise { from: 10 * MIB, to: 70 * MIB, collections: 9 }));
        // Too few, too little, too little of what was there.
        assert_eq!(collections((1..=8).map(|number| number * 10 * MIB)).rise(), None);
        assert_eq!(collections((1..=9).map(|number| number * 4 * MIB)).rise(), None);
        assert_eq!(collections((1..=9).map(|number| (400 + number * 10) * MIB)).rise(), None);
        assert_eq!(collections([]).rise(), None);
    }

    #[test]
    fn a_small_heap_rises_too_if_many_collections_say_so() {
        let heap = |count: u64, least: u64, most: u64| {
            collections((0..count).map(|number| least * MIB + (most - least) * MIB * number / count)).rise().is_some()
        };
        assert!(heap(30, 5, 30));
        assert!(!heap(29, 5, 30), "few collections");
        assert!(!heap(30, 1, 12), "little");
        assert!(!heap(30, 20, 45), "not twice as much");
    }

    #[test]
    fn what_a_later_collection_frees_is_no_rise() {
        let saw = collections((0..90).map(|number| (20 + number % 30 * 10) * MIB));
        assert_eq!(saw.rise(), None);
        // A cache that has filled.
        assert_eq!(collections((0..90).map(|number| number.min(15) * 20 * MIB)).rise(), None);
    }

    #[test]
    fn each_is_kept_until_there_are_very_many() {
        let mut few = Collections::with_each();
        let collect = |collections: &mut Collections, at: u64| {
            collections.element(&Element::GcStart(GcStart { time: Time(at), thread: None }));
            let finish = GcFinish { time: Time(at + 7), used_objects: None, used_space: Some(at), total_space: None };
            collections.element(&Element::GcFinish(finish));
        };
        collect(&mut few, 100);
        assert_eq!(few.each(), [Collected { since: Time(100), pause: Nanos(7), collections: 1, used: Some(100) }]);
        let mut many = few;
        (2..20_000).for_each(|number| collect(&mut many, number * 100));
        let pauses: u64 = many.each().iter().map(|one| one.pause.0).sum();
        assert!(many.each().len() <= MAX_EACH && pauses == many.pauses().0, "{}", many.each().len());
        assert!(collections([1]).each().is_empty());
    }

    #[test]
    fn memory_is_bounded_however_many_there_are() {
        let many = collections((0..100_000).map(|number| number * MIB));
        assert!(many.fills.len() <= MAX_FILLS && many.stride == 256, "{} {}", many.fills.len(), many.stride);
        let rise = many.rise().unwrap();
        assert_eq!((rise.from, rise.collections), (0, 100_000));
        assert!((rise.to / MIB).abs_diff(66_666) < 512, "{rise:?}");
    }
}
