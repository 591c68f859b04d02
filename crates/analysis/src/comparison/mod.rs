//! What differs between runs before a change and runs after it, and whether that is more than chance.

mod chance;
mod shifts;

use rustc_hash::FxHashMap;

pub use chance::{Chance, FALSE_ALARMS};
pub use shifts::Shift;

use crate::ledger::{Amount, Item, Ledger, Measure, Place};

/// The amounts of one place or item in the runs of a side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Of each run.
    pub values: Vec<Amount>,
}

impl Side {
    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().map(|amount| amount.value).sum::<f64>() / self.values.len().max(1) as f64
    }

    /// The standard error of the mean as far as samples are its reason, squared.
    fn error_squared(&self) -> f64 {
        self.values.iter().map(|amount| amount.variance).sum::<f64>() / (self.values.len().max(1) as f64).powi(2)
    }

    /// The least and the most.
    pub fn extremes(&self) -> (f64, f64) {
        let values = self.values.iter().map(|amount| amount.value);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    }

    fn add(&mut self, other: &Side) {
        self.values.resize(self.values.len().max(other.values.len()), Amount::default());
        for (sum, more) in self.values.iter_mut().zip(&other.values) {
            sum.value += more.value;
            sum.variance += more.variance;
        }
    }
}

/// Both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// Before the change.
    pub before: Side,
    /// After it.
    pub after: Side,
}

impl Level {
    /// After, less before.
    pub fn difference(&self) -> f64 {
        self.after.mean() - self.before.mean()
    }

    /// How far the difference may be off with a confidence of 95 %, as far as samples are its reason.
    pub fn error(&self) -> f64 {
        2.0 * (self.before.error_squared() + self.after.error_squared()).sqrt()
    }

    /// What relative differences refer to.
    fn scale(&self) -> f64 {
        self.before.mean().max(self.after.mean())
    }

    fn add(&mut self, other: &Level) {
        self.before.add(&other.before);
        self.after.add(&other.after);
    }
}

/// What became of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
    /// It has more than before.
    More,
    /// It has less.
    Less,
}

impl Kind {
    /// A word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Kind::New => "new",
            Kind::Gone => "gone",
            Kind::More => "more",
            Kind::Less => "less",
        }
    }
}

/// A place that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where.
    pub place: Place,
    /// What became of it.
    pub kind: Kind,
    /// Its amounts.
    pub level: Level,
    /// After less before, without what only moved.
    pub amount: f64,
    /// How likely a difference of this size is by chance, for one place.
    pub likelihood: f64,
    /// The same by the class of what was allocated or locked, without what only moved: the largest first.
    pub of: Vec<(Box<str>, f64)>,
}

/// What differs in one measure.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is measured.
    pub measure: Measure,
    /// All places together.
    pub total: Level,
    /// What has changed: the largest first.
    pub changes: Vec<Change>,
    /// What only moved.
    pub shifts: Vec<Shift>,
    /// What is known of chance.
    pub chance: Chance,
    /// A smaller amount is no change.
    pub least: f64,
    /// What all places that are no change and did not move differ by together.
    pub rest: f64,
}

/// All items of all runs.
fn levels(before: &[&Ledger], after: &[&Ledger]) -> FxHashMap<Item, Level> {
    let mut levels: FxHashMap<Item, Level> = FxHashMap::default();
    let nothing = |runs: &[&Ledger]| Side { values: vec![Amount::default(); runs.len()] };
    let empty = Level { before: nothing(before), after: nothing(after) };
    for (run, ledger) in before.iter().enumerate() {
        for (item, amount) in ledger.iter() {
            levels.entry(item.clone()).or_insert_with(|| empty.clone()).before.values[run] = amount;
        }
    }
    for (run, ledger) in after.iter().enumerate() {
        for (item, amount) in ledger.iter() {
            levels.entry(item.clone()).or_insert_with(|| empty.clone()).after.values[run] = amount;
        }
    }
    levels
}

/// Compares ledgers of one measure. `least`: a change of less than this part of the whole is none.
pub fn compare(measure: Measure, before: &[&Ledger], after: &[&Ledger], least: f64) -> Comparison {
    let items = levels(before, after);
    let (mut places, mut total) = (FxHashMap::<&Place, Level>::default(), Level::default());
    for (item, level) in &items {
        places.entry(&item.place).or_default().add(level);
        total.add(level);
    }
    let least = least * total.scale();
    let large: Vec<Level> = places.values().filter(|level| level.scale() >= least).cloned().collect();
    let chance = Chance::of(measure, &large, least);
    let differs = |level: &Level| chance.excludes(level);
    let mut candidates: Vec<(&Item, &Level)> = items
        .iter()
        .filter(|(item, level)| {
            let place = &places[&item.place];
            // What is gone or new may have moved, however much it varies.
            let is_on_one_side = place.before.mean() == 0.0 || place.after.mean() == 0.0;
            level.difference() != 0.0 && (is_on_one_side || differs(place))
        })
        .collect();
    candidates.sort_by(|a, b| b.1.difference().abs().total_cmp(&a.1.difference().abs()).then_with(|| a.0.cmp(b.0)));
    let (shifts, left) = shifts::find(&candidates, least, chance.spread, &differs);
    let mut changed: FxHashMap<&Place, Vec<(Box<str>, f64)>> = FxHashMap::default();
    for (&(item, _), &amount) in candidates.iter().zip(&left) {
        changed.entry(&item.place).or_default().push((item.of.clone(), amount));
    }
    let mut changes: Vec<Change> = changed
        .into_iter()
        .filter_map(|(place, mut of)| {
            let level = places[&place].clone();
            let amount: f64 = of.iter().map(|(_, amount)| amount).sum();
            of.retain(|(_, amount)| *amount != 0.0);
            of.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
            let kind = match (level.before.mean() > 0.0, level.after.mean() > 0.0) {
                (false, _) => Kind::New,
                (_, false) => Kind::Gone,
                _ if amount > 0.0 => Kind::More,
                _ => Kind::Less,
            };
            let likelihood = chance.likelihood(&level);
            let is_large = amount.abs() >= least && amount.abs() > 0.0;
            (is_large && differs(&level)).then(|| Change { place: place.clone(), kind, level, amount, likelihood, of })
        })
        .collect();
    changes.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()).then_with(|| a.place.cmp(&b.place)));
    let named: f64 = changes.iter().map(|change| change.amount).sum();
    let rest = total.difference() - named;
    Comparison { measure, total, changes, shifts, chance, least, rest }
}

#[cfg(test)]
mod tests;
