//! What only moved: code that was renamed, moved, split or inlined costs the same elsewhere. That is no loss and no gain.

use rustc_hash::FxHashMap;

use super::Level;
use crate::ledger::{Item, Place};

/// Amounts that differ by less than this part of them are the same.
const SAME: f64 = 0.01;
/// So many items are looked at, the largest.
const MOST: usize = 600;

/// What left some places and came to others.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// Where it was: the most first.
    pub from: Vec<Place>,
    /// Where it is now.
    pub to: Vec<Place>,
    /// The classes of what was allocated or locked: the most first.
    pub of: Vec<Box<str>>,
    /// How much moved.
    pub amount: f64,
}

/// A part of the cost that moved from one item to another, by their indices.
struct Move {
    from: usize,
    to: usize,
    amount: f64,
}

/// The last part of a name: of a class, the name without its package.
fn simple(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// All items, and what is not explained of each yet.
struct Matching<'a> {
    items: &'a [(&'a Item, &'a Level)],
    left: Vec<f64>,
    moves: Vec<Move>,
    /// Amounts that differ by less than this part of them are the same.
    same: f64,
    /// Whether a difference is more than chance.
    differs: &'a dyn Fn(&Level) -> bool,
}

impl<'a> Matching<'a> {
    fn place(&self, item: usize) -> &'a Place {
        &self.items[item].0.place
    }

    fn of(&self, item: usize) -> &'a str {
        &self.items[item].0.of
    }

    /// Whether what some items lost is what others gained, as well as samples know it.
    fn is_same(&self, lost: f64, gained: f64, items: impl Iterator<Item = usize>) -> bool {
        let error: f64 = items.map(|item| self.items[item].1.error().powi(2)).sum::<f64>().sqrt();
        (lost - gained).abs() <= (self.same * lost.max(gained)).max(error)
    }

    fn take(&mut self, from: usize, to: usize, amount: f64) {
        self.left[from] += amount;
        self.left[to] -= amount;
        self.moves.push(Move { from, to, amount });
    }

    fn losses(&self) -> Vec<usize> {
        (0..self.left.len()).filter(|&item| self.left[item] < 0.0).collect()
    }

    fn gains(&self) -> Vec<usize> {
        (0..self.left.len()).filter(|&item| self.left[item] > 0.0).collect()
    }

    fn is_gone(&self, item: usize) -> bool {
        self.items[item].1.after.mean() == 0.0
    }

    fn is_new(&self, item: usize) -> bool {
        self.items[item].1.before.mean() == 0.0
    }

    /// Matches what is lost at one item with what is gained at another, if the two are alike, the largest first.
    fn one_to_one(&mut self, is_alike: impl Fn(&Self, usize, usize) -> bool) {
        for from in self.losses() {
            let to = self.gains().into_iter().find(|&to| is_alike(self, from, to));
            if let Some(to) = to {
                let amount = self.left[to].min(-self.left[from]);
                self.take(from, to, amount);
                let moved = Level { before: self.items[from].1.before.clone(), after: self.items[to].1.after.clone() };
                if self.is_gone(from) && self.is_new(to) && !(self.differs)(&moved) {
                    // It moved, and what it differs by is chance.
                    (self.left[from], self.left[to]) = (0.0, 0.0);
                }
            }
        }
    }

    /// Matches one loss with several gains of its class, or several losses with one gain, if their sums are the same: those in the same
    /// class of the code, or else all.
    fn sums(&mut self) {
        let mut groups: FxHashMap<&str, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for loss in self.losses() {
            groups.entry(self.of(loss)).or_default().0.push(loss);
        }
        for gain in self.gains() {
            groups.entry(self.of(gain)).or_default().1.push(gain);
        }
        let mut groups: Vec<_> =
            groups.into_iter().filter(|(_, (losses, gains))| !losses.is_empty() && !gains.is_empty()).collect();
        groups.sort();
        for (_, (losses, gains)) in groups {
            let near = |one: usize, others: &[usize], this: &Self| -> Vec<usize> {
                let class = &this.place(one).class;
                others.iter().copied().filter(|&other| this.place(other).class == *class).collect()
            };
            for &loss in &losses {
                for set in [near(loss, &gains, self), gains.clone()] {
                    self.sum(&[loss], &set);
                }
            }
            for &gain in &gains {
                for set in [near(gain, &losses, self), losses.clone()] {
                    self.sum(&set, &[gain]);
                }
            }
            self.sum(&losses, &gains);
        }
    }

    fn sum(&mut self, losses: &[usize], gains: &[usize]) {
        let lost: f64 = losses.iter().map(|&item| -self.left[item]).filter(|&lost| lost > 0.0).sum();
        let gained: f64 = gains.iter().map(|&item| self.left[item]).filter(|&gained| gained > 0.0).sum();
        let items = losses.iter().chain(gains).copied();
        if lost <= 0.0 || gained <= 0.0 || !self.is_same(lost, gained, items) {
            return;
        }
        for &from in losses {
            for &to in gains {
                let amount = self.left[to].min(-self.left[from]);
                if amount > 0.0 {
                    self.take(from, to, amount);
                }
            }
        }
        // What the two sides differ by moved, too.
        losses.iter().chain(gains).for_each(|&item| self.left[item] = 0.0);
    }

    /// What moved, as one shift for all places that have a part in it.
    fn shifts(&self, least: f64) -> Vec<Shift> {
        let mut groups: Vec<Vec<&Move>> = Vec::new();
        for one in &self.moves {
            let touches = |group: &Vec<&Move>| {
                group.iter().any(|other| {
                    self.place(other.from) == self.place(one.from) || self.place(other.to) == self.place(one.to)
                })
            };
            let (touched, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
            groups = others;
            groups.push(touched.into_iter().flatten().chain([one]).collect());
        }
        let mut shifts: Vec<Shift> = groups
            .iter()
            .map(|group| Shift {
                from: largest(group.iter().map(|one| (self.place(one.from).clone(), one.amount))),
                to: largest(group.iter().map(|one| (self.place(one.to).clone(), one.amount))),
                of: largest(group.iter().map(|one| (self.items[one.to].0.of.clone(), one.amount))),
                amount: group.iter().map(|one| one.amount).sum(),
            })
            .filter(|shift| shift.amount >= least && shift.from != shift.to)
            .collect();
        shifts.sort_by(|a, b| b.amount.total_cmp(&a.amount).then_with(|| a.from.cmp(&b.from)));
        shifts
    }
}

/// Names with their amounts added up, the largest first, without the amounts.
fn largest<T: Clone + Ord + std::hash::Hash>(amounts: impl Iterator<Item = (T, f64)>) -> Vec<T> {
    let mut sums: FxHashMap<T, f64> = FxHashMap::default();
    amounts.for_each(|(name, amount)| *sums.entry(name).or_default() += amount);
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums.into_iter().map(|(name, _)| name).collect()
}

/// What moved among items that have changed, the largest first, and what is left of the difference of each.
pub(super) fn find(
    items: &[(&Item, &Level)],
    least: f64,
    spread: f64,
    differs: &dyn Fn(&Level) -> bool,
) -> (Vec<Shift>, Vec<f64>) {
    let left: Vec<f64> = items.iter().map(|(_, level)| level.difference()).collect();
    let items_looked_at = &items[..items.len().min(MOST)];
    let mut matching = Matching {
        items: items_looked_at,
        left: left[..items_looked_at.len()].to_vec(),
        moves: Vec::new(),
        same: SAME.max(2.0 * spread),
        differs,
    };
    // A package or an outer folder was renamed, or lines moved within their method.
    matching.one_to_one(|this, from, to| {
        let (was, is) = (this.place(from), this.place(to));
        let same_names = simple(&was.class) == simple(&is.class) && was.method == is.method;
        this.is_gone(from) && this.is_new(to) && same_names && simple(this.of(from)) == simple(this.of(to))
    });
    // A method was renamed, or moved; first within its class.
    let equal = |this: &Matching<'_>, from: usize, to: usize| {
        this.is_same(-this.left[from], this.left[to], [from, to].into_iter())
    };
    matching.one_to_one(|this, from, to| {
        this.of(from) == this.of(to) && this.place(from).class == this.place(to).class && equal(this, from, to)
    });
    matching.one_to_one(|this, from, to| this.of(from) == this.of(to) && equal(this, from, to));
    // A class was renamed, of which the objects are.
    matching.one_to_one(|this, from, to| {
        let (was, is) = (this.place(from), this.place(to));
        this.is_gone(from) && this.is_new(to) && (was == is || was.method == is.method) && equal(this, from, to)
    });
    matching.sums();
    // It moved and has changed, too.
    matching.one_to_one(|this, from, to| {
        let (was, is) = (this.place(from), this.place(to));
        this.is_gone(from) && this.is_new(to) && this.of(from) == this.of(to) && was.class == is.class
    });
    let shifts = matching.shifts(least);
    let mut all = left;
    all[..matching.left.len()].copy_from_slice(&matching.left);
    (shifts, all)
}
