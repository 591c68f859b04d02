//! How old a group of objects is, in collections survived.

use rustc_hash::FxHashSet;

/// How old a group of objects is, in collections survived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgeSpread {
    /// Objects whose age is known.
    objects: u64,
    sum: u64,
    different: FxHashSet<u32>,
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
        self.different.iter().copied().max()
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
        self.sum = self.sum.saturating_add(u64::from(age).saturating_mul(objects));
        self.different.insert(age);
    }

    /// Of objects of which only some are known: do they spread over the ages as those do that are released by nobody? Of each age there
    /// can be no more than one is known of, and the youngest half has its part.
    pub(crate) fn are_spread(&self) -> bool {
        /// Fewer may be chance.
        const LEAST: u64 = 8;
        let oldest = self.oldest().unwrap_or(0);
        let expected = self.objects.min(u64::from(oldest) + 1);
        let young = self.different.iter().filter(|&&age| age <= oldest / 2).count() as u64;
        self.objects >= LEAST
            && self.generations() * 2 >= expected
            && self.generations() >= 3
            && young * 4 >= self.generations()
    }

    /// Adds a group that shares no object with this one.
    pub(crate) fn add(&mut self, other: &AgeSpread) {
        self.objects = self.objects.saturating_add(other.objects);
        self.sum = self.sum.saturating_add(other.sum);
        self.different.extend(&other.different);
    }
}
