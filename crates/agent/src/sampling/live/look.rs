//! What those samples stand for that live at a time.

use rustc_hash::FxHashMap;

use super::super::samples::{SampleKey, Sampled};
use super::reservoir::Followed;
use agent_base::clock::Ticks;
use agent_base::ids::{GcNumber, StackIndex};

/// So many are kept apart in one look, with their threads; then without, and then without stacks.
const MOST: usize = 1 << 14;
/// Ages from here on are rounded.
const FIRST_ROUNDED: u64 = 8;

/// How many collections an object has survived; from eight on a power of two, which is no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Age(pub(crate) u64);

impl Age {
    fn between(since: GcNumber, now: GcNumber) -> Age {
        let exact = now.0.saturating_sub(since.0);
        Age(if exact < FIRST_ROUNDED { exact } else { 1 << exact.ilog2() })
    }
}

/// The living objects among the samples, by site, stack, thread and age.
pub(crate) struct LiveLook {
    pub(crate) time: Ticks,
    pub(crate) living: FxHashMap<(SampleKey, Age), Sampled>,
}

impl LiveLook {
    /// What these objects stand for, after so many collections.
    pub(super) fn of(objects: &[Followed], now: GcNumber, time: Ticks) -> LiveLook {
        let whole = |key| key;
        let without_thread = |key| SampleKey { thread: None, ..key };
        let without_stack = |key| SampleKey { thread: None, stack: StackIndex::default(), ..key };
        let parts: [&dyn Fn(SampleKey) -> SampleKey; 3] = [&whole, &without_thread, &without_stack];
        let mut living = FxHashMap::default();
        for part in parts {
            living = sums(objects, now, part);
            if living.len() <= MOST {
                break;
            }
        }
        LiveLook { time, living }
    }
}

fn sums(
    objects: &[Followed],
    now: GcNumber,
    part: &dyn Fn(SampleKey) -> SampleKey,
) -> FxHashMap<(SampleKey, Age), Sampled> {
    let mut sums: FxHashMap<(SampleKey, Age), Sampled> = FxHashMap::default();
    for object in objects {
        let key = (part(object.key), Age::between(object.since, now));
        sums.entry(key).or_default().add(object.size, object.probability());
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::reservoir::Chance;
    use super::*;
    use agent_base::ids::{AllocationSite, ClassIndex, ThreadIndex};

    fn object(stack: u32, thread: u32, since: u64, chance: u8) -> Followed {
        let site = AllocationSite { class: ClassIndex(1), location: None };
        let key = SampleKey { site, stack: StackIndex(stack), thread: Some(ThreadIndex(thread)) };
        let weak = std::ptr::null_mut();
        Followed { weak, key, sampled: 0.001, size: 64, since: GcNumber(since), chance: Chance(chance) }
    }

    #[test]
    fn ages_are_exact_at_first_and_never_too_high() {
        let age = |collections: u64| Age::between(GcNumber(5), GcNumber(5 + collections)).0;
        assert_eq!((0..10).map(age).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]);
        assert_eq!((age(15), age(16), age(1000)), (8, 16, 512));
    }

    #[test]
    fn a_chance_of_a_half_stands_for_twice_as_much() {
        let look = |chance| {
            let objects = [object(1, 1, 3, chance), object(1, 1, 4, chance)];
            LiveLook::of(&objects, GcNumber(4), Ticks(1)).living
        };
        let (whole, half) = (look(0), look(1));
        assert_eq!((whole.len(), half.len()), (2, 2));
        for (key, sampled) in whole {
            assert_eq!((half[&key].bytes, half[&key].samples), (2.0 * sampled.bytes, 1));
            assert!(half[&key].error() > 1.9 * sampled.error() && sampled.error() > 0.9 * sampled.bytes);
        }
    }

    #[test]
    fn too_many_lose_their_threads_and_then_their_stacks() {
        let look = |objects: &mut dyn Iterator<Item = Followed>| {
            let objects: Vec<_> = objects.collect();
            let look = LiveLook::of(&objects, GcNumber(4), Ticks(1));
            let samples: u64 = look.living.values().map(|sampled| sampled.samples).sum();
            assert_eq!(samples, objects.len() as u64);
            look.living.len()
        };
        let many = 2 * MOST as u32;
        assert_eq!(look(&mut (0..100).map(|number| object(number, number, 1, 0))), 100);
        assert_eq!(look(&mut (0..many).map(|number| object(number % 50, number, 1, 0))), 50);
        assert_eq!(look(&mut (0..many).map(|number| object(number, number, 1, 0))), 1);
    }
}
