//! What samples spread, and how far the sums of its parts may be off.
//!
//! A site's bytes are known as the program executes them, its samples are of what the JIT let be allocated. So what each caller
//! allocated has the error of its own samples, not the smaller one of a share: a share of what was executed is one of what was allocated
//! only if nothing was removed, which samples cannot prove. What the JIT removed is a part like any other. Its weight and its variance are
//! what the site has less all callers', so that parts which are all there have no error.

use rustc_hash::FxHashMap;

use super::Spread;

/// A source whose weight is spread over paths by samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceIndex(pub(crate) u32);

/// What a source's samples say of its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// They are all that is known of it.
    Sampled,
    /// It is known without them, and all of it could be sampled.
    Exact,
    /// It is known without them, and the JIT may have removed some of it, which has no sample. Parts are shares of all of it.
    Executed,
    /// The JIT has removed more of it than chance explains: parts are what their own samples stand for.
    Kept,
}

/// What is known of a source.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its weight.
    pub weight: f64,
    /// All of its samples.
    pub whole: Spread,
    /// What the samples say of the weight.
    pub kind: SourceKind,
    /// Of all that is executed the JIT has removed no more, besides what is shown as removed; infinite if that is not known.
    pub most_removed: f64,
}

impl Source {
    /// Of a part the samples of callers in it, or, if what the JIT removed is in it, of callers that are not.
    fn callers(&self, part: &Spread) -> Spread {
        if part.variance >= 0.0 {
            return *part;
        }
        let samples = self.whole.samples.saturating_sub(part.samples);
        Spread { samples, weight: (self.weight - part.weight).max(0.0), variance: -part.variance }
    }
}

/// Parts with a variance below this part of the whole's are all parts: the rest is what the sum of floating point numbers leaves.
const NOTHING: f64 = 1e-9;

/// Of a sum of counted events so few more make twice its root an interval of 95 %, also of a single one (Poisson's distribution is not
/// symmetrical).
const MORE_SAMPLES: f64 = 3.0;

/// By how much wider the errors of own samples are. The same samples choose whether something is shown as removed, so that those which are
/// shown stand for too little more often than others.
const CHOSEN: f64 = 1.1;

/// The parts of sources that are added up: what samples say, and the weights that are shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts(FxHashMap<SourceIndex, (Spread, f64)>);

impl Parts {
    /// Adds a part of a source.
    pub(crate) fn add(&mut self, source: SourceIndex, spread: &Spread, weight: f64) {
        let (sum, shown) = self.0.entry(source).or_default();
        sum.add(spread);
        *shown += weight;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = SourceIndex> {
        self.0.keys().copied()
    }

    /// How many samples there are.
    pub(crate) fn samples(&self) -> u64 {
        self.0.values().fold(0, |sum, (spread, _)| sum.saturating_add(spread.samples))
    }

    /// How far what is shown may be off with a confidence of 95 %, in the unit of the weights: by the samples of the parts, or by their
    /// shares and what the JIT can have removed unseen, whichever says more.
    pub(crate) fn error(&self, source: impl Fn(SourceIndex) -> Option<Source>) -> u64 {
        let (mut own, mut of_shares, mut shown, mut elsewhere) = (Sum::default(), Sum::default(), 0.0, 0.0);
        for (index, (part, weight)) in &self.0 {
            let Some(source) = source(*index) else { continue };
            let Source { weight: all, whole, kind, most_removed } = source;
            shown += weight;
            match kind {
                SourceKind::Sampled => [&mut own, &mut of_shares].map(|sum| sum.variance += part.variance),
                SourceKind::Exact => {
                    let variance = all.powi(2) * whole.variance_of_share(part);
                    [&mut own, &mut of_shares].map(|sum| sum.variance += variance)
                }
                SourceKind::Executed | SourceKind::Kept => {
                    elsewhere += all - weight;
                    own.moved += weight - part.weight;
                    let callers = source.callers(part);
                    if callers.variance <= whole.variance * NOTHING {
                        continue;
                    }
                    let few = MORE_SAMPLES * whole.variance / whole.samples.max(1) as f64;
                    own.add(callers.variance * CHOSEN.powi(2), few);
                    if kind == SourceKind::Kept {
                        of_shares.add(callers.variance * CHOSEN.powi(2), few);
                    } else {
                        of_shares.variance += all.powi(2) * whole.variance_of_share(&callers);
                        // What is removed of one site is not removed of another.
                        let hidden =
                            if callers.weight > 0.0 { most_removed * callers.weight / whole.weight } else { 0.0 };
                        of_shares.moved = of_shares.moved.max(hidden);
                    }
                    [(); 2]
                }
            };
        }
        // Less than nothing is impossible, and of a site more than all.
        own.error().min(of_shares.error()).min(shown.max(elsewhere)).round() as u64
    }
}

/// What an error is made of.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    variance: f64,
    /// What is added to the variance, once, for what is known of few samples.
    few: f64,
    /// By how much what is shown was moved away from what samples stand for.
    moved: f64,
}

impl Sum {
    fn add(&mut self, variance: f64, few: f64) {
        self.variance += variance;
        self.few = self.few.max(few);
    }

    /// Twice the standard error, as of a normal distribution.
    fn error(&self) -> f64 {
        2.0 * (self.variance + self.few).sqrt() + self.moved.abs()
    }
}
