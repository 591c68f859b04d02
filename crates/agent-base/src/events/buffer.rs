//! Events on their way from the threads on which they happened to the writer: a list of chunks per thread, filled by that
//! thread alone and read by the writer alone.
//!
//! Chunks are handed over by publishing their length, so the writer sees an event at once, yet nothing is shared
//! between two producing threads. Slots are relaxed atomics: plain moves on every CPU we run on, and no `unsafe`.
//! A thread's first chunk is small and each next one larger, so that ten thousand idle threads cost little.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence, fence};

use super::pool::{Chunk, Pool, Record, Room};

/// The producing end; belongs to one thread.
pub struct Producer {
    chunk: Arc<Chunk>,
    len: u32,
    /// The next chunk, if room for it was asked for before this one was full.
    next: Option<Arc<Chunk>>,
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
pub struct Consumer {
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
pub fn channel(pool: &Arc<Pool>) -> (Producer, Consumer) {
    pool.producers.fetch_add(1, Ordering::Relaxed);
    // Without room: many threads hardly live long enough to report anything.
    let chunk = Chunk::new(0);
    let publishing = Arc::new(Publishing::default());
    let producer = Producer {
        chunk: chunk.clone(),
        len: 0,
        next: None,
        pool: pool.clone(),
        publishing: publishing.clone(),
        publications: 0,
    };
    (producer, Consumer { chunk, read: 0, seen: 0, pool: pool.clone(), publishing, pending: (0, 0) })
}

impl Producer {
    /// Announces an event to the writer, before the thread takes the time of the event.
    pub fn begin_publish(&mut self) {
        self.publications += 1;
        self.publishing.0.store(self.publications, Ordering::Relaxed);
        // The processor may take the time before other threads see this, but the difference is far less than the writer's
        // grace.
        compiler_fence(Ordering::SeqCst);
    }

    /// The announced event has been pushed.
    pub fn end_publish(&self) {
        self.publishing.0.store(0, Ordering::Release);
    }

    /// Whether so many records can be pushed without asking.
    #[inline]
    pub fn has_room(&self, records: usize) -> bool {
        self.chunk.slots.len() - self.len as usize >= records || self.next.is_some()
    }

    /// Makes room for a few records. Waits while too much is unread and the writer gets on.
    #[cold]
    pub fn make_room(&mut self) -> Room {
        let room = self.pool.wait_for_room();
        if room == Room::Free {
            self.next = Some(self.pool.chunk(self.chunk.slots.len()));
        }
        room
    }

    /// Whether anything has been pushed.
    pub fn has_pushed(&self) -> bool {
        self.len > 0
    }

    /// Hands a record to the writer, whether there is room or not; never waits. True if the chunk is full now, so that the writer
    /// may have to be woken.
    pub fn push(&mut self, record: Record) -> bool {
        let capacity = self.chunk.slots.len();
        if self.len as usize == capacity {
            let next = self.next.take().unwrap_or_else(|| self.pool.chunk(capacity));
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
        let capacity = self.chunk.slots.len();
        let is_full = self.len as usize == capacity;
        if is_full {
            self.pool.completed(capacity);
        }
        self.chunk.len.store(self.len, Ordering::Release);
        is_full
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // What a thread that has ended leaves behind is unread like a full chunk.
        let capacity = self.chunk.slots.len();
        if (1..capacity).contains(&(self.len as usize)) {
            self.pool.completed(capacity);
        }
        self.pool.producers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Consumer {
    /// The earliest time that an announced event can have, if there is one. `last_check` is when this was called before, on all
    /// buffers: a publication that was not there then is younger. To be called before `refresh`.
    pub fn publishing_since(&mut self, last_check: u64) -> Option<u64> {
        let number = self.publishing.0.load(Ordering::Acquire);
        if number != self.pending.0 {
            self.pending = (number, last_check);
        }
        (number != 0).then_some(self.pending.1)
    }

    /// Reads how far the producer has come; `peek` and `pop` show records up to there.
    pub fn refresh(&mut self) {
        self.seen = self.chunk.len.load(Ordering::Acquire);
    }

    /// The oldest unread record, if there is one.
    pub fn peek(&mut self) -> Option<Record> {
        if self.read == self.seen && !self.advance() {
            return None;
        }
        Some(load(&self.chunk.slots[self.read as usize]))
    }

    /// Calls `visit` with each record that is not read yet.
    pub fn each_unread(&self, mut visit: impl FnMut(Record)) {
        let (mut chunk, mut begin) = (&self.chunk, self.read as usize);
        loop {
            let len = chunk.len.load(Ordering::Acquire) as usize;
            let slots = chunk.slots.get(begin..len).unwrap_or_default();
            slots.iter().for_each(|slot| visit(load(slot)));
            let Some(next) = chunk.next.get() else { return };
            (chunk, begin) = (next, 0);
        }
    }

    /// Marks the record that `peek` showed as read.
    pub fn pop(&mut self) {
        debug_assert!(self.read < self.seen);
        self.read += 1;
        // At once, not when the next chunk is begun: the producer may be waiting for this room.
        if self.read as usize == self.chunk.slots.len() {
            self.pool.drained(self.chunk.slots.len());
        }
    }

    /// Whether the producer has been dropped and all its records have been read. It is not asked again then.
    pub fn is_finished(&mut self) -> bool {
        // The producer holds the chunk that it fills; the writer holds each earlier one alone, but only the last has no next.
        if Arc::strong_count(&self.chunk) > 1 {
            return false;
        }
        // Makes visible what the producer wrote before it dropped the chunk.
        fence(Ordering::Acquire);
        self.refresh();
        let is_finished = self.read == self.seen && self.chunk.next.get().is_none();
        let capacity = self.chunk.slots.len();
        if is_finished && (1..capacity).contains(&(self.read as usize)) {
            self.pool.drained(capacity);
        }
        is_finished
    }

    /// Whether it reads what that producer pushes.
    pub fn reads(&self, producer: &Producer) -> bool {
        Arc::ptr_eq(&self.publishing, &producer.publishing)
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

fn load<const WORDS: usize>(slot: &[AtomicU64; WORDS]) -> [u64; WORDS] {
    std::array::from_fn(|word| slot[word].load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::time::Duration;

    use super::*;

    const WORDS: usize = size_of::<Record>() / size_of::<u64>();

    fn pool(limit: usize) -> Arc<Pool> {
        Pool::new(limit, Arc::default())
    }

    /// A pool whose producers do not wait for long.
    fn impatient(limit: usize) -> Arc<Pool> {
        Pool::with_limits(limit, Arc::default(), Duration::from_millis(1))
    }

    /// As the agent pushes what can be left out.
    fn admit(producer: &mut Producer) -> bool {
        producer.has_room(1) || producer.make_room() == Room::Free
    }

    fn push(producer: &mut Producer, number: u64) {
        assert!(admit(producer));
        producer.push([number; WORDS]);
    }

    fn read_all(consumer: &mut Consumer) -> u64 {
        consumer.refresh();
        let mut read = 0;
        while consumer.peek().is_some() {
            consumer.pop();
            read += 1;
        }
        read
    }

    #[test]
    fn a_slow_writer_makes_the_producer_wait_and_loses_nothing() {
        const RECORDS: u64 = 200_000;
        let pool = pool(4096);
        let (mut producer, mut consumer) = channel(&pool);
        std::thread::scope(|scope| {
            scope.spawn(move || (0..RECORDS).for_each(|i| push(&mut producer, i)));
            let mut expected = 0;
            while expected < RECORDS {
                consumer.refresh();
                while let Some(record) = consumer.peek() {
                    assert_eq!(record, [expected; WORDS]);
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
        let pool = pool(0);
        std::thread::scope(|scope| {
            let mut consumers = Vec::new();
            for _ in 0..PRODUCERS {
                let (mut producer, consumer) = channel(&pool);
                consumers.push(consumer);
                scope.spawn(move || (0..RECORDS).for_each(|i| push(&mut producer, i)));
            }
            // As long as nobody reads, none gets beyond its first chunk.
            while pool.waits() == 0 {
                std::thread::yield_now();
            }
            let mut read = 0;
            while read < PRODUCERS * RECORDS {
                consumers.retain_mut(|consumer| {
                    read += read_all(consumer);
                    !consumer.is_finished()
                });
            }
        });
    }

    #[test]
    fn in_a_closed_pool_producers_do_not_wait() {
        let pool = pool(0);
        let (mut producer, _consumer) = channel(&pool);
        pool.close();
        (0..20_000).for_each(|i| push(&mut producer, i));
        assert_eq!(pool.waits(), 0);
    }

    #[test]
    fn a_stalled_writer_is_waited_for_once_and_caught_up_with() {
        let pool = impatient(4096);
        let (mut first, mut consumer) = channel(&pool);
        let (mut second, _idle) = channel(&pool);
        while first.has_room(1) || first.make_room() == Room::Free {
            first.push([1; WORDS]);
        }
        assert_eq!(pool.waits(), 1);
        assert_eq!((first.make_room(), second.make_room()), (Room::None, Room::None));
        assert_eq!(pool.waits(), 1);
        // What cannot be left out is pushed all the same.
        first.push([2; WORDS]);
        assert!(read_all(&mut consumer) > 4096);
        assert!(admit(&mut first) && admit(&mut second));
    }

    #[test]
    fn threads_that_have_ended_take_room_until_they_are_read() {
        let pool = impatient(4096);
        let mut consumers = Vec::new();
        loop {
            let (mut producer, consumer) = channel(&pool);
            if !admit(&mut producer) {
                break;
            }
            producer.push([1; WORDS]);
            consumers.push(consumer);
        }
        assert!((64..=65).contains(&consumers.len()), "{}", consumers.len());
        consumers.retain_mut(|consumer| {
            read_all(consumer);
            !consumer.is_finished()
        });
        assert!(consumers.is_empty());
        assert_eq!(pool.backlog(), 0);
    }

    #[test]
    fn at_the_end_only_the_chunk_that_a_thread_fills_stays() {
        let pool = pool(1 << 20);
        let (mut producer, mut consumer) = channel(&pool);
        let mut chunks = Vec::new();
        for number in 0..100_000 {
            push(&mut producer, number);
            chunks.extend((producer.len == 1).then(|| Arc::downgrade(&producer.chunk)));
            if number == 50_000 {
                // Some are used again.
                assert_eq!(read_all(&mut consumer), number + 1);
            }
        }
        // The writer's thread ends, whether it has read all or not.
        drop(consumer);
        pool.release();
        let left: Vec<_> = chunks.iter().filter_map(Weak::upgrade).collect();
        assert!(chunks.len() > 10 && !left.is_empty() && left.iter().all(|chunk| Arc::ptr_eq(chunk, &producer.chunk)));
    }

    #[test]
    fn a_publication_is_no_older_than_the_last_check_without_it() {
        let (mut producer, mut consumer) = channel(&pool(1 << 20));
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
        let pool = pool(1 << 20);
        let (mut producer, mut consumer) = channel(&pool);
        producer.push([0; WORDS]);
        assert_eq!(read_all(&mut consumer), 1);
        producer.push([1; WORDS]);
        assert_eq!(consumer.peek(), None);
        consumer.refresh();
        assert_eq!(consumer.peek(), Some([1; WORDS]));
        consumer.pop();
        assert_eq!(consumer.peek(), None);
    }
}
