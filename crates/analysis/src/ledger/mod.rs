//! What a run has cost, by the code that did it: amounts that can be added up and compared, whatever they measure.

mod callers;
mod place;
mod sources;

use rustc_hash::FxHashMap;

pub use callers::Callers;
pub use place::{Item, Place, Unit};

/// An error that holds 95 times in 100 is so many standard errors.
const STANDARD_ERRORS: f64 = 2.0;

/// What amounts measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// Bytes that were allocated.
    Bytes,
    /// Objects that were allocated.
    Objects,
    /// Bytes of the objects that lived at the end, or that a heap dump holds.
    Live,
    /// Bytes that only objects of a class keep alive. Those of several classes overlap, so that their sum says nothing.
    Retained,
    /// CPU time, in nanoseconds.
    Cpu,
    /// How long threads waited for locks, in nanoseconds.
    Blocked,
    /// How often they did.
    Waits,
    /// How often methods were called, by a trace of their entries and exits.
    Calls,
    /// The time in them without what they called, in nanoseconds.
    Time,
}

impl Measure {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Measure; 9] = [
        Measure::Bytes,
        Measure::Objects,
        Measure::Live,
        Measure::Retained,
        Measure::Cpu,
        Measure::Blocked,
        Measure::Waits,
        Measure::Calls,
        Measure::Time,
    ];

    /// A word for programs, and for flags.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Bytes => "bytes",
            Measure::Objects => "objects",
            Measure::Live => "live",
            Measure::Retained => "retained",
            Measure::Cpu => "cpu",
            Measure::Blocked => "blocked",
            Measure::Waits => "waits",
            Measure::Calls => "calls",
            Measure::Time => "time",
        }
    }

    /// The measure of a word.
    pub fn of_word(word: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.word() == word)
    }

    /// Whether the amounts are those of a moment, which do not grow with the length of the run.
    pub fn is_of_a_moment(self) -> bool {
        matches!(self, Measure::Live | Measure::Retained)
    }
}

/// A number, and how well it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// In the unit of the measure.
    pub value: f64,
    /// The standard error of the estimate, squared; 0 if it is exact.
    pub variance: f64,
}

impl Amount {
    /// How far it may be off with a confidence of 95 %; 0 if it is exact.
    pub fn error(self) -> f64 {
        STANDARD_ERRORS * self.variance.sqrt()
    }

    pub(crate) fn add(&mut self, other: Amount) {
        self.value += other.value;
        self.variance += other.variance;
    }
}

/// What one run has cost in one measure.
#[derive(Clone, Debug)]
pub struct Ledger {
    measure: Measure,
    amounts: FxHashMap<Item, Amount>,
}

impl Ledger {
    /// Nothing yet.
    pub fn new(measure: Measure) -> Ledger {
        Ledger { measure, amounts: FxHashMap::default() }
    }

    /// What its amounts measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Adds an amount to those of the same place and class.
    pub fn add(&mut self, place: Place, of: &str, amount: Amount) {
        self.amounts.entry(Item { place, of: of.into() }).or_default().add(amount);
    }

    /// Adds all amounts of another ledger.
    pub fn add_all(&mut self, other: &Ledger) {
        for (item, &amount) in &other.amounts {
            self.amounts.entry(item.clone()).or_default().add(amount);
        }
    }

    /// Each place and class with its amount, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&Item, Amount)> {
        self.amounts.iter().map(|(item, &amount)| (item, amount))
    }

    /// The amount of all.
    pub fn total(&self) -> f64 {
        self.amounts.values().map(|amount| amount.value).sum()
    }

    /// Whether it has no amount at all.
    pub fn is_empty(&self) -> bool {
        self.amounts.is_empty()
    }

    /// Makes all amounts so many times as large.
    pub fn scale(&mut self, factor: f64) {
        for amount in self.amounts.values_mut() {
            amount.value *= factor;
            amount.variance *= factor * factor;
        }
    }

    /// Keeps only what passes.
    pub fn retain(&mut self, keep: impl Fn(&Item) -> bool) {
        self.amounts.retain(|item, _| keep(item));
    }
}
