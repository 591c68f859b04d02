//! Chance: which samples are followed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

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
    fn as_much_happens_as_the_probability_says() {
        let mut random = Random::new();
        const TRIES: u32 = 200_000;
        for probability in [0.5, 1.0 / 64.0, 1.0] {
            let found = (0..TRIES).filter(|_| random.happens(probability)).count() as f64 / f64::from(TRIES);
            // Six standard errors.
            let error = 6.0 * (probability * (1.0 - probability) / f64::from(TRIES)).sqrt();
            assert!((found - probability).abs() <= error, "{probability}: {found}");
        }
    }
}
