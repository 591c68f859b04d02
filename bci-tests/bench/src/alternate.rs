//! The order of runs: every variant once in each round, and each round begins with another one.

/// The runs of one variant.
pub(crate) struct Outcome<T> {
    /// One for each round until the failure, if there is one.
    pub(crate) runs: Vec<T>,
    /// Why it did not run in all rounds.
    pub(crate) failure: Option<String>,
}

impl<T> Outcome<T> {
    /// The runs, if none failed.
    pub(crate) fn complete(&self) -> Option<&[T]> {
        self.failure.is_none().then_some(self.runs.as_slice())
    }
}

/// Measures all variants in every round. A change of the machine's speed meets them all alike, and none always runs behind the
/// same other one. One that fails is not run again.
pub(crate) fn alternate<T>(
    variants: usize,
    rounds: usize,
    mut measure: impl FnMut(usize, usize) -> Result<T, String>,
) -> Vec<Outcome<T>> {
    let mut outcomes: Vec<Outcome<T>> =
        (0..variants).map(|_| Outcome { runs: Vec::with_capacity(rounds), failure: None }).collect();
    for round in 0..rounds {
        for turn in 0..variants {
            let variant = (round + turn) % variants;
            let outcome = &mut outcomes[variant];
            if outcome.failure.is_some() {
                continue;
            }
            match measure(round, variant) {
                Ok(run) => outcome.runs.push(run),
                Err(reason) => outcome.failure = Some(format!("failed in round {} of {rounds}: {reason}", round + 1)),
            }
        }
    }
    outcomes
}

/// What a benchmark ends with in which so many variants failed.
pub(crate) fn all_ran(failures: usize) -> Result<(), String> {
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} variants failed: the tables say why")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_with_another_variant() {
        let mut order = Vec::new();
        let outcomes = alternate(3, 4, |round, variant| {
            order.push(variant);
            Ok(round * 10 + variant)
        });
        assert_eq!(order, [0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2]);
        assert_eq!(outcomes[1].complete(), Some([1, 11, 21, 31].as_slice()));
    }

    #[test]
    fn a_variant_that_fails_stops_and_the_others_go_on() {
        let outcomes = alternate(2, 3, |round, variant| match (round, variant) {
            (1, 0) => Err("broken".to_owned()),
            _ => Ok(round),
        });
        assert_eq!(outcomes[0].runs, [0]);
        assert_eq!(outcomes[0].failure.as_deref(), Some("failed in round 2 of 3: broken"));
        assert_eq!(outcomes[0].complete(), None);
        assert_eq!(outcomes[1].complete(), Some([0, 1, 2].as_slice()));
    }
}
