//! Bounds for what a run may cost, and whether it keeps them.

mod limit;
mod rule;

use std::collections::BTreeMap;

use trace::filter::Pattern;

pub use limit::{Limit, amount};
pub use rule::{RuleError, Words};

use crate::ledger::{Amount, Item, Ledger, Measure, Place, Unit};

/// The name under which a budget that is not divided has its cost in a baseline.
const WHOLE: &str = "total";

/// What a baseline has: by the name of a budget, what each place had cost.
pub type Baseline = BTreeMap<String, BTreeMap<String, u64>>;

/// Whether what the start of a program costs counts: static initialisers, and code of the JDK that loads and links classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// It counts like all else.
    #[default]
    Included,
    /// It does not count.
    Without,
    /// Nothing else counts.
    Only,
}

/// A bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// What it is called.
    pub name: String,
    /// What is bounded.
    pub measure: Measure,
    /// The code: a class, a method behind its class and a dot, or a line as tables show it.
    pub at: Option<Pattern>,
    /// The class of the objects, or of the locks.
    pub of: Option<Pattern>,
    /// The thread; then neither code nor class is known.
    pub thread: Option<Pattern>,
    /// The bound is for each line, method, class or package, instead of all together.
    pub each: Option<Unit>,
    /// Whether the start counts.
    pub start: Start,
    /// The bound itself.
    pub limit: Limit,
}

/// What a run has cost: by lines of code, and by threads.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// By line of code; a measure that was not recorded is missing.
    pub code: Vec<Ledger>,
    /// By thread, whose name is the place.
    pub threads: Vec<Ledger>,
}

impl Costs {
    /// Adds those of another run, as of another JVM of the same build.
    pub fn add(&mut self, other: Costs) {
        for (all, more) in [(&mut self.code, other.code), (&mut self.threads, other.threads)] {
            for ledger in more {
                match all.iter_mut().find(|known| known.measure() == ledger.measure()) {
                    Some(known) => known.add_all(&ledger),
                    None => all.push(ledger),
                }
            }
        }
    }
}

/// Whether a bound was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The place, of a budget for each; `None` if it is for all together.
    pub place: Option<String>,
    /// What it cost.
    pub cost: u64,
    /// How far the cost may be off with a confidence of 95 %; 0 if it is exact.
    pub error: u64,
    /// What it may cost; `None` if the baseline does not have the budget.
    pub limit: Option<u64>,
}

impl Verdict {
    /// Whether it was kept, as well as the cost is known.
    pub fn is_kept(&self) -> bool {
        self.limit.is_some_and(|limit| self.cost.saturating_sub(self.error) <= limit)
    }
}

/// Packages and classes of the JDK in which a class is loaded and linked.
const LOADING: [&str; 12] = [
    "java.lang.ClassLoader",
    "java.net.URLClassLoader",
    "java.security.SecureClassLoader",
    "jdk.internal.loader.",
    "jdk.internal.module.",
    "java.lang.module.",
    "java.lang.invoke.",
    "jdk.internal.org.objectweb.asm.",
    "java.util.jar.",
    "java.util.zip.",
    "sun.launcher.",
    "jdk.internal.reflect.",
];

fn is_of_start(place: &Place) -> bool {
    &*place.method == "<clinit>" || LOADING.iter().any(|name| place.class.starts_with(name))
}

impl Budget {
    fn counts(&self, item: &Item) -> bool {
        let place = &item.place;
        if let Some(thread) = &self.thread {
            return thread.matches(&place.class);
        }
        let is_at = |pattern: &Pattern| {
            let method = format!("{}.{}", place.class, place.method);
            pattern.matches(&place.class) || pattern.matches(&method) || pattern.matches(&place.to_string())
        };
        // What lives is known by its class alone.
        let class = if self.measure == Measure::Live { &place.class } else { &item.of };
        self.at.as_ref().is_none_or(is_at)
            && self.of.as_ref().is_none_or(|of| of.matches(class))
            && match self.start {
                Start::Included => true,
                Start::Without => !is_of_start(place),
                Start::Only => is_of_start(place),
            }
    }

    /// What counts, by place if it is for each; `None` if the measure was not recorded.
    fn costs(&self, costs: &Costs) -> Option<BTreeMap<Option<String>, Amount>> {
        let ledgers = if self.thread.is_some() { &costs.threads } else { &costs.code };
        let ledger = ledgers.iter().find(|ledger| ledger.measure() == self.measure)?;
        let mut sums: BTreeMap<Option<String>, Amount> = BTreeMap::new();
        if self.each.is_none() {
            sums.insert(None, Amount::default());
        }
        for (item, amount) in ledger.iter().filter(|(item, _)| self.counts(item)) {
            let place = self.each.map(|unit| item.place.coarser(unit).to_string());
            sums.entry(place).or_default().add(amount);
        }
        Some(sums)
    }

    /// Whether the bound is kept, once or for each place: the worst first. `None` if the measure was not recorded.
    pub fn judge(&self, costs: &Costs, baseline: &Baseline) -> Option<Vec<Verdict>> {
        let known = baseline.get(&self.name);
        let verdict = |(place, amount): (Option<String>, Amount)| {
            // Where each place counts, one that is not in the baseline did not cost anything.
            let missing = place.as_ref().map(|_| 0);
            let before = known.and_then(|known| known.get(place.as_deref().unwrap_or(WHOLE)).copied().or(missing));
            Verdict {
                place,
                cost: amount.value.round() as u64,
                error: amount.error().round() as u64,
                limit: self.limit.of(before),
            }
        };
        let mut verdicts: Vec<Verdict> = self.costs(costs)?.into_iter().map(verdict).collect();
        let over = |verdict: &Verdict| verdict.cost.saturating_sub(verdict.limit.unwrap_or(0));
        verdicts.sort_by(|a, b| (a.is_kept(), over(b), b.cost).cmp(&(b.is_kept(), over(a), a.cost)));
        Some(verdicts)
    }

    /// What the baseline is to have for it; `None` if it needs none, or the measure was not recorded.
    pub fn to_baseline(&self, costs: &Costs) -> Option<BTreeMap<String, u64>> {
        if !self.limit.needs_baseline() {
            return None;
        }
        let entry = |(place, amount): (Option<String>, Amount)| {
            (place.unwrap_or_else(|| WHOLE.to_owned()), amount.value.round() as u64)
        };
        Some(self.costs(costs)?.into_iter().map(entry).filter(|(place, cost)| *cost > 0 || place == WHOLE).collect())
    }
}

#[cfg(test)]
mod tests;
