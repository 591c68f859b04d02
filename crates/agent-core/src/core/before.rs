//! What was there before a recording that begins late: what nobody saw being made. It is written at the end of the trace.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Threads, and objects if they were counted.
#[derive(Debug, Default)]
pub struct Before {
    threads: AtomicU64,
    /// How many live, and their bytes.
    objects: OnceLock<(u64, u64)>,
}

impl Before {
    /// A thread ran already.
    pub fn add_thread(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    /// So many objects lived, of so many bytes.
    pub fn set_objects(&self, instances: u64, bytes: u64) {
        let _ = self.objects.set((instances, bytes));
    }

    /// Key and number of each counter; none of a recording that begins with the VM.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let threads = self.threads.load(Ordering::Relaxed);
        let objects =
            self.objects.get().map(|&(instances, bytes)| [("before.objects", instances), ("before.bytes", bytes)]);
        let threads = (threads > 0).then_some(("before.threads", threads));
        threads.into_iter().chain(objects.into_iter().flatten()).collect()
    }
}
