//! The rows of a trace, a module for each part of it.

pub(crate) mod allocations;
pub(crate) mod cpu;
pub(crate) mod jvm;
pub(crate) mod locks;
pub(crate) mod requests;
pub(crate) mod run;

use trace::time::{Nanos, Time};

/// Nanoseconds of a minute.
const MINUTE: u64 = 60_000_000_000;

/// New rows are of the first batch: none has merged them yet.
pub(crate) const FIRST_BATCH: i64 = 0;

/// The minute of a time.
fn minute(time: Time) -> Time {
    Time(time.0 - time.0 % MINUTE)
}

/// A time after the beginning.
fn after(begin: Time, since: Nanos) -> Time {
    Time(begin.0.saturating_add(since.0))
}

/// Divides a whole in proportion to weights, so that the parts add up to it. `None` if all weights are 0.
fn divided(whole: u64, weights: &[u64]) -> Option<Vec<u64>> {
    let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    // A product has 128 bits at most.
    let shift = (128 - all.leading_zeros()).saturating_sub(64);
    let (mut upto, mut given) = (0_u128, 0_u64);
    let mut part = |weight: u64| {
        upto += u128::from(weight);
        let until = u64::try_from(u128::from(whole) * (upto >> shift) / (all >> shift)).unwrap_or(u64::MAX);
        until - std::mem::replace(&mut given, until)
    };
    (all > 0).then(|| weights.iter().map(|&weight| part(weight)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_make_the_whole(whole in any::<u64>(), weights in proptest::collection::vec(any::<u64>(), 0..9)) {
            match divided(whole, &weights) {
                Some(parts) => prop_assert_eq!(parts.iter().map(|&part| u128::from(part)).sum::<u128>(), u128::from(whole)),
                None => prop_assert!(weights.iter().all(|&weight| weight == 0)),
            }
        }
    }

    #[test]
    fn parts_that_are_known_stay_as_they_are() {
        assert_eq!(divided(6, &[1, 0, 5]), Some(vec![1, 0, 5]));
        assert_eq!(divided(3, &[1, 1, 4]), Some(vec![0, 1, 2]));
    }
}
