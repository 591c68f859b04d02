//! How much each thread may remember: the less the more there are. Who goes on learning forgets what is above its share; who stands
//! still keeps what it had when there were fewer, so all together may have [`ALL`] times a logarithm of their number.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes for all threads, roughly.
const ALL: usize = 64 << 20;
/// Bytes for one.
const EACH: usize = 1 << 20;

/// Those that remember something.
static SHARES: AtomicUsize = AtomicUsize::new(0);

/// One's part of it, from the first question about it on.
pub(crate) struct Share {
    of: &'static AtomicUsize,
    is_taken: bool,
}

impl Default for Share {
    fn default() -> Share {
        Share::of(&SHARES)
    }
}

impl Share {
    fn of(of: &'static AtomicUsize) -> Share {
        Share { of, is_taken: false }
    }

    /// Bytes that its owner may take at this moment; who has more shall forget.
    pub(crate) fn bytes(&mut self) -> usize {
        if !self.is_taken {
            self.is_taken = true;
            self.of.fetch_add(1, Ordering::Relaxed);
        }
        part(self.of.load(Ordering::Relaxed))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.is_taken {
            self.of.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn part(shares: usize) -> usize {
    (ALL / shares.max(1)).min(EACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_stay_within_the_bound() {
        assert_eq!(part(0), EACH);
        assert_eq!(part(1), EACH);
        for shares in [64, 65, 1000, 10_000, 1_000_000] {
            assert!(part(shares) * shares <= ALL, "{shares}");
        }
    }

    #[test]
    fn a_share_counts_from_its_first_use_to_its_end() {
        static SHARES: AtomicUsize = AtomicUsize::new(0);
        let taken = || SHARES.load(Ordering::Relaxed);
        let (unused, mut used) = (Share::of(&SHARES), Share::of(&SHARES));
        assert_eq!(taken(), 0);
        used.bytes();
        used.bytes();
        assert_eq!(taken(), 1);
        drop((used, unused));
        assert_eq!(taken(), 0);
    }
}
