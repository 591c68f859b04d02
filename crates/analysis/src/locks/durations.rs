//! How long things took: count, sum, extremes and percentiles, in bounded memory.
//!
//! A program has many locks and most of them are contended a few times, so lengths are kept as they are until there are many, and
//! counted in classes of less than one percent from then on. Ready-made histograms reserve room for a whole range of lengths; these
//! take it for the doublings that occur.

use trace::time::Nanos;

/// Maximum number of lengths that are kept as they are.
const EXACT: usize = 256;

/// Classes for each doubling: 2 to this power. So a class is narrower than 1/128 of its values.
const CLASS_BITS: u32 = 7;

/// How often each class of a doubling occurs.
type Doubling = [u32; 1 << CLASS_BITS];

/// A distribution of lengths of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    count: u64,
    total: u64,
    max: u64,
    lengths: Lengths,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Lengths {
    Exact(Vec<u64>),
    /// By doublings; those that do not occur take no room.
    Classes(Vec<Option<Box<Doubling>>>),
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths::Exact(Vec::new())
    }
}

impl Durations {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum; stays at the largest number there is if a hostile trace exceeds it.
    pub fn total(&self) -> Nanos {
        Nanos(self.total)
    }

    /// The longest; 0 if there is none.
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The average; 0 if there is none.
    pub fn mean(&self) -> Nanos {
        Nanos(self.total.checked_div(self.count).unwrap_or(0))
    }

    /// The shortest length that this percentage of the lengths does not exceed: exact for up to 256 lengths, too long by less than one percent
    /// for more. 0 if there is none.
    pub fn percentile(&self, percent: f64) -> Nanos {
        let rank = (percent / 100.0 * self.count as f64).ceil().max(1.0) as u64;
        match &self.lengths {
            Lengths::Exact(lengths) => {
                let mut lengths = lengths.clone();
                lengths.sort_unstable();
                let index = usize::try_from(rank - 1).unwrap_or(usize::MAX).min(lengths.len().saturating_sub(1));
                Nanos(lengths.get(index).copied().unwrap_or(0))
            }
            Lengths::Classes(classes) => {
                let mut seen = 0;
                for (class, count) in each(classes) {
                    seen += u64::from(count);
                    if seen >= rank {
                        return Nanos(longest_of(class).min(self.max));
                    }
                }
                Nanos(self.max)
            }
        }
    }

    /// Takes in a length.
    pub(crate) fn add(&mut self, length: Nanos) {
        self.count += 1;
        self.total = self.total.saturating_add(length.0);
        self.max = self.max.max(length.0);
        match &mut self.lengths {
            Lengths::Exact(lengths) if lengths.len() < EXACT => lengths.push(length.0),
            _ => count_in(self.classes(), class_of(length.0), 1),
        }
    }

    /// Takes in all lengths of another distribution.
    pub(crate) fn merge(&mut self, other: &Durations) {
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.max = self.max.max(other.max);
        match (&mut self.lengths, &other.lengths) {
            (Lengths::Exact(mine), Lengths::Exact(theirs)) if mine.len() + theirs.len() <= EXACT => mine.extend(theirs),
            (_, Lengths::Exact(theirs)) => {
                let classes = self.classes();
                theirs.iter().for_each(|&length| count_in(classes, class_of(length), 1));
            }
            (_, Lengths::Classes(theirs)) => {
                let classes = self.classes();
                each(theirs).for_each(|(class, count)| count_in(classes, class, count));
            }
        }
    }

    /// The classes, made from the lengths if there are none yet.
    fn classes(&mut self) -> &mut Vec<Option<Box<Doubling>>> {
        if let Lengths::Exact(lengths) = &self.lengths {
            let mut classes = Vec::new();
            lengths.iter().for_each(|&length| count_in(&mut classes, class_of(length), 1));
            self.lengths = Lengths::Classes(classes);
        }
        match &mut self.lengths {
            Lengths::Classes(classes) => classes,
            Lengths::Exact(_) => unreachable!("they were replaced above"),
        }
    }
}

fn count_in(classes: &mut Vec<Option<Box<Doubling>>>, class: u16, count: u32) {
    let (doubling, place) = (usize::from(class >> CLASS_BITS), usize::from(class) % (1 << CLASS_BITS));
    if classes.len() <= doubling {
        classes.resize(doubling + 1, None);
    }
    let counts = classes[doubling].get_or_insert_with(|| Box::new([0; 1 << CLASS_BITS]));
    counts[place] = counts[place].saturating_add(count);
}

/// The classes that occur, in their order, and how often.
fn each(classes: &[Option<Box<Doubling>>]) -> impl Iterator<Item = (u16, u32)> {
    let doublings = (0_u16..).zip(classes).filter_map(|(doubling, counts)| Some((doubling, counts.as_deref()?)));
    doublings.flat_map(|(doubling, counts)| {
        let class = move |place: usize| (doubling << CLASS_BITS) + place as u16;
        counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(move |(place, &count)| (class(place), count))
    })
}

/// The class of a length: as many as there are lengths below 256, and then 128 for each doubling.
fn class_of(length: u64) -> u16 {
    let doublings = (u64::BITS - length.leading_zeros()).saturating_sub(CLASS_BITS + 1);
    // At most 56 * 128 + 255.
    ((doublings << CLASS_BITS) + (length >> doublings) as u32) as u16
}

/// The longest length of a class.
fn longest_of(class: u16) -> u64 {
    let doublings = (u32::from(class) >> CLASS_BITS).saturating_sub(1);
    let first = u64::from(u32::from(class) - (doublings << CLASS_BITS)) << doublings;
    first + ((1 << doublings) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(lengths: &[u64]) -> Durations {
        let mut durations = Durations::default();
        lengths.iter().for_each(|&length| durations.add(Nanos(length)));
        durations
    }

    #[test]
    fn few_lengths_are_exact() {
        let durations = of(&[30, 10, 20]);
        let percentiles = [0.0, 33.0, 50.0, 66.0, 67.0, 90.0, 100.0].map(|percent| durations.percentile(percent).0);
        assert_eq!(percentiles, [10, 10, 20, 20, 30, 30, 30]);
        assert_eq!((durations.mean(), durations.max(), durations.total()), (Nanos(20), Nanos(30), Nanos(60)));
        assert_eq!(Durations::default().percentile(50.0), Nanos(0));
        assert_eq!(Durations::default().mean(), Nanos(0));
    }

    #[test]
    fn the_classes_of_all_lengths_lie_side_by_side() {
        let mut expected = 0;
        for doublings in 0..=56 {
            let first: u64 = if doublings == 0 { 0 } else { 128 << doublings };
            for step in [0, 1, 126, 127] {
                let length = first + (step << doublings);
                assert!(length <= longest_of(class_of(length)), "{length}");
                assert_eq!(class_of(longest_of(class_of(length))), class_of(length), "{length}");
                assert!(class_of(length) >= expected, "{length}");
                expected = class_of(length);
            }
        }
        assert_eq!(longest_of(class_of(u64::MAX)), u64::MAX);
    }

    proptest! {
        #[test]
        fn percentiles_are_right_within_a_percent(
            lengths in proptest::collection::vec(prop_oneof![0_u64..5_000_000_000, any::<u64>(), 0_u64..300], 1..800),
            split in any::<prop::sample::Index>(),
            percent in 0.0..100.0_f64,
        ) {
            let (one, other) = lengths.split_at(split.index(lengths.len()));
            let mut merged = of(one);
            merged.merge(&of(other));
            let mut sorted = lengths.clone();
            sorted.sort_unstable();
            let rank = ((percent / 100.0 * lengths.len() as f64).ceil() as usize).clamp(1, lengths.len());
            let exact = sorted[rank - 1];
            for durations in [of(&lengths), merged] {
                let found = durations.percentile(percent).0;
                prop_assert!(exact <= found && found - exact <= exact / 100, "{} {}", exact, found);
                prop_assert!(lengths.len() > EXACT || found == exact);
                prop_assert_eq!(durations.count(), lengths.len() as u64);
                prop_assert_eq!(durations.max().0, *sorted.last().unwrap());
                let total = lengths.iter().fold(0_u64, |sum, &length| sum.saturating_add(length));
                prop_assert_eq!(durations.total().0, total);
            }
        }
    }
}
