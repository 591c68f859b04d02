//! What all buffers share: how much is unread, how much may be, and chunks to use again.
//!
//! A producer waits for the writer if too much is unread. If the writer does not get on at all (nobody reads the pipe, the file
//! system does not answer), the pool is stalled: from then on no producer waits, and what can be left out is dropped, until the
//! writer has caught up.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, OnceLock, PoisonError};
use std::time::Duration;

use super::progress::{MAX_STALL, Patience, Progress};
use crate::mutex::Mutex;

const FIRST_CHUNK: usize = 64;
const LARGEST_CHUNK: usize = 2048;
const WORDS: usize = 4;

/// How often a producer that waits looks around; a lost wake-up would cost as much.
const LOOK: Duration = Duration::from_millis(50);

/// A packed event: the time first, then what `event.rs` packs.
pub(crate) type Record = [u64; WORDS];

/// Bytes that one record takes in a chunk.
pub const RECORD_BYTES: usize = size_of::<Record>();

pub(super) struct Chunk {
    pub(super) slots: Box<[[AtomicU64; WORDS]]>,
    pub(super) len: AtomicU32,
    pub(super) next: OnceLock<Arc<Chunk>>,
}

impl Chunk {
    pub(super) fn new(capacity: usize) -> Arc<Chunk> {
        let slots = (0..capacity).map(|_| [const { AtomicU64::new(0) }; WORDS]).collect();
        Arc::new(Chunk { slots, len: AtomicU32::new(0), next: OnceLock::new() })
    }
}

/// Whether there is room for another chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There is.
    Free,
    /// There is none: what can be left out is to be dropped.
    None,
    /// The same, and this producer is the first to know.
    StallBegins,
}

/// What all buffers share.
pub struct Pool {
    backlog: AtomicUsize,
    limit: usize,
    /// Threads that have a buffer.
    pub(super) producers: AtomicUsize,
    closed: AtomicBool,
    stalled: AtomicBool,
    spare: Mutex<Vec<Arc<Chunk>>>,
    room: Condvar,
    /// Times a producer had to wait for the writer.
    waits: AtomicU64,
    progress: Arc<Progress>,
    max_wait: Duration,
}

impl Pool {
    /// A pool whose chunks hold at most `limit` records before producers wait, as long as there is `progress`.
    pub fn new(limit: usize, progress: Arc<Progress>) -> Arc<Pool> {
        Pool::with_limits(limit, progress, MAX_STALL)
    }

    pub(super) fn with_limits(limit: usize, progress: Arc<Progress>, max_wait: Duration) -> Arc<Pool> {
        Arc::new(Pool {
            backlog: AtomicUsize::new(0),
            limit: limit.max(LARGEST_CHUNK),
            producers: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            stalled: AtomicBool::new(false),
            spare: Mutex::new(Vec::new()),
            room: Condvar::new(),
            waits: AtomicU64::new(0),
            progress,
            max_wait,
        })
    }

    /// No producer waits from now on; what is pushed after this may not be written.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _spare = self.spare.lock();
        self.room.notify_all();
    }

    /// Frees the chunks that are kept for producers. Those that a thread fills go when the thread ends, or enters another recording.
    pub fn release(&self) {
        *self.spare.lock() = Vec::new();
    }

    /// True once `close` was called.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Times a producer had to wait for the writer.
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Whether so much is unread that threads may soon have to wait.
    pub fn is_nearly_full(&self) -> bool {
        self.backlog() > self.limit / 2
    }

    /// Records in chunks that are complete and that the writer has not read yet.
    pub fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    fn has_room(&self) -> bool {
        self.backlog.load(Ordering::Acquire) <= self.limit || self.is_closed()
    }

    /// Waits while too much is unread and the writer gets on.
    pub(super) fn wait_for_room(&self) -> Room {
        if self.has_room() {
            return Room::Free;
        }
        if self.stalled.load(Ordering::Relaxed) {
            return Room::None;
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::new(&self.progress, self.max_wait);
        let mut spare = self.spare.lock();
        loop {
            if self.has_room() {
                return Room::Free;
            }
            if self.stalled.load(Ordering::Relaxed) {
                return Room::None;
            }
            if patience.is_over() {
                self.stalled.store(true, Ordering::Relaxed);
                self.room.notify_all();
                return Room::StallBegins;
            }
            spare = self.room.wait_timeout(spare, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A chunk for a producer whose last one had room for `filled` records. Does not wait, whatever is unread.
    pub(super) fn chunk(&self, filled: usize) -> Arc<Chunk> {
        // Each thread keeps the chunk that it fills, so with many threads the chunks are small.
        let fair = self.limit / self.producers.load(Ordering::Relaxed).max(1);
        let capacity = (filled * 4).min(fair).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let spare = if capacity == LARGEST_CHUNK { self.spare.lock().pop() } else { None };
        spare.unwrap_or_else(|| Chunk::new(capacity))
    }

    /// A producer has filled a chunk with so many records, or will write no more into it. Before it shows the last one, since the
    /// writer subtracts the chunk as soon as it has read it.
    pub(super) fn completed(&self, records: usize) {
        self.backlog.fetch_add(records, Ordering::AcqRel);
    }

    /// The writer has read a chunk to its end.
    pub(super) fn drained(&self, records: usize) {
        let before = self.backlog.fetch_sub(records, Ordering::AcqRel);
        self.progress.step();
        let left = before - records;
        if left <= self.limit / 2 {
            self.stalled.store(false, Ordering::Relaxed);
        }
        if before > self.limit {
            // A producer that has read the backlog and does not wait yet holds the lock; so it cannot miss this.
            drop(self.spare.lock());
            self.room.notify_all();
        }
    }

    /// Keeps a chunk that is not used any more for the next producer.
    pub(super) fn recycle(&self, mut chunk: Arc<Chunk>) {
        let mut spare = self.spare.lock();
        if chunk.slots.len() == LARGEST_CHUNK
            && spare.len() * LARGEST_CHUNK < self.limit
            && let Some(inner) = Arc::get_mut(&mut chunk)
        {
            *inner.len.get_mut() = 0;
            inner.next = OnceLock::new();
            spare.push(chunk);
        }
    }
}
