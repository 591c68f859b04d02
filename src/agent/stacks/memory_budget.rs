//! How much each thread may remember: the less the more there are. Who goes on learning forgets what is above its share; who stands
//! still keeps what it had when there were fewer, so all together may have [`ALL`] times a logarithm of their number.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes for all threads, roughly.
const ALL: usize = 64 << 20;
/// Bytes for one.
const EACH: usize = 1 << 20;

/// Those that remember something.
static SHARERS: AtomicUsize = AtomicUsize::new(0);

/// One's part of it, from the first question about it on.
pub(crate) struct MemoryBudget {
    of: &'static AtomicUsize,
    is_taken: bool,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget::of(&SHARERS)
    }
}

impl MemoryBudget {
    fn of(of: &'static AtomicUsize) -> MemoryBudget {
        MemoryBudget { of, is_taken: false }
    }

    /// Bytes that its owner may take at this moment; who has more forgets what it has.
    pub(crate) fn bytes(&mut self) -> usize {
        if !self.is_taken {
            self.is_taken = true;
            self.of.fetch_add(1, Ordering::Relaxed);
        }
        part(self.of.load(Ordering::Relaxed))
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        if self.is_taken {
            self.of.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn part(sharers: usize) -> usize {
    (ALL / sharers.max(1)).min(EACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stay_within_the_bound() {
        assert_eq!(part(0), EACH);
        assert_eq!(part(1), EACH);
        for sharers in [64, 65, 1000, 10_000, 1_000_000] {
            assert!(part(sharers) * sharers <= ALL, "{sharers}");
        }
    }

    #[test]
    fn a_share_counts_from_its_first_use_to_its_end() {
        static SHARERS: AtomicUsize = AtomicUsize::new(0);
        let taken = || SHARERS.load(Ordering::Relaxed);
        let (unused, mut used) = (MemoryBudget::of(&SHARERS), MemoryBudget::of(&SHARERS));
        assert_eq!(taken(), 0);
        used.bytes();
        used.bytes();
        assert_eq!(taken(), 1);
        drop((used, unused));
        assert_eq!(taken(), 0);
    }
}
