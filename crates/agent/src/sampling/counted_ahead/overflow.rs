//! What the VM's sampler counts twice (JDK 11 to 16).
//!
//! When it has chosen an object it takes the bytes that it counted beyond the sample off the distance to the next one, unless they are
//! more than that distance. But these bytes are counted already. So the next sample comes too early, if the object is not small in terms of
//! the interval.

use super::super::samples::probability;

/// Less than this part of the interval does not matter.
const LEAST: f64 = 1e-3;

/// Bytes that the sampler had counted beyond the last sample of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Overflow {
    /// So many: those of an object at which the sample's place in the buffer was reached. All before it had been counted.
    Of(f64),
    /// Up to so many, those of an object that was counted at once. The sample may lie anywhere in it.
    UpTo(f64),
}

impl Overflow {
    /// The probability of a sample in the `counted` bytes that follow `since` bytes without one.
    pub(super) fn probability(self, since: f64, counted: f64, interval: f64) -> f64 {
        let (Overflow::Of(most) | Overflow::UpTo(most)) = self;
        if since >= most || most < interval * LEAST {
            return probability(counted, interval);
        }
        let (most, rest) = (most / interval, (most - since) / interval);
        1.0 - self.none_in(counted / interval, most, rest) / self.none_in(0.0, most, rest)
    }

    /// The probability of no sample in so many bytes, in terms of that for none before them, up to a factor. The last `rest` of the
    /// `most` bytes follow. All are in terms of the interval.
    fn none_in(self, bytes: f64, most: f64, rest: f64) -> f64 {
        let (none, none_in_most, none_in_rest) = ((-bytes).exp(), (-most).exp(), (-rest).exp());
        match self {
            // With D the distance that is chosen: either D - most > bytes, or most >= D > bytes.
            Overflow::Of(_) => none_in_most * none + (none - none_in_rest).max(0.0),
            // The same for each place of the sample, of which each is as probable as an exponential distribution says.
            Overflow::UpTo(_) => {
                let early = if bytes < rest { none - none_in_rest * (1.0 + rest - bytes) } else { 0.0 };
                most * none_in_most * none + early
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::random::Random;

    /// Draws distances as the VM does, and compares how many are in a stretch with what is said of it.
    #[test]
    fn distances_are_as_the_vm_chooses_them() {
        let mut random = Random::seeded(1);
        let mut uniform = move || (random.below(1 << 40) + 1) as f64 / (1_u64 << 40) as f64;
        for most in [0.25, 1.0, 4.0] {
            for is_known in [true, false] {
                let overflow = if is_known { Overflow::Of(most) } else { Overflow::UpTo(most) };
                let distances: Vec<f64> = (0..200_000)
                    .map(|_| {
                        let over = match is_known {
                            true => most,
                            // The place of the sample, if it is in there.
                            false => most + (1.0 - uniform() * -(-most).exp_m1()).ln(),
                        };
                        let distance = -uniform().ln();
                        if distance > over { distance - over } else { distance }
                    })
                    .collect();
                for (since, counted) in [(0.0, 0.1), (0.0, most), (most / 2.0, most), (most * 0.9, 0.3), (most, 0.5)] {
                    let from = distances.iter().filter(|&&distance| distance > since).count() as f64;
                    let within = distances.iter().filter(|&&d| d > since && d <= since + counted).count() as f64;
                    let expected = overflow.probability(since, counted, 1.0);
                    let error = (expected * (1.0 - expected) / from).sqrt();
                    assert!(
                        (within / from - expected).abs() < 6.0 * error,
                        "{overflow:?} {since} {counted}: {} {expected}",
                        within / from
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_small_or_far_behind_does_not_matter() {
        for overflow in [Overflow::Of(16.0), Overflow::UpTo(16.0), Overflow::Of(1e6), Overflow::UpTo(1e6)] {
            for size in [16.0, 1e4, 1e9] {
                let (chance, plain) = (overflow.probability(1e6, size, 524_288.0), probability(size, 524_288.0));
                assert!((chance - plain).abs() < 1e-12, "{overflow:?} {size}: {chance} {plain}");
            }
        }
        assert!(Overflow::UpTo(1e12).probability(0.0, 1e12, 1.0) > 0.999_999);
        assert!(Overflow::Of(1e12).probability(1e11, 16.0, 1.0) > 0.999_999);
    }
}
