//! How samples spread a whole over its parts.

/// What samples say of a part, or of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How many there are.
    pub samples: u64,
    /// What they stand for.
    pub weight: f64,
    /// The standard error of that, squared.
    pub variance: f64,
}

impl Spread {
    /// Adds other samples.
    pub(crate) fn add(&mut self, other: &Spread) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight += other.weight;
        self.variance += other.variance;
    }

    /// Of this whole, the standard error of a part's share (from 0 to 1), squared.
    ///
    /// That of a ratio of two estimates (Cochran, Sampling Techniques, 1977, chapter 6), but never less than that of a share of which only
    /// the number of samples is known (the variance of the beta distribution with k + 1 and n - k + 1, for k of n samples): one sample
    /// in one place does not prove that all of it is there.
    pub(crate) fn variance_of_share(&self, part: &Spread) -> f64 {
        if self.weight <= 0.0 {
            return 1.0;
        }
        let share = (part.weight / self.weight).clamp(0.0, 1.0);
        let elsewhere = (self.variance - part.variance).max(0.0);
        let of_ratio = ((1.0 - share).powi(2) * part.variance + share.powi(2) * elsewhere) / self.weight.powi(2);
        let (found, all) = (part.samples.min(self.samples) as f64, self.samples as f64);
        let likely = (found + 1.0) / (all + 2.0);
        of_ratio.max(likely * (1.0 - likely) / (all + 3.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_known_the_better_the_more_samples_there_are() {
        let spread = |samples: u64| Spread { samples, weight: samples as f64, variance: samples as f64 };
        let error = |part, whole| spread(whole).variance_of_share(&spread(part)).sqrt();
        // One sample proves little.
        assert!((error(1, 1) - 0.236).abs() < 0.001);
        assert!(error(1000, 1000) < 0.002 && error(0, 1000) < 0.002);
        assert!((error(500, 1000) - 0.0158).abs() < 0.0001);
        assert_eq!(Spread::default().variance_of_share(&spread(1)), 1.0);
    }
}
