//! Chance: which samples are followed, and when timers fire first.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A source of chance (xorshift64*), of one thread or behind a lock.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Begins anywhere.
    pub fn anywhere() -> Random {
        // The standard library's hashers begin with keys of the system's chance.
        Random(RandomState::new().build_hasher().finish() | 1)
    }

    /// Begins at a place that tests choose.
    pub fn seeded(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// Whether something happens that has this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        // From 0 to 1, with 1 excluded: all numbers of 53 bits are exact.
        ((self.next() >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }

    /// A number from 0 on that is less than `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_happens_as_the_probability_says() {
        let mut random = Random::anywhere();
        const TRIES: u32 = 200_000;
        for probability in [0.5, 1.0 / 64.0, 1.0] {
            let found = (0..TRIES).filter(|_| random.happens(probability)).count() as f64 / f64::from(TRIES);
            // Six standard errors.
            let error = 6.0 * (probability * (1.0 - probability) / f64::from(TRIES)).sqrt();
            assert!((found - probability).abs() <= error, "{probability}: {found}");
        }
    }

    #[test]
    fn numbers_below_an_end_are_all_there() {
        let mut random = Random::anywhere();
        let mut found = [0_u32; 7];
        (0..70_000).for_each(|_| found[random.below(7) as usize] += 1);
        // Six standard errors of 10,000.
        assert!(found.iter().all(|&times| times.abs_diff(10_000) < 556), "{found:?}");
    }
}
