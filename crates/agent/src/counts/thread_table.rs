//! Where hooks find the counters of their thread: by its number in Java, the address of counter 0.
//!
//! A hook takes what stands there without asking whose it is. So an entry that belongs to several living threads is empty, and
//! all of them count by calling the agent, until one is left.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::memory::zeros;
use agent_base::mutex::Mutex;

/// Entries, as MartiniCounts has it. Of their memory the system provides the pages that are used.
const ENTRIES: usize = 1 << 20;

/// The table, and who has an entry.
pub(super) struct ThreadTable {
    entries: &'static [AtomicUsize],
    /// The living threads of each entry by their number in Java, with the address of their counters, or 0.
    threads: Mutex<FxHashMap<usize, Vec<(i64, usize)>>>,
}

impl ThreadTable {
    /// An empty table. A thread under construction has the number 0 and finds no counters. `None` if the system has no room.
    pub(super) fn new() -> Option<ThreadTable> {
        // SAFETY: zeros are valid.
        Some(ThreadTable { entries: unsafe { zeros(ENTRIES) }?, threads: Mutex::default() })
    }

    /// Where the first entry is.
    pub(super) fn address(&self) -> usize {
        self.entries.as_ptr() as usize
    }

    /// A thread of that number has counters there, or 0 for none. It is the current one, or counts nowhere so far.
    pub(super) fn add(&self, thread: i64, counters: usize) {
        self.change(thread, |threads| threads.push((thread, counters)));
    }

    /// The current thread, of that number, has counters there from now on, or 0 for none; nothing changes if it counts no more.
    pub(super) fn set(&self, thread: i64, counters: usize) {
        self.change(thread, |threads| {
            threads.iter_mut().filter(|own| own.0 == thread).for_each(|own| own.1 = counters)
        });
    }

    /// The current thread, of that number, counts no more.
    pub(super) fn remove(&self, thread: i64) {
        self.change(thread, |threads| threads.retain(|&(other, _)| other != thread));
    }

    fn change(&self, thread: i64, change: impl FnOnce(&mut Vec<(i64, usize)>)) {
        let entry = thread as usize % ENTRIES;
        let mut threads = self.threads.lock();
        let own = threads.entry(entry).or_default();
        change(own);
        let counters = if let [(_, counters)] = own[..] { counters } else { 0 };
        // Entry 0 is that of threads under construction.
        if entry > 0 {
            self.entries[entry].store(counters, Ordering::Relaxed);
        }
        if own.is_empty() {
            threads.remove(&entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_several_threads_is_empty_until_one_is_left() {
        let table = ThreadTable::new().expect("room");
        let found = |thread: usize| table.entries[thread].load(Ordering::Relaxed);
        table.add(1, 4096);
        assert_eq!([0, 1, 2].map(found), [0, 4096, 0]);
        table.set(1, 0);
        table.set(2, 8192);
        assert_eq!([0, 1, 2].map(found), [0, 0, 0]);
        table.set(1, 4096);
        table.add(1 + ENTRIES as i64, 8192);
        table.add(1 + 2 * ENTRIES as i64, 0);
        assert_eq!(found(1), 0);
        table.remove(1);
        assert_eq!(found(1), 0);
        table.remove(1 + 2 * ENTRIES as i64);
        assert_eq!(found(1), 8192);
        table.remove(1 + ENTRIES as i64);
        assert_eq!(found(1), 0);
        table.add(ENTRIES as i64, 4096);
        assert_eq!(found(0), 0);
        table.remove(ENTRIES as i64);
        assert!(table.threads.lock().is_empty());
    }

    #[test]
    fn java_has_as_many_entries() {
        let source = include_str!("../../java/MartiniCounts.java");
        assert!(source.contains(&format!("THREADS = 1 << {};", ENTRIES.ilog2())));
    }
}
