//! Medians and spreads.

use std::fmt;

/// The middle and the extremes of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// Of a series with at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 };
        Self { median, least: sorted[0], most: sorted[sorted.len() - 1] }
    }

    /// Of the quotients of two series that were measured in the same rounds.
    ///
    /// The quotient is taken within each round: both runs met about the same machine.
    pub(crate) fn of_quotients<T>(runs: &[T], base: &[T], figure: impl Fn(&T) -> f64) -> Self {
        Self::of(runs.iter().zip(base).map(|(run, base)| figure(run) / figure(base)))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(1);
        let text = format!("{:.*} ({:.*} .. {:.*})", places, self.median, places, self.least, places, self.most);
        // `pad` would cut the text at the precision.
        f.pad_integral(true, "", &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Spread { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(format!("{:.2}", Spread::of([1.0, 2.0])), "1.50 (1.00 .. 2.00)");
    }

    #[test]
    fn quotients_are_taken_within_rounds() {
        // The machine was four times as slow in the second round: that is no spread of the quotients.
        let spread = Spread::of_quotients(&[3.0, 12.0, 4.0], &[2.0, 8.0, 2.0], |&value: &f64| value);
        assert_eq!(spread, Spread { median: 1.5, least: 1.5, most: 2.0 });
    }
}
