//! How many objects, how large, how old: the numbers of a cell, and of a row.

use crate::ages::AgeSpread;
use crate::call_tree::error;

/// A number of objects, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// So many times as much.
fn scaled(number: u64, scale: f64) -> u64 {
    (number as f64 * scale).round() as u64
}

impl Amount {
    /// So many times as much.
    pub(super) fn scaled(self, scale: f64) -> Amount {
        Amount { objects: scaled(self.objects, scale), bytes: scaled(self.bytes, scale) }
    }

    /// Adds another amount; stays at the largest numbers there are if a hostile trace exceeds them.
    pub(super) fn add(&mut self, other: Amount) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// Takes back what was added before.
    pub(super) fn remove(&mut self, other: Amount) {
        self.objects = self.objects.saturating_sub(other.objects);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }
}

/// Objects, and how well they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Known {
    pub(super) amount: Amount,
    /// Of how many samples, if they are not counted.
    pub(super) samples: u64,
    /// The standard error of their bytes, squared.
    pub(super) variance: f64,
}

impl Known {
    fn add(&mut self, other: &Known) {
        self.amount.add(other.amount);
        self.samples = self.samples.saturating_add(other.samples);
        self.variance += other.variance;
    }

    fn scale(&mut self, scale: f64) {
        self.amount = self.amount.scaled(scale);
        self.variance *= scale * scale;
    }

    /// How far the bytes may be off with a confidence of 95 %; 0 if they are counted.
    fn error(&self) -> u64 {
        error(self.variance).min(self.amount.bytes)
    }
}

/// Objects that live.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Living {
    pub(super) all: Known,
    /// Those that have survived a collection; none where ages are not known.
    pub(super) survived: Known,
    /// Of those that the trace reports one by one, or of samples.
    pub(super) ages: AgeSpread,
}

impl Living {
    /// Adds objects that have survived `age` collections; of some of them this is known.
    pub(super) fn add_aged(&mut self, amount: Amount, age: u32, known: u64) {
        self.add_known(&Known { amount, samples: 0, variance: 0.0 }, age);
        self.ages.push_some(age, known);
    }

    /// The same of sampled ones.
    pub(super) fn add_sampled(&mut self, sampled: &Known, age: u32) {
        self.add_known(sampled, age);
        self.ages.push_some(age, sampled.samples);
    }

    fn add_known(&mut self, known: &Known, age: u32) {
        self.all.add(known);
        if age > 0 {
            self.survived.add(known);
        }
    }

    /// Those that were allocated since the last collection.
    pub(super) fn since_collection(&self) -> Known {
        let mut amount = self.all.amount;
        amount.remove(self.survived.amount);
        let samples = self.all.samples.saturating_sub(self.survived.samples);
        Known { amount, samples, variance: (self.all.variance - self.survived.variance).max(0.0) }
    }

    /// Adds a group that shares no object with this one.
    pub(super) fn add(&mut self, other: &Living) {
        self.all.add(&other.all);
        self.survived.add(&other.survived);
        self.ages.add(&other.ages);
    }

    /// Makes the samples stand for so many times as much.
    pub(super) fn scale(&mut self, scale: f64) {
        self.all.scale(scale);
        self.survived.scale(scale);
    }
}

/// Counts, sizes and ages of a group of objects (of a class, a package, a site, a thread, or all of them).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectTotals {
    pub(super) allocated: Amount,
    pub(super) living: Living,
    /// How many of the bytes the JIT let be allocated.
    estimated_bytes: Option<u64>,
    /// The standard error of these, squared, as the samples say; `None` if they do not.
    estimate_variance: Option<f64>,
}

impl ObjectTotals {
    /// Objects ever reported.
    pub fn total(&self) -> u64 {
        self.allocated.objects
    }

    /// Objects not collected when the trace ended.
    pub fn live(&self) -> u64 {
        self.living.all.amount.objects
    }

    /// Objects collected before the trace ended. Not known where objects are counted instead of reported
    /// one by one: some of the live ones may be older than the trace, so this is 0 at least.
    pub fn collected(&self) -> u64 {
        self.allocated.objects.saturating_sub(self.living.all.amount.objects)
    }

    /// Bytes of all objects ever reported ("total size"). Stays at the largest number there is if a hostile trace exceeds it.
    pub fn total_bytes(&self) -> u64 {
        self.allocated.bytes
    }

    /// Bytes of the live objects ("active size").
    pub fn live_bytes(&self) -> u64 {
        self.living.all.amount.bytes
    }

    /// Bytes of the live objects that have survived a collection: the others may be garbage that none has removed yet. 0 where ages are
    /// not known.
    pub fn survived_bytes(&self) -> u64 {
        self.living.survived.amount.bytes
    }

    /// Bytes of the collected objects.
    pub fn collected_bytes(&self) -> u64 {
        self.allocated.bytes.saturating_sub(self.living.all.amount.bytes)
    }

    /// How many of the bytes the JIT let be allocated, as a sampler estimates; `None` if none ran.
    pub fn estimated_bytes(&self) -> Option<u64> {
        self.estimated_bytes
    }

    /// Bytes that sites executed and the JIT did not let be allocated, as a sampler estimates; `None` if none ran.
    pub fn removed_bytes(&self) -> Option<u64> {
        self.estimated_bytes.map(|bytes| self.allocated.bytes.saturating_sub(bytes))
    }

    /// What samples say to live was allocated, and is no more than that: the difference is chance.
    pub(super) fn bound_living(&mut self) {
        if self.living.all.samples > 0 {
            for Amount { objects, bytes } in [&mut self.living.all.amount, &mut self.living.survived.amount] {
                *objects = self.allocated.objects.min(*objects);
                *bytes = self.allocated.bytes.min(*bytes);
            }
        }
    }

    /// Whether all of it was allocated, as the VM itself counted.
    pub(super) fn is_known_allocated(&self) -> bool {
        self.estimate_variance == Some(0.0) && self.estimated_bytes.is_some_and(|bytes| bytes >= self.allocated.bytes)
    }

    /// How far the estimate may be off, with a confidence of 95 % and more, where one object is sampled every `interval`
    /// bytes on average, or more often.
    ///
    /// The samples have a standard error of their own, but not those that did not come: of three intervals one sample is expected to be
    /// seen with such a confidence (the rule of three: e⁻³ is 5 %). Traces before Martini's samples have none: an object of s bytes,
    /// sampled with the probability p, contributes s²(1-p)/p to the estimate's variance (Horvitz and Thompson, 1952), at most s times the
    /// interval: so for all of them it is at most the interval times their bytes.
    pub fn estimate_error(&self, interval: u64) -> Option<u64> {
        let interval = interval as f64;
        let variance = self.estimate_variance.unwrap_or(self.estimated_bytes? as f64 * interval);
        Some(error(variance.max(2.25 * interval * interval)).min(self.allocated.bytes))
    }

    /// Collections that the live objects survived, on average; `None` if none is live, or ages are not known.
    pub fn average_age(&self) -> Option<f64> {
        self.living.ages.average()
    }

    /// Number of different ages among the live objects. Few mean "allocated once", many mean "always allocated, never released".
    pub fn generations(&self) -> u64 {
        self.living.ages.generations()
    }

    /// The age of the oldest live object; `None` if none is live, or ages are not known.
    pub fn oldest(&self) -> Option<u32> {
        self.living.ages.oldest()
    }

    /// Do survivors accumulate? See [`AgeSpread::is_growing`]; of samples, do they spread over the ages as leaked objects do?
    pub fn is_growing(&self) -> bool {
        if self.living.all.samples > 0 { self.living.ages.are_spread() } else { self.living.ages.is_growing() }
    }

    /// Of how many samples the live objects are known; 0 if they are counted.
    pub fn live_samples(&self) -> u64 {
        self.living.all.samples
    }

    /// How far the bytes of the live objects may be off with a confidence of 95 %; 0 if they are counted.
    pub fn live_error(&self) -> u64 {
        self.living.all.error()
    }

    /// Of how many samples those of the live objects are known that have survived a collection; 0 if they are counted.
    pub fn survived_samples(&self) -> u64 {
        self.living.survived.samples
    }

    /// How far their bytes may be off with a confidence of 95 %; 0 if they are counted.
    pub fn survived_error(&self) -> u64 {
        self.living.survived.error()
    }

    /// Counts bytes that a sampler estimates to have been allocated, and the square of their standard error if it says so.
    pub(super) fn estimated(&mut self, bytes: u64, variance: Option<f64>) {
        self.estimated_bytes = Some(self.estimated_bytes.unwrap_or(0).saturating_add(bytes));
        if let Some(variance) = variance {
            self.estimate_variance = Some(self.estimate_variance.unwrap_or(0.0) + variance);
        }
    }

    /// Adds a group that shares no object with this one.
    pub(super) fn add(&mut self, other: &ObjectTotals) {
        self.allocated.add(other.allocated);
        self.living.add(&other.living);
        if let Some(bytes) = other.estimated_bytes {
            self.estimated(bytes, other.estimate_variance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_as_good_as_its_samples_are_many() {
        let totals = |executed, estimated_bytes| ObjectTotals {
            allocated: Amount { objects: 1, bytes: executed },
            estimated_bytes,
            ..ObjectTotals::default()
        };
        assert_eq!(totals(5000, None).estimate_error(100), None);
        assert_eq!(totals(5000, None).removed_bytes(), None);
        // A hundred samples: a tenth each way, twice.
        assert_eq!(totals(50_000, Some(10_000)).estimate_error(100), Some(2_000));
        assert_eq!(totals(50_000, Some(10_000)).removed_bytes(), Some(40_000));
        // Three intervals without a sample are not unusual; and no more can be removed than was executed.
        assert_eq!(totals(50_000, Some(0)).estimate_error(100), Some(300));
        assert_eq!(totals(50, Some(80)).estimate_error(100), Some(50));
        assert_eq!(totals(50, Some(80)).removed_bytes(), Some(0));
    }

    #[test]
    fn samples_never_say_that_more_lives_than_was_allocated() {
        let known = |bytes, samples| Known { amount: Amount { objects: 12, bytes }, samples, variance: 0.0 };
        let living =
            |samples| Living { all: known(1_200, samples), survived: known(1_100, samples), ..Living::default() };
        let bound = |samples| {
            let allocated = Amount { objects: 10, bytes: 1_000 };
            let mut totals = ObjectTotals { allocated, living: living(samples), ..ObjectTotals::default() };
            totals.bound_living();
            (totals.live(), totals.live_bytes(), totals.survived_bytes())
        };
        assert_eq!(bound(3), (10, 1_000, 1_000));
        // What is counted may be older than the trace.
        assert_eq!(bound(0), (12, 1_200, 1_100));
    }

    #[test]
    fn samples_that_know_their_error_are_asked_for_it() {
        let mut totals = ObjectTotals { allocated: Amount { objects: 1, bytes: 50_000 }, ..ObjectTotals::default() };
        totals.estimated(6_000, Some(90_000.0));
        totals.estimated(4_000, Some(160_000.0));
        assert_eq!((totals.estimated_bytes(), totals.estimate_error(100)), (Some(10_000), Some(1_000)));
        // What had no sample may be three intervals.
        assert_eq!(totals.estimate_error(500), Some(1_500));
    }

    #[test]
    fn ages_of_two_groups_are_united_not_added() {
        let mut one = ObjectTotals::default();
        let mut other = ObjectTotals::default();
        for totals in [&mut one, &mut other] {
            for age in [0, 1, 4] {
                totals.allocated.add(Amount { objects: 1, bytes: 16 });
                totals.living.add_aged(Amount { objects: 1, bytes: 16 }, age, 1);
            }
            totals.allocated.add(Amount { objects: 1, bytes: 100 });
        }
        one.add(&other);
        assert_eq!((one.total(), one.live(), one.collected()), (8, 6, 2));
        assert_eq!(one.survived_bytes(), 64);
        assert_eq!((one.total_bytes(), one.live_bytes(), one.collected_bytes()), (296, 96, 200));
        assert_eq!(one.average_age(), Some(10.0 / 6.0));
        assert_eq!(one.generations(), 3);
    }

    #[test]
    fn sizes_that_no_heap_has_do_not_overflow() {
        let mut totals = ObjectTotals::default();
        for _ in 0..2 {
            totals.allocated.add(Amount { objects: 1, bytes: u64::MAX });
            totals.living.add_aged(Amount { objects: 1, bytes: u64::MAX }, 0, 1);
        }
        let mut sum = totals.clone();
        sum.add(&totals);
        assert_eq!((sum.total_bytes(), sum.live_bytes(), sum.collected_bytes()), (u64::MAX, u64::MAX, 0));
    }

    #[test]
    fn what_is_all_collected_has_no_age() {
        let mut totals = ObjectTotals::default();
        totals.allocated.add(Amount { objects: 1, bytes: 24 });
        assert_eq!(totals.average_age(), None);
        assert_eq!(totals.generations(), 0);
    }
}
