//! How old a group of objects is, in collections survived.

use rustc_hash::FxHashMap;

/// How old a group of objects is, in collections survived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgeSpread {
    /// Objects whose age is known.
    objects: u64,
    /// Those of them that have survived a collection.
    survivors: u64,
    sum: u64,
    /// How many objects have each age.
    different: FxHashMap<u32, u64>,
}

impl FromIterator<u32> for AgeSpread {
    fn from_iter<I: IntoIterator<Item = u32>>(ages: I) -> Self {
        let mut spread = AgeSpread::default();
        ages.into_iter().for_each(|age| spread.push(age));
        spread
    }
}

impl AgeSpread {
    /// The average; `None` without an object of known age.
    pub fn average(&self) -> Option<f64> {
        (self.objects > 0).then(|| self.sum as f64 / self.objects as f64)
    }

    /// Number of different ages. Few mean "allocated once", many mean "always allocated, never released".
    pub fn generations(&self) -> u64 {
        self.different.len() as u64
    }

    /// The age of the oldest; `None` without an object of known age.
    pub fn oldest(&self) -> Option<u32> {
        self.different.keys().copied().max()
    }

    /// Do survivors accumulate: has about every second collection since the first of them left more?
    pub fn is_growing(&self) -> bool {
        /// Less than this may be chance.
        const LEAST: u64 = 3;
        let spans = self.oldest().map_or(0, |oldest| u64::from(oldest) + 1);
        self.generations() >= LEAST && self.generations() * 2 >= spans
    }

    /// Adds an object.
    pub(crate) fn push(&mut self, age: u32) {
        self.push_some(age, 1);
    }

    /// Adds objects of one age.
    pub(crate) fn push_some(&mut self, age: u32, objects: u64) {
        self.objects = self.objects.saturating_add(objects);
        self.survivors = self.survivors.saturating_add(if age > 0 { objects } else { 0 });
        self.sum = self.sum.saturating_add(u64::from(age).saturating_mul(objects));
        *self.different.entry(age).or_default() += objects;
    }

    /// Of objects of which only some are known: do survivors come all the time? Their ages lie in the older half and in the younger one.
    /// How many ages there are says little: collections come in bursts, and in between only the objects of one age are made. What has
    /// not met a collection yet is no survivor.
    ///
    /// The agent rounds ages of eight and more down to a power of two. Such an age stands for itself alone, or, if so many objects have
    /// it, for all up to the next; then it lies where the first of these does, or the last.
    pub(crate) fn are_spread(&self) -> bool {
        /// Fewer may be chance.
        const LEAST: u64 = 8;
        const LEAST_AGES: usize = 3;
        const FIRST_ROUNDED: u32 = 8;
        let oldest = self.oldest().unwrap_or(0);
        let survivors = || self.different.iter().filter(|&(&age, _)| age > 0);
        // How many ages one may stand for besides itself.
        let more = |age: u32| if age >= FIRST_ROUNDED && age.is_power_of_two() { age - 1 } else { 0 };
        let are_spread = |stands_for: &dyn Fn(u32, u64) -> u64, lies_at: &dyn Fn(u32) -> u32| {
            let (mut young, mut old) = (0_u64, 0_u64);
            for (&age, &objects) in survivors() {
                let half = if lies_at(age) <= oldest / 2 { &mut young } else { &mut old };
                *half = half.saturating_add(stands_for(age, objects));
            }
            let ages = young.saturating_add(old);
            young.saturating_mul(4) >= ages && old.saturating_mul(4) >= ages
        };
        let several = |age: u32, objects: u64| objects.clamp(1, u64::from(more(age)) + 1);
        self.survivors >= LEAST
            && survivors().count() >= LEAST_AGES
            && (are_spread(&|_, _| 1, &|age| age)
                || are_spread(&several, &|age| age)
                || are_spread(&several, &|age| age.saturating_add(more(age))))
    }

    /// Adds a group that shares no object with this one.
    pub(crate) fn add(&mut self, other: &AgeSpread) {
        self.objects = self.objects.saturating_add(other.objects);
        self.survivors = self.survivors.saturating_add(other.survivors);
        self.sum = self.sum.saturating_add(other.sum);
        other.different.iter().for_each(|(&age, objects)| *self.different.entry(age).or_default() += objects);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spreads(ages: &[u32]) -> bool {
        ages.iter().copied().collect::<AgeSpread>().are_spread()
    }

    #[test]
    fn survivors_of_bursts_of_collections_are_spread() {
        // 28 collections, of which most came directly behind others.
        assert!(spreads(&[28, 28, 28, 20, 20, 14, 9, 9, 9, 3, 3]));
        assert!(spreads(&[1, 1, 2, 2, 3, 3, 3, 3]));
    }

    #[test]
    fn survivors_of_many_collections_are_spread_though_their_ages_are_rounded_down() {
        let rounded = |ages: std::ops::Range<u32>| {
            let round = |age: u32| if age < 8 { age } else { 1 << age.ilog2() };
            spreads(&ages.map(round).collect::<Vec<_>>())
        };
        for oldest in [12, 16, 20, 31, 32, 40, 63, 64, 100, 1000] {
            assert!(rounded(1..oldest + 1), "{oldest}");
            assert!(oldest < 16 || rounded(4..oldest + 1), "{oldest}");
            assert!(!rounded(oldest * 3 / 4..oldest + 1), "{oldest}");
        }
        // What is in use now beside what was kept at the beginning.
        assert!(!spreads(&[&[64; 100][..], &[1, 2, 3, 4, 5, 6]].concat()));
    }

    #[test]
    fn what_was_kept_at_the_beginning_or_is_in_use_now_is_not() {
        assert!(!spreads(&[28, 28, 28, 27, 27, 26, 26, 25]));
        // What has met no collection is no survivor, and does not make the rest one that comes all the time.
        assert!(!spreads(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]));
        assert!(!spreads(&[0, 0, 0, 0, 9, 9, 9, 8, 8, 8, 8, 8]));
        assert!(!spreads(&[1, 1, 1, 1, 1, 2, 2, 2, 2]));
        assert!(!spreads(&[]));
    }
}
