//! Events on their way from the threads on which they happened to the writer: a list of chunks per thread, filled by that
//! thread alone and read by the writer alone.
//!
//! Chunks are handed over by publishing their length, so the writer sees an event at once, yet nothing is shared
//! between two producing threads. Slots are relaxed atomics: plain moves on every CPU we run on, and no `unsafe`.
//! A thread's first chunk is small and each next one larger, so that ten thousand idle threads cost little.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

const FIRST_CHUNK: usize = 64;
const LARGEST_CHUNK: usize = 2048;
const WORDS: usize = 4;

/// A packed event: the time first, then what `event.rs` packs.
pub(crate) type Record = [u64; WORDS];

/// Bytes that one record takes in a chunk.
pub(crate) const RECORD_BYTES: usize = size_of::<Record>();

struct Chunk {
    slots: Box<[[AtomicU64; WORDS]]>,
    len: AtomicU32,
    next: OnceLock<Arc<Chunk>>,
}

impl Chunk {
    fn new(capacity: usize) -> Arc<Chunk> {
        let slots = (0..capacity).map(|_| [const { AtomicU64::new(0) }; WORDS]).collect();
        Arc::new(Chunk { slots, len: AtomicU32::new(0), next: OnceLock::new() })
    }
}

/// What all buffers share: how much is unread, how much may be, and chunks to use again.
pub(crate) struct Pool {
    backlog: AtomicUsize,
    limit: usize,
    /// Threads that have a buffer.
    producers: AtomicUsize,
    closed: AtomicBool,
    spare: Mutex<Vec<Arc<Chunk>>>,
    room: Condvar,
    /// Times a producer had to wait for the writer.
    waits: AtomicU64,
}

impl Pool {
    /// A pool whose full chunks hold at most `limit` records before producers wait.
    pub(crate) fn new(limit: usize) -> Arc<Pool> {
        Arc::new(Pool {
            backlog: AtomicUsize::new(0),
            limit: limit.max(LARGEST_CHUNK),
            producers: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            spare: Mutex::new(Vec::new()),
            room: Condvar::new(),
            waits: AtomicU64::new(0),
        })
    }

    /// No producer waits from now on; what is pushed after this may not be written.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        self.room.notify_all();
    }

    /// True once `close` was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Times a producer had to wait for the writer.
    pub(crate) fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Whether so much is unread that threads may soon have to wait.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.backlog() > self.limit / 2
    }

    /// Records in full chunks that the writer has not read yet.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// A chunk for a producer whose last one, of `filled` records, is full. Waits while too much is unread.
    fn next_chunk(&self, filled: usize) -> Arc<Chunk> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if self.backlog.load(Ordering::Acquire) > self.limit && !self.is_closed() {
            self.waits.fetch_add(1, Ordering::Relaxed);
            while self.backlog.load(Ordering::Acquire) > self.limit && !self.is_closed() {
                // The time-out is for safety: a lost wake-up would cost 50 ms, not stop the program.
                spare =
                    self.room.wait_timeout(spare, Duration::from_millis(50)).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        // Each thread keeps the chunk that it fills, so with many threads the chunks are small.
        let fair = self.limit / self.producers.load(Ordering::Relaxed).max(1);
        let capacity = (filled * 4).min(fair).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        if capacity == LARGEST_CHUNK
            && let Some(chunk) = spare.pop()
        {
            return chunk;
        }
        drop(spare);
        Chunk::new(capacity)
    }

    /// The writer has read a full chunk.
    fn drained(&self, records: usize) {
        let before = self.backlog.fetch_sub(records, Ordering::AcqRel);
        if before > self.limit {
            // A producer that has read the backlog and does not wait yet holds the lock; so it cannot miss this.
            drop(self.spare.lock().unwrap_or_else(PoisonError::into_inner));
            self.room.notify_all();
        }
    }

    /// Keeps a chunk that is not used any more for the next producer.
    fn recycle(&self, mut chunk: Arc<Chunk>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The producing end; belongs to one thread.
pub(crate) struct Producer {
    chunk: Arc<Chunk>,
    len: u32,
    pool: Arc<Pool>,
    publishing: Arc<Publishing>,
    /// Number of times that it has begun to publish.
    publications: u64,
}

/// The number of the publication that a thread has begun and not ended, which means that an event will come; 0 if there is
/// none.
#[derive(Default)]
struct Publishing(AtomicU64);

/// The reading end; belongs to the writer.
pub(crate) struct Consumer {
    chunk: Arc<Chunk>,
    read: u32,
    /// Records of the current chunk that may be read, as of the last `refresh`.
    seen: u32,
    pool: Arc<Pool>,
    publishing: Arc<Publishing>,
    /// The publication that was found last, and the time of the check before it was found.
    pending: (u64, u64),
}

/// A buffer for one thread.
pub(crate) fn channel(pool: &Arc<Pool>) -> (Producer, Consumer) {
    pool.producers.fetch_add(1, Ordering::Relaxed);
    let chunk = Chunk::new(FIRST_CHUNK);
    let publishing = Arc::new(Publishing::default());
    let producer =
        Producer { chunk: chunk.clone(), len: 0, pool: pool.clone(), publishing: publishing.clone(), publications: 0 };
    (producer, Consumer { chunk, read: 0, seen: 0, pool: pool.clone(), publishing, pending: (0, 0) })
}

impl Producer {
    /// Announces an event to the writer, before the thread takes the time of the event.
    pub(crate) fn begin_publish(&mut self) {
        self.publications += 1;
        self.publishing.0.store(self.publications, Ordering::Relaxed);
        // The processor may take the time before other threads see this, but the difference is far less than the writer's
        // grace.
        compiler_fence(Ordering::SeqCst);
    }

    /// The announced event has been pushed.
    pub(crate) fn end_publish(&self) {
        self.publishing.0.store(0, Ordering::Release);
    }

    /// Hands a record to the writer. True if the chunk is full now, so that the writer may have to be woken.
    pub(crate) fn push(&mut self, record: Record) -> bool {
        let capacity = self.chunk.slots.len();
        if self.len as usize == capacity {
            let next = self.pool.next_chunk(capacity);
            // This thread alone appends to its list, so there is no next chunk yet.
            let _ = self.chunk.next.set(next.clone());
            self.chunk = next;
            self.len = 0;
        }
        let slot = &self.chunk.slots[self.len as usize];
        for (word, value) in slot.iter().zip(record) {
            word.store(value, Ordering::Relaxed);
        }
        self.len += 1;
        let is_full = self.len as usize == self.chunk.slots.len();
        if is_full {
            // First, since the writer subtracts the chunk as soon as it has read the last record.
            self.pool.backlog.fetch_add(self.len as usize, Ordering::AcqRel);
        }
        self.chunk.len.store(self.len, Ordering::Release);
        is_full
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.pool.producers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Consumer {
    /// The earliest time that an announced event can have, if there is one. `last_check` is when this was called before, on all
    /// buffers: a publication that was not there then is younger. To be called before `refresh`.
    pub(crate) fn publishing_since(&mut self, last_check: u64) -> Option<u64> {
        let number = self.publishing.0.load(Ordering::Acquire);
        if number != self.pending.0 {
            self.pending = (number, last_check);
        }
        (number != 0).then_some(self.pending.1)
    }

    /// Reads how far the producer has come; `peek` and `pop` show records up to there.
    pub(crate) fn refresh(&mut self) {
        self.seen = self.chunk.len.load(Ordering::Acquire);
    }

    /// The oldest unread record, if there is one.
    pub(crate) fn peek(&mut self) -> Option<Record> {
        if self.read == self.seen && !self.advance() {
            return None;
        }
        let slot = &self.chunk.slots[self.read as usize];
        Some(std::array::from_fn(|i| slot[i].load(Ordering::Relaxed)))
    }

    /// Marks the record that `peek` showed as read.
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.read < self.seen);
        self.read += 1;
        // At once, not when the next chunk is begun: the producer may be waiting for this room.
        if self.read as usize == self.chunk.slots.len() {
            self.pool.drained(self.chunk.slots.len());
        }
    }

    /// Whether the producer has been dropped and all its records have been read.
    pub(crate) fn is_finished(&mut self) -> bool {
        // The producer holds the chunk that it fills; the writer holds each earlier one alone, but only the last has no next.
        Arc::strong_count(&self.chunk) == 1 && {
            // Makes visible what the producer wrote before it dropped the chunk.
            fence(Ordering::Acquire);
            self.refresh();
            self.read == self.seen && self.chunk.next.get().is_none()
        }
    }

    /// Continues with the next chunk, once this one is read to its end.
    fn advance(&mut self) -> bool {
        if (self.read as usize) < self.chunk.slots.len() {
            return false;
        }
        let Some(next) = self.chunk.next.get().cloned() else { return false };
        let used = std::mem::replace(&mut self.chunk, next);
        self.pool.recycle(used);
        self.read = 0;
        self.refresh();
        self.seen > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_writer_makes_the_producer_wait_and_loses_nothing() {
        const RECORDS: u64 = 200_000;
        let pool = Pool::new(4096);
        let (mut producer, mut consumer) = channel(&pool);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                (0..RECORDS).for_each(|i| {
                    producer.push([i, i * 2, !i, 7]);
                })
            });
            let mut expected = 0;
            while expected < RECORDS {
                consumer.refresh();
                while let Some(record) = consumer.peek() {
                    assert_eq!(record, [expected, expected * 2, !expected, 7]);
                    consumer.pop();
                    expected += 1;
                }
                std::thread::yield_now();
            }
        });
        assert!(pool.backlog() <= 4096);
    }

    #[test]
    fn many_producers_share_little_room() {
        const PRODUCERS: u64 = 100;
        const RECORDS: u64 = 500;
        let pool = Pool::new(0);
        std::thread::scope(|scope| {
            let mut consumers = Vec::new();
            for _ in 0..PRODUCERS {
                let (mut producer, consumer) = channel(&pool);
                consumers.push(consumer);
                scope.spawn(move || {
                    (0..RECORDS).for_each(|i| {
                        producer.push([i; WORDS]);
                    })
                });
            }
            let mut read = 0;
            while read < PRODUCERS * RECORDS {
                for consumer in &mut consumers {
                    consumer.refresh();
                    while consumer.peek().is_some() {
                        consumer.pop();
                        read += 1;
                    }
                }
            }
        });
        assert!(pool.waits() > 0);
    }

    #[test]
    fn in_a_closed_pool_producers_do_not_wait() {
        let pool = Pool::new(0);
        let (mut producer, _consumer) = channel(&pool);
        pool.close();
        for i in 0..20_000 {
            producer.push([i; WORDS]);
        }
        assert_eq!(pool.waits(), 0);
    }

    #[test]
    fn a_publication_is_no_older_than_the_last_check_without_it() {
        let (mut producer, mut consumer) = channel(&Pool::new(1 << 20));
        assert_eq!(consumer.publishing_since(10), None);
        producer.begin_publish();
        assert_eq!(consumer.publishing_since(20), Some(20));
        assert_eq!(consumer.publishing_since(30), Some(20));
        producer.end_publish();
        producer.begin_publish();
        assert_eq!(consumer.publishing_since(40), Some(40));
        producer.end_publish();
        assert_eq!(consumer.publishing_since(50), None);
        producer.begin_publish();
        assert_eq!(consumer.publishing_since(60), Some(60));
    }

    #[test]
    fn nothing_is_shown_before_refresh() {
        let pool = Pool::new(1 << 20);
        let (mut producer, mut consumer) = channel(&pool);
        producer.push([1; WORDS]);
        assert_eq!(consumer.peek(), None);
        consumer.refresh();
        assert_eq!(consumer.peek(), Some([1; WORDS]));
        consumer.pop();
        assert_eq!(consumer.peek(), None);
    }
}
