//! Numbers from a seed: SplitMix64, which also draws well from seeds that follow each other.

/// A source of numbers. The same seed gives the same numbers, on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// What this seed gives.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).expect("below the length")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_its_neighbour_others() {
        let numbers = |seed| {
            let mut random = Random::of(seed);
            (0..20).map(|_| random.below(100)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert_eq!(Random::of(0).next(), 0xE220_A839_7B1D_CDAF, "as the algorithm's authors have it");
    }

    #[test]
    fn each_entry_is_drawn() {
        let mut random = Random::of(1);
        let drawn: std::collections::BTreeSet<u8> = (0..100).map(|_| random.pick(&[1, 2, 3])).collect();
        assert_eq!(drawn.len(), 3);
    }
}
