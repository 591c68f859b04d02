//! Which of the stacks that are known by their return addresses are compared with what the VM says all the same, and what came
//! of it.

use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use agent_base::ids::StackIndex;
use agent_base::message::message;

/// So many are compared first, whichever threads they are of.
const FIRST: u32 = 1_000;
/// Then each thread compares one in so many: a power of two.
const EVERY: u32 = 4_096;
/// For tests: if it is set to `all`, every stack is compared.
const VARIABLE: &str = "MARTINI_COMPARE_STACKS";

/// Two stacks that had the same return addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What was known.
    pub cached: StackIndex,
    /// What the VM said.
    pub found: StackIndex,
}

/// The comparisons of all threads.
#[derive(Debug)]
pub struct Comparisons {
    left_of_first: AtomicU32,
    /// The bits of a thread's number of hits that are 0 when one is due.
    mask: u32,
    compared: AtomicU64,
    mismatches: AtomicU64,
    first_mismatch: OnceLock<Mismatch>,
}

impl Comparisons {
    /// None was made yet.
    pub(crate) fn new() -> Comparisons {
        let all = env::var_os(VARIABLE).is_some_and(|value| value == "all");
        Comparisons {
            left_of_first: AtomicU32::new(FIRST),
            mask: if all { 0 } else { EVERY - 1 },
            compared: AtomicU64::new(0),
            mismatches: AtomicU64::new(0),
            first_mismatch: OnceLock::new(),
        }
    }

    /// Whether this one is to be compared: a thread's stack number `hits` that was known.
    #[inline]
    pub fn is_due(&self, hits: u32) -> bool {
        hits & self.mask == 0 || self.left_of_first.load(Ordering::Relaxed) > 0 && self.take_one_of_first()
    }

    #[cold]
    fn take_one_of_first(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        self.left_of_first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Counts a comparison. From the first difference on no stack is known by its return addresses.
    #[cold]
    pub fn count(&self, is_same: bool) {
        self.compared.fetch_add(1, Ordering::Relaxed);
        if !is_same && self.mismatches.fetch_add(1, Ordering::Relaxed) == 0 {
            message(
                "a stack recognised by its return addresses differs from the JVM's; from now on every stack comes from \
                 JVMTI",
            );
        }
    }

    /// Keeps two stacks that differ, if they are the first.
    pub fn keep(&self, mismatch: Mismatch) {
        let _ = self.first_mismatch.set(mismatch);
    }

    /// Number of comparisons.
    pub fn compared(&self) -> u64 {
        self.compared.load(Ordering::Relaxed)
    }

    /// Number of differences.
    #[inline]
    pub fn mismatches(&self) -> u64 {
        self.mismatches.load(Ordering::Relaxed)
    }

    /// The first two stacks that differed.
    pub fn first_mismatch(&self) -> Option<Mismatch> {
        self.first_mismatch.get().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thousand_are_compared_and_then_one_in_4096() {
        let comparisons = Comparisons::new();
        let due = |range: std::ops::Range<u32>| range.filter(|&hits| comparisons.is_due(hits)).count();
        assert_eq!(due(1..1_001), 1_000);
        assert_eq!(due(1_001..4_096), 0);
        assert_eq!(due(4_096..4_097), 1);
        assert_eq!(due(4_097..4_096 * 11), 9);
    }

    #[test]
    fn the_first_two_stacks_that_differ_are_kept() {
        let comparisons = Comparisons::new();
        comparisons.count(true);
        comparisons.count(false);
        assert_eq!((comparisons.compared(), comparisons.mismatches(), comparisons.first_mismatch()), (2, 1, None));
        let first = Mismatch { cached: StackIndex(1), found: StackIndex(2) };
        comparisons.keep(first);
        comparisons.keep(Mismatch { cached: StackIndex(3), found: StackIndex(4) });
        assert_eq!(comparisons.first_mismatch(), Some(first));
    }
}
