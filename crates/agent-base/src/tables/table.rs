//! An append-only table that many threads read while one appends, without a lock on the reading side.
//!
//! Segments double in size and never move, so an entry, once pushed, stays where it is.

use std::sync::OnceLock;

use crate::mutex::Mutex;

const FIRST_SEGMENT: usize = 1024;
const SEGMENTS: usize = 22;

/// Entries numbered from 0 in the order of their arrival; at most 4 Gi.
pub struct Table<T> {
    segments: [OnceLock<Box<[OnceLock<T>]>>; SEGMENTS],
    len: Mutex<u32>,
}

impl<T> Table<T> {
    /// An empty table.
    pub const fn empty() -> Table<T> {
        Table { segments: [const { OnceLock::new() }; SEGMENTS], len: Mutex::new(0) }
    }

    /// Appends what `make` returns for the entry's own number.
    pub fn push_with(&self, make: impl FnOnce(u32) -> T) -> u32 {
        let mut len = self.len.lock();
        let index = *len;
        let (segment, offset) = locate(index);
        let slots =
            self.segments[segment].get_or_init(|| (0..FIRST_SEGMENT << segment).map(|_| OnceLock::new()).collect());
        // Only this thread, which holds the lock, knows the number, so the slot is empty.
        let _ = slots[offset].set(make(index));
        *len = index + 1;
        index
    }

    /// The entry of that number, if there is one.
    pub fn get(&self, index: u32) -> Option<&T> {
        let (segment, offset) = locate(index);
        self.segments.get(segment)?.get()?.get(offset)?.get()
    }
}

fn locate(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST_SEGMENT;
    let segment = (shifted.ilog2() - FIRST_SEGMENT.ilog2()) as usize;
    (segment, shifted - (FIRST_SEGMENT << segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_were_pushed() {
        let table = Table::empty();
        for i in 0..10_000u32 {
            assert_eq!(table.push_with(|index| index * 3), i);
        }
        assert!((0..10_000).all(|i| table.get(i) == Some(&(i * 3))));
        assert_eq!(table.get(10_000), None);
        assert_eq!(table.get(u32::MAX), None);
    }

    #[test]
    fn readers_see_whole_entries_while_a_writer_appends() {
        let table = Table::empty();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..20_000u32).for_each(|_| {
                    table.push_with(|i| vec![i; 3]);
                })
            });
            scope.spawn(|| {
                while table.get(19_999).is_none() {
                    for i in (0..20_000).step_by(97) {
                        if let Some(entry) = table.get(i) {
                            assert_eq!(entry, &vec![i; 3]);
                        }
                    }
                }
            });
        });
    }
}
