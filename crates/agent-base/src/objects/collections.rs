//! Collections and the objects that they free, on their way to the writer.
//!
//! The VM sends its events inside the pause, so they are only queued. After the pause the control thread finds out which
//! objects are dead (`weak_refs`), and the writer delays the collection's `gcFinish` until that is done: so each `objFree`
//! comes between the `gcStart` and `gcFinish` of the collection that found the object dead.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use jvmti::HeapRoom;
use trace::ids::ObjectId;

use crate::clock::Ticks;
use crate::ids::GcNumber;
use crate::mutex::Mutex;

/// The beginning or end of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcEvent {
    /// A collection began.
    Start(Ticks),
    /// A collection ended.
    Finish(Ticks, GcNumber),
}

impl GcEvent {
    /// When it happened.
    pub fn time(&self) -> Ticks {
        match *self {
            GcEvent::Start(time) | GcEvent::Finish(time, _) => time,
        }
    }
}

/// What the writer takes from the queue.
#[derive(Debug, Default)]
pub struct QueuedCollections {
    /// Beginnings and ends, oldest first.
    pub events: VecDeque<GcEvent>,
    /// Freed objects, with the collection to which they are attributed, oldest first.
    pub freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    /// All frees of collections up to this one are in `freed`, or were before.
    pub processed: GcNumber,
    /// Grows as long as the control thread tests objects.
    pub batches: u64,
    /// How full the heap was after collections, oldest first; not after each, if they follow each other quickly.
    pub heaps: VecDeque<(GcNumber, HeapRoom)>,
    /// No more comes of collections up to this one.
    pub measured: GcNumber,
}

#[derive(Default)]
struct Inner {
    events: VecDeque<GcEvent>,
    /// Pauses that have begun and not ended: HotSpot may report one twice, nested (G1 that collects for metadata).
    depth: u32,
    finished: GcNumber,
    freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    processed: GcNumber,
    /// Number of objects freed so far.
    delivered: usize,
    /// Number of times that objects were tested, dead or not.
    batches: u64,
    heaps: VecDeque<(GcNumber, HeapRoom)>,
    measured: GcNumber,
    /// The first id given to an object after the last collection.
    first_new_object: ObjectId,
    /// The VM has collected since, without an event.
    has_unseen: bool,
    /// The first id given to an object after each number of collections, if that is kept.
    generations: Option<Vec<(ObjectId, u64)>>,
    closed: bool,
    is_woken: bool,
    /// The pause that has begun is not in `events`, which are too many.
    skips: bool,
    /// Collections that were left out.
    skipped: u64,
}

/// Beginnings and ends that are queued while the writer takes none: 2 MiB. Collections beyond that are left out; what they freed
/// belongs to a later one then.
const MAX_EVENTS: usize = 1 << 16;

/// The queue.
pub struct Collections {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// When the last pause ended; 0 before.
    last_finish: AtomicU64,
}

impl Collections {
    /// An empty queue, which may be asked for `generations` if it keeps them.
    pub fn new(keeps_generations: bool) -> Collections {
        let inner = Inner { generations: keeps_generations.then(Vec::new), ..Inner::default() };
        Collections { inner: Mutex::new(inner), changed: Condvar::new(), last_finish: AtomicU64::new(0) }
    }

    /// A pause began.
    pub fn start(&self, now: Ticks) {
        let mut inner = self.inner.lock();
        inner.depth += 1;
        if inner.depth > 1 {
            return;
        }
        inner.skips = inner.events.len() >= MAX_EVENTS;
        if !inner.skips {
            inner.events.push_back(GcEvent::Start(now));
        }
    }

    /// A pause ended; wakes the control thread. `next` is the id of the next object.
    pub fn finish(&self, now: Ticks, next: ObjectId) {
        let mut inner = self.inner.lock();
        inner.depth = inner.depth.saturating_sub(1);
        if inner.depth > 0 {
            return;
        }
        inner.finished.0 += 1;
        let number = inner.finished;
        match inner.skips {
            true => inner.skipped += 1,
            false => inner.events.push_back(GcEvent::Finish(now, number)),
        }
        inner.first_new_object = next;
        inner.has_unseen = false;
        if let Some(generations) = &mut inner.generations {
            generations.push((next, number.0));
        }
        self.last_finish.store(now.0, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Number of collections so far.
    pub fn finished(&self) -> GcNumber {
        self.inner.lock().finished
    }

    /// Number of collections so far, and when the last one ended.
    pub fn last_finish(&self) -> (GcNumber, Ticks) {
        let inner = self.inner.lock();
        (inner.finished, Ticks(self.last_finish.load(Ordering::Relaxed)))
    }

    /// When the last pause ended, for threads that allocate: an object must not get an id that was taken before it.
    #[inline]
    pub fn generation(&self) -> Ticks {
        Ticks(self.last_finish.load(Ordering::Relaxed))
    }

    /// The first id given to an object after so many collections.
    pub fn generations(&self) -> Vec<(ObjectId, u64)> {
        std::iter::once((ObjectId(0), 0)).chain(self.inner.lock().generations.iter().flatten().copied()).collect()
    }

    /// The VM has collected without an event (before a heap dump, with some collectors). Nobody knows which objects had been dead before:
    /// the deaths that are found from now on are attributed to the next collection.
    pub fn note_unseen(&self) {
        self.inner.lock().has_unseen = true;
    }

    /// If an object with this id or a later one is dead, it has died in a collection of which there was no event.
    pub(crate) fn first_after_last(&self) -> ObjectId {
        let inner = self.inner.lock();
        if inner.has_unseen { ObjectId(0) } else { inner.first_new_object }
    }

    /// These objects are dead. Their deaths are attributed to the last collection that has ended.
    ///
    /// A later collection than the one that found them may have ended meanwhile; then the attribution is late, but never
    /// earlier than the object's allocation.
    pub(crate) fn free(&self, objects: Vec<ObjectId>) {
        let mut inner = self.inner.lock();
        inner.batches += 1;
        if objects.is_empty() {
            return;
        }
        inner.delivered += objects.len();
        let number = inner.finished;
        inner.freed.push_back((number, objects));
    }

    /// How full the heap is, as was asked after the end of that collection; it counts if no other has ended since.
    pub fn measure(&self, number: GcNumber, heap: Option<HeapRoom>) {
        let mut inner = self.inner.lock();
        inner.measured = number;
        let is_next = inner.finished == number && inner.heaps.len() < MAX_EVENTS;
        inner.heaps.extend(heap.filter(|_| is_next).map(|heap| (number, heap)));
    }

    /// All frees of collections up to that one have been delivered.
    pub fn set_processed(&self, number: GcNumber) {
        let mut inner = self.inner.lock();
        inner.processed = inner.processed.max(number);
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits until the frees of every collection so far are delivered. Gives up when nothing is delivered for `longest`.
    pub fn wait_until_processed(&self, longest: Duration) {
        let mut inner = self.inner.lock();
        let wanted = inner.finished;
        while inner.processed < wanted {
            let delivered = inner.delivered;
            let (guard, timeout) = self.changed.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner);
            inner = guard;
            if timeout.timed_out() && inner.delivered == delivered {
                break;
            }
        }
    }

    /// Waits until a collection later than `seen` has ended, or it is woken, or for that long, and returns the number of the last one; `None`
    /// once closed.
    pub fn wait_for_finish(&self, seen: GcNumber, longest: Option<Duration>) -> Option<GcNumber> {
        let mut inner = self.inner.lock();
        let until = longest.map(|longest| Instant::now() + longest);
        while inner.finished <= seen && !inner.closed && !std::mem::take(&mut inner.is_woken) {
            let Some(until) = until else {
                inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inner = self.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        (!inner.closed).then_some(inner.finished)
    }

    /// Ends the control thread's wait once: there is something to do.
    pub fn wake(&self) {
        self.inner.lock().is_woken = true;
        self.changed.notify_all();
    }

    /// Ends the control thread's wait.
    pub fn close(&self) {
        self.inner.lock().closed = true;
        self.changed.notify_all();
    }

    /// Frees what is queued and kept: the recording has ended, and nobody takes any more.
    pub fn release(&self) {
        let mut inner = self.inner.lock();
        *inner = Inner { closed: true, ..Inner::default() };
    }

    /// Collections that were left out.
    pub fn skipped(&self) -> u64 {
        self.inner.lock().skipped
    }

    /// Takes all that is queued.
    pub fn take(&self) -> QueuedCollections {
        let mut inner = self.inner.lock();
        QueuedCollections {
            events: std::mem::take(&mut inner.events),
            freed: std::mem::take(&mut inner.freed),
            processed: inner.processed,
            batches: inner.batches,
            heaps: std::mem::take(&mut inner.heaps),
            measured: inner.measured,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frees_belong_to_the_last_pause_that_may_have_found_them() {
        let queue = Collections::new(false);
        queue.start(Ticks(1));
        queue.finish(Ticks(2), ObjectId(0));
        assert_eq!(queue.take().processed, GcNumber(0));
        queue.free(vec![ObjectId(6)]);
        queue.start(Ticks(3));
        queue.finish(Ticks(4), ObjectId(0));
        queue.free(vec![ObjectId(7)]);
        queue.free(Vec::new());
        queue.set_processed(GcNumber(1));
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(1), vec![ObjectId(6)]), (GcNumber(2), vec![ObjectId(7)])]);
        assert_eq!(taken.processed, GcNumber(1));
        assert_eq!(taken.events.len(), 2);
    }

    #[test]
    fn a_heap_is_that_of_the_last_collection() {
        let queue = Collections::new(false);
        let room = HeapRoom { free: 3, max: 9, total: 8, used: 2 };
        queue.finish(Ticks(2), ObjectId(0));
        queue.finish(Ticks(3), ObjectId(0));
        // The second ended before the control thread came to ask.
        queue.measure(GcNumber(1), Some(room));
        let taken = queue.take();
        assert_eq!((taken.heaps.len(), taken.measured), (0, GcNumber(1)));
        queue.measure(GcNumber(2), Some(room));
        assert_eq!(queue.take().heaps, [(GcNumber(2), room)]);
    }

    #[test]
    fn nested_pauses_are_one() {
        let queue = Collections::new(false);
        queue.start(Ticks(1));
        queue.start(Ticks(2));
        queue.finish(Ticks(3), ObjectId(0));
        queue.finish(Ticks(4), ObjectId(0));
        assert_eq!(queue.take().events, [GcEvent::Start(Ticks(1)), GcEvent::Finish(Ticks(4), GcNumber(1))]);
    }

    #[test]
    fn waiting_ends_when_closed() {
        let queue = Collections::new(false);
        queue.finish(Ticks(1), ObjectId(0));
        assert_eq!(queue.wait_for_finish(GcNumber(0), None), Some(GcNumber(1)));
        assert_eq!(queue.wait_for_finish(GcNumber(1), Some(Duration::from_millis(1))), Some(GcNumber(1)));
        queue.close();
        assert_eq!(queue.wait_for_finish(GcNumber(1), None), None);
    }
}
