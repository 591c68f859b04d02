//! The counters of a thread: native memory that reaches from counter 0 to the last there can be, of which the system
//! provides only the pages that are used.
//!
//! The thread adds to it by plain loads and stores from compiled Java code; no other thread writes while it lives.
//! Blocks are used again by later threads and never freed, so the agent can read them at any time.

use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::counters::MAX_COUNTERS;
use super::ids::CounterIndex;
use super::memory::zeros;

/// The counters of one thread, or of several that share them.
pub(crate) struct Block {
    counters: &'static [AtomicU64],
}

impl Block {
    /// A block of zeros; `None` if the system has no room for it.
    pub(crate) fn new() -> Option<Block> {
        // SAFETY: zeros are valid counters.
        let block = Block { counters: unsafe { zeros(MAX_COUNTERS as usize) }? };
        // Huge pages would make every thread pay for counters that it never touches; that they cannot be switched off only costs memory.
        block.advise(libc::MADV_NOHUGEPAGE);
        Some(block)
    }

    /// Where counter 0 is.
    pub(crate) fn address(&self) -> usize {
        self.counters.as_ptr() as usize
    }

    /// Adds to a counter that several threads may share.
    pub(crate) fn add(&self, counter: CounterIndex, value: u64) {
        self.counters[counter.0 as usize].fetch_add(value, Ordering::Relaxed);
    }

    /// All of the first `len` counters that are not zero.
    pub(crate) fn for_each(&self, len: u32, mut visit: impl FnMut(CounterIndex, u64)) {
        self.visit(len, |index, counter| visit(index, counter.load(Ordering::Relaxed)));
    }

    /// As `for_each`, and sets them to zero for the next thread.
    pub(crate) fn drain(&self, len: u32, mut visit: impl FnMut(CounterIndex, u64)) {
        self.visit(len, |index, counter| visit(index, counter.swap(0, Ordering::Relaxed)));
    }

    /// Gives the memory back to the system, if it takes it: all counters are zero then.
    pub(crate) fn release(&self) {
        self.advise(libc::MADV_DONTNEED);
    }

    fn advise(&self, advice: libc::c_int) {
        let start = self.counters.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: a private mapping of this size, whose pages come back as zeros if they are given back.
        unsafe { libc::madvise(start, size_of_val(self.counters), advice) };
    }

    fn visit(&self, len: u32, mut visit: impl FnMut(CounterIndex, &AtomicU64)) {
        for (page, counters) in self.used(len) {
            for (offset, counter) in counters.iter().enumerate() {
                if counter.load(Ordering::Relaxed) != 0 {
                    visit(CounterIndex((page * counters_per_page() + offset) as u32), counter);
                }
            }
        }
    }

    /// Bytes of memory that are in use.
    pub(crate) fn bytes(&self) -> u64 {
        self.used(MAX_COUNTERS).map(|(_, counters)| size_of_val(counters) as u64).sum()
    }

    /// The pages with the first `len` counters that the system provides; all of them if it does not say which, since nothing else
    /// shows to which counters the hooks have added.
    fn used(&self, len: u32) -> impl Iterator<Item = (usize, &'static [AtomicU64])> {
        let pages = self.counters[..len.min(MAX_COUNTERS) as usize].chunks(counters_per_page());
        let provided = provided_pages(self.address(), pages.len());
        pages.enumerate().filter(move |&(page, _)| provided.as_ref().is_none_or(|provided| provided[page]))
    }
}

/// Which of so many pages the system provides, in memory or swapped out; `None` if it does not say
/// (`Documentation/admin-guide/mm/pagemap.rst`).
fn provided_pages(address: usize, pages: usize) -> Option<Vec<bool>> {
    const PRESENT_OR_SWAPPED: u64 = 0b11 << 62;
    static MAP: OnceLock<Option<File>> = OnceLock::new();

    let provided = |map: &File, address: usize, pages: usize| {
        let mut entries = vec![0; pages * size_of::<u64>()];
        let first = address / (counters_per_page() * size_of::<AtomicU64>());
        map.read_exact_at(&mut entries, (first * size_of::<u64>()) as u64).ok()?;
        let (entries, _) = entries.as_chunks();
        Some(entries.iter().map(|&entry| u64::from_ne_bytes(entry) & PRESENT_OR_SWAPPED != 0).collect::<Vec<_>>())
    };
    let map = MAP.get_or_init(|| {
        // Not every system that has the file shows the true state there.
        let written = Box::new(1);
        let is_there = |map: &File| provided(map, &raw const *written as usize, 1).is_some_and(|found| found[0]);
        File::open("/proc/self/pagemap").ok().filter(is_there)
    });
    provided(map.as_ref()?, address, pages)
}

/// How many counters a page of the system has.
fn counters_per_page() -> usize {
    static COUNTERS: OnceLock<usize> = OnceLock::new();
    // SAFETY: it only asks.
    *COUNTERS.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize / size_of::<AtomicU64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_shows_which_pages_it_provides() {
        let block = Block::new().expect("room");
        block.add(CounterIndex(counters_per_page() as u32), 1);
        assert_eq!(provided_pages(block.address(), 3), Some(vec![false, true, false]));
    }

    #[test]
    fn only_what_was_added_is_visited_until_cleared() {
        let block = Block::new().expect("room");
        for (counter, value) in [(0, 1), (511, 2), (512, 3), (MAX_COUNTERS - 1, 4), (511, 5)] {
            block.add(CounterIndex(counter), value);
        }
        let mut visited = Vec::new();
        block.for_each(MAX_COUNTERS, |counter, value| visited.push((counter.0, value)));
        assert_eq!(visited, [(0, 1), (511, 7), (512, 3), (MAX_COUNTERS - 1, 4)]);
        assert_eq!(block.bytes(), 3 * 8 * counters_per_page() as u64);
        let mut drained = Vec::new();
        block.drain(MAX_COUNTERS, |counter, value| drained.push((counter.0, value)));
        assert_eq!(drained, visited);
        block.for_each(MAX_COUNTERS, |counter, _| panic!("{counter:?} is left"));
    }

    #[test]
    fn what_is_released_takes_no_memory_until_it_is_used() {
        let block = Block::new().expect("room");
        block.add(CounterIndex(7), 1);
        block.release();
        assert_eq!(block.bytes(), 0);
        block.add(CounterIndex(7), 2);
        let mut visited = Vec::new();
        block.for_each(MAX_COUNTERS, |counter, value| visited.push((counter.0, value)));
        assert_eq!(visited, [(7, 2)]);
    }
}
