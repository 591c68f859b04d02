//! Whether a difference is more than chance.
//!
//! With several runs a side, each place has a spread of its own, moderated by that of all places, for a spread of few runs is itself
//! known badly (as in Smyth, "Linear models and empirical Bayes methods", 2004). With one run a side nothing says how much a place
//! changes by chance; how much all others changed is taken for it.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::digamma;

use super::Level;
use crate::ledger::Measure;

/// So many comparisons in a hundred without a change name one all the same.
pub const FALSE_ALARMS: f64 = 0.01;

/// No two runs agree better than this, relative to the amount.
const LEAST_SPREAD: f64 = 1e-4;

/// With one run a side, an amount that is known exactly changes for many reasons.
const DOUBT: f64 = 8.0;

/// What is known of chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance {
    /// The standard deviation of an amount from run to run, relative to it: that of a typical place.
    pub spread: f64,
    /// How many runs there were, on the side that has fewer.
    pub runs: usize,
    /// How many places were looked at.
    pub tested: usize,
    /// Amounts that depend on the time that passes: they differ by factors.
    is_timed: bool,
    /// A smaller amount is not told from none.
    least: f64,
    /// With one run a side: by what part each place changed, sorted.
    changes: Vec<f64>,
    /// The spread that is taken where nothing tells.
    usual: f64,
    /// The relative variance that all places have in common, and with how many degrees of freedom it counts for each.
    common: (f64, f64),
}

/// How much an amount differs from run to run where nothing tells, relative to it.
fn usual_spread(measure: Measure) -> f64 {
    match measure {
        Measure::Bytes | Measure::Objects | Measure::Live | Measure::Retained | Measure::Calls => 0.001,
        Measure::Cpu => 0.05,
        Measure::Time => 0.1,
        Measure::Waits | Measure::Blocked => 0.25,
    }
}

/// The middle of sorted numbers, of two the smaller; 0 of none.
fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// By what part of it a place changed; `None` if it is there on one side only.
fn changed(level: &Level) -> Option<f64> {
    let is_on_both = level.before.mean() > 0.0 && level.after.mean() > 0.0;
    is_on_both.then(|| (level.difference() / level.scale()).abs())
}

/// The median of the absolute differences of two, as a standard deviation of one.
const DEVIATION: f64 = 1.4826 / std::f64::consts::SQRT_2;

/// The relative variance of a place within its sides, with how many degrees of freedom.
fn within(level: &Level) -> Option<(f64, f64)> {
    let mean = level.scale();
    let squares: f64 = [&level.before, &level.after]
        .into_iter()
        .map(|side| {
            let centre = side.mean();
            side.values.iter().map(|amount| (amount.value - centre).powi(2)).sum::<f64>()
        })
        .sum();
    let freedom = (level.before.values.len() + level.after.values.len()).checked_sub(2).filter(|&n| n > 0)? as f64;
    (mean > 0.0).then(|| ((squares / freedom / (mean * mean)).max(LEAST_SPREAD.powi(2)), freedom))
}

/// The variance that all places have in common, and with how many degrees of freedom it counts for each of them: few if their variances
/// differ much. By the mean and the variance of the logarithms of their variances.
fn moderation(variances: &[f64], freedom: f64) -> (f64, f64) {
    /// With more it makes no difference.
    const MOST: f64 = 100.0;
    let number = variances.len() as f64;
    let logs = || variances.iter().map(|variance| variance.ln() - digamma(freedom / 2.0) + (freedom / 2.0).ln());
    let mean = logs().sum::<f64>() / number;
    let between = logs().map(|log| (log - mean).powi(2)).sum::<f64>() / (number - 1.0).max(1.0);
    let excess = between - trigamma(freedom / 2.0);
    if number < 3.0 {
        return (0.0, 0.0);
    }
    // The trigamma function falls: its inverse by halving.
    let (mut low, mut high) = (0.01, MOST / 2.0);
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        *(if trigamma(middle) > excess { &mut low } else { &mut high }) = middle;
    }
    let half = high;
    ((mean + digamma(half) - half.ln()).exp(), 2.0 * half)
}

/// The derivative of the digamma function.
fn trigamma(x: f64) -> f64 {
    let step = 1e-4 * x;
    (digamma(x + step) - digamma(x - step)) / (2.0 * step)
}

impl Chance {
    /// What the places that are large enough, of `least` and more, say of chance.
    pub(super) fn of(measure: Measure, levels: &[Level], least: f64) -> Chance {
        let runs = levels.first().map_or(0, |level| level.before.values.len().min(level.after.values.len()));
        let variances: Vec<f64> = levels.iter().filter_map(within).map(|(variance, _)| variance).collect();
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let usual = usual_spread(measure);
        let (spread, changes, common) = if variances.is_empty() {
            let changes = sorted(levels.iter().filter_map(changed).collect());
            ((middle(&changes) * DEVIATION).max(usual), changes, (0.0, 0.0))
        } else {
            let freedom = levels.iter().find_map(|level| Some(within(level)?.1)).unwrap_or(1.0);
            (middle(&sorted(variances.clone())).sqrt(), Vec::new(), moderation(&variances, freedom))
        };
        let is_timed = matches!(measure, Measure::Time | Measure::Waits | Measure::Blocked);
        Chance { spread, runs, tested: levels.len(), is_timed, least, changes, usual, common }
    }

    /// The spread of all places but one, with one run a side.
    fn spread_of_others(&self, level: &Level) -> f64 {
        let own = changed(level).and_then(|own| self.changes.binary_search_by(|change| change.total_cmp(&own)).ok());
        let count = self.changes.len() - usize::from(own.is_some());
        let at = count.saturating_sub(1) / 2;
        let at = at + usize::from(own.is_some_and(|own| own <= at));
        let others = if count > 0 { self.changes.get(at).copied().unwrap_or(0.0) } else { 0.0 };
        (others * DEVIATION).max(self.usual)
    }

    /// How likely a difference of this size or more is without a change, if one place is looked at.
    pub(super) fn likelihood(&self, level: &Level) -> f64 {
        let scale = level.scale();
        let sampled = level.before.error_squared() + level.after.error_squared();
        let Some((variance, freedom)) = within(level) else {
            let normal = Normal::standard();
            let spread = self.spread_of_others(level);
            if self.is_timed {
                let [before, after] = [&level.before, &level.after].map(|side| side.mean() + self.least.max(1.0));
                return 2.0 * normal.sf((after / before).ln().abs() / (std::f64::consts::SQRT_2 * spread));
            }
            let doubt = if sampled > 0.0 { 1.0 } else { DOUBT };
            let chance = 2.0 * (spread * doubt * scale).powi(2);
            return 2.0 * normal.sf(level.difference().abs() / (chance + sampled).sqrt().max(f64::MIN_POSITIVE));
        };
        let (common, lent) = self.common;
        let moderated = (freedom * variance + lent * common) / (freedom + lent);
        let (n, m) = (level.before.values.len() as f64, level.after.values.len() as f64);
        let error = scale * (moderated * (1.0 / n + 1.0 / m)).sqrt();
        // What is sampled varies at least as much as its samples.
        let error = error.max(sampled.sqrt()).max(f64::MIN_POSITIVE);
        let student = StudentsT::new(0.0, 1.0, freedom + lent).expect("there is at least one degree of freedom");
        2.0 * student.sf(level.difference().abs() / error)
    }

    /// Whether a difference is more than chance, though so many places were looked at.
    pub(super) fn excludes(&self, level: &Level) -> bool {
        self.likelihood(level) * (self.tested.max(1) as f64) < FALSE_ALARMS
    }
}
