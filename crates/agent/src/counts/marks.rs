//! A byte for each of many things, which compiled Java code reads.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, Ordering};

/// Marks by number; at first nothing is marked.
pub(super) struct Marks(&'static [AtomicU8]);

impl Marks {
    /// So many marks; `None` if the system has no room.
    pub(super) fn new(len: usize) -> Option<Marks> {
        // SAFETY: a fresh private mapping, which is never unmapped; zeros are valid.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            (start != libc::MAP_FAILED).then(|| Marks(std::slice::from_raw_parts(start.cast::<AtomicU8>(), len)))
        }
    }

    /// Where mark 0 is.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Marks a thing; what has no mark is left alone.
    pub(super) fn set(&self, index: u32) {
        if let Some(mark) = self.0.get(index as usize) {
            mark.store(1, Ordering::Relaxed);
        }
    }

    /// Whether a thing is marked; what has no mark counts as marked.
    pub(super) fn is_set(&self, index: u32) -> bool {
        self.0.get(index as usize).is_none_or(|mark| mark.load(Ordering::Relaxed) != 0)
    }
}
