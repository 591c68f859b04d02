//! Chance: which objects are sampled where the VM's own sampler sees none, and which samples are followed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use super::samples::probability;

/// A thread's source of chance (xorshift64*).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Begins anywhere.
    pub(crate) fn new() -> Random {
        // The standard library's hashers begin with keys of the system's chance.
        Random(RandomState::new().build_hasher().finish() | 1)
    }

    /// Begins at a place that tests choose.
    #[cfg(test)]
    pub(super) fn seeded(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// Whether so many bytes are sampled, with the same probability as an object of that size.
    pub(super) fn is_sampled(&mut self, size: u64, interval: f64) -> bool {
        self.happens(probability(size as f64, interval))
    }

    /// Whether something happens that has this probability.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.next() < probability
    }

    /// From 0 to 1, with 1 excluded.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        // All numbers of 53 bits are exact.
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_sampled_as_the_probability_says() {
        let mut random = Random::new();
        const TRIES: u32 = 200_000;
        for (size, interval, probability) in [(500, 1000.0, 0.3935), (16, 1000.0, 0.0159), (1 << 30, 1000.0, 1.0)] {
            let found = (0..TRIES).filter(|_| random.is_sampled(size, interval)).count() as f64 / f64::from(TRIES);
            // Six standard errors, and what the probability is rounded by.
            let error = 6.0 * (probability * (1.0 - probability) / f64::from(TRIES)).sqrt() + 0.0001;
            assert!((found - probability).abs() <= error, "{size}: {found}");
        }
    }
}
