//! How much each thread may cache: the more threads, the less for each. A thread that adds entries forgets those above its
//! share; a thread that adds none keeps what it had when there were fewer. So all together may have [`ALL`] times a logarithm
//! of their number.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes for all threads, roughly.
const ALL: usize = 64 << 20;
/// Bytes for one.
const EACH: usize = 1 << 20;

/// Number of threads that cache something.
static SHARERS: AtomicUsize = AtomicUsize::new(0);

/// The share of one thread, from its first use on.
pub(crate) struct MemoryBudget {
    sharers: &'static AtomicUsize,
    is_counted: bool,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget::of(&SHARERS)
    }
}

impl MemoryBudget {
    fn of(sharers: &'static AtomicUsize) -> MemoryBudget {
        MemoryBudget { sharers, is_counted: false }
    }

    /// Bytes that its owner may use now; an owner that uses more forgets its entries.
    pub(crate) fn bytes(&mut self) -> usize {
        if !self.is_counted {
            self.is_counted = true;
            self.sharers.fetch_add(1, Ordering::Relaxed);
        }
        share(self.sharers.load(Ordering::Relaxed))
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        if self.is_counted {
            self.sharers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn share(sharers: usize) -> usize {
    (ALL / sharers.max(1)).min(EACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stay_within_the_bound() {
        assert_eq!(share(0), EACH);
        assert_eq!(share(1), EACH);
        for sharers in [64, 65, 1000, 10_000, 1_000_000] {
            assert!(share(sharers) * sharers <= ALL, "{sharers}");
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
