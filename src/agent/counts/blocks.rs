//! The counters of a thread: native memory that reaches from counter 0 to the last there can be, of which the system
//! provides only the pages that are used.
//!
//! The thread adds to it by plain loads and stores from compiled Java code; nobody else writes while the thread lives.
//! Blocks are used again by later threads and never given back, so whoever reads one never reads freed memory.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use super::slots::{CounterIndex, MOST_COUNTERS};

const COUNTERS_PER_PAGE: usize = 512;
const PAGES: usize = MOST_COUNTERS as usize / COUNTERS_PER_PAGE;

/// The counters of one thread, or of several that share them.
pub(crate) struct Block {
    counters: &'static [AtomicU64],
    /// One bit per page that was ever used.
    used: Box<[AtomicU64]>,
}

impl Block {
    /// A block of zeros; `None` if the system has no room for it.
    pub(crate) fn new() -> Option<Block> {
        let bytes = MOST_COUNTERS as usize * size_of::<AtomicU64>();
        // SAFETY: a fresh private mapping, which is never unmapped; zeros are valid counters. Huge pages would make every
        // thread pay for counters that it never touches; that they cannot be switched off only costs memory.
        let counters = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
            std::slice::from_raw_parts(start.cast::<AtomicU64>(), MOST_COUNTERS as usize)
        };
        Some(Block { counters, used: (0..PAGES.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() })
    }

    /// Where counter 0 is.
    pub(crate) fn address(&self) -> usize {
        self.counters.as_ptr() as usize
    }

    /// Adds to a counter that several threads may share, and marks its page as used.
    pub(crate) fn add(&self, counter: CounterIndex, value: u64) {
        let index = counter.0 as usize;
        let page = index / COUNTERS_PER_PAGE;
        self.used[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        self.counters[index].fetch_add(value, Ordering::Relaxed);
    }

    /// The value of a counter.
    pub(crate) fn get(&self, counter: CounterIndex) -> u64 {
        self.counters[counter.0 as usize].load(Ordering::Relaxed)
    }

    /// Gives a counter another value, which only the thread that it belongs to may do.
    pub(crate) fn set(&self, counter: CounterIndex, value: u64) {
        self.counters[counter.0 as usize].store(value, Ordering::Relaxed);
    }

    /// All counters that are not zero.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(CounterIndex, u64)) {
        self.visit_used(|index, counter| {
            let value = counter.load(Ordering::Relaxed);
            if value != 0 {
                visit(CounterIndex(index), value);
            }
        });
    }

    /// Sets all counters to zero, for the next thread.
    pub(crate) fn clear(&self) {
        self.visit_used(|_, counter| counter.store(0, Ordering::Relaxed));
    }

    /// Bytes of memory that are in use.
    pub(crate) fn bytes(&self) -> u64 {
        let pages: u32 = self.used.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        u64::from(pages) * (COUNTERS_PER_PAGE * size_of::<AtomicU64>()) as u64
    }

    fn visit_used(&self, mut visit: impl FnMut(u32, &AtomicU64)) {
        for (word_index, word) in self.used.iter().enumerate() {
            let mut word = word.load(Ordering::Relaxed);
            while word != 0 {
                let page = word_index * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let first = page * COUNTERS_PER_PAGE;
                for (index, counter) in self.counters[first..first + COUNTERS_PER_PAGE].iter().enumerate() {
                    visit((first + index) as u32, counter);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_added_is_visited_until_cleared() {
        let block = Block::new().expect("room");
        for (counter, value) in [(0, 1), (511, 2), (512, 3), (MOST_COUNTERS - 1, 4), (511, 5)] {
            block.add(CounterIndex(counter), value);
        }
        let mut seen = Vec::new();
        block.for_each(|counter, value| seen.push((counter.0, value)));
        assert_eq!(seen, [(0, 1), (511, 7), (512, 3), (MOST_COUNTERS - 1, 4)]);
        assert_eq!(block.bytes(), 3 * 4096);
        block.clear();
        block.for_each(|counter, _| panic!("{counter:?} is left"));
    }
}
