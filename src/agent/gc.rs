//! Collections and the objects they free, on their way to the writer.
//!
//! The VM tells of a collection inside its pause, so these doors only queue. Up to JDK 15 it tells of freed objects in the
//! pause too; later VMs do so some time after it, on their service thread. The control thread finds out when that is done
//! (`fence`), and the writer holds the collection's `gcFinish` back until then: so each `objFree` stands between the
//! `gcStart` and `gcFinish` of the collection that found the object dead.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trace::ids::ObjectId;

use super::clock::Ticks;
use super::tags::ShardIndex;

/// Number of a collection, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GcNumber(pub(crate) u64);

/// The beginning or end of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GcEvent {
    /// A collection began.
    Start(Ticks),
    /// A collection ended.
    Finish(Ticks, GcNumber),
    /// The heap was dumped.
    Dump(Ticks, DumpNumber),
}

/// Number of a dump among those that the writer knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DumpNumber(pub(crate) usize);

impl GcEvent {
    /// When it happened.
    pub(crate) fn time(&self) -> Ticks {
        match *self {
            GcEvent::Start(time) | GcEvent::Finish(time, _) | GcEvent::Dump(time, _) => time,
        }
    }
}

/// What the writer takes from the queue.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Beginnings and ends, oldest first.
    pub(crate) events: VecDeque<GcEvent>,
    /// Freed objects, with the collection they are charged to, oldest first.
    pub(crate) freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    /// All frees of collections up to this one have been delivered.
    pub(crate) settled: GcNumber,
}

/// One of the two environments in which the fence is tagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FenceEnd {
    /// The one that the VM serves first.
    First,
    /// The one that it serves last.
    Last,
}

/// What has been told of the fence's death.
#[derive(Clone, Copy, Debug, Default)]
struct FenceState {
    first: bool,
    last: bool,
    /// First it was told in the first environment, then in the last.
    in_order: bool,
}

#[derive(Default)]
struct Inner {
    events: VecDeque<GcEvent>,
    /// Pauses that have begun and not ended: HotSpot may tell of one twice, nested (G1 collecting for metadata).
    depth: u32,
    finished: GcNumber,
    freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    settled: GcNumber,
    fence: FenceState,
    /// The first id given to an object after so many collections.
    generations: Vec<(ObjectId, u64)>,
    closed: bool,
}

/// The queue.
pub(crate) struct GcQueue {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// Freed objects, by shard, not yet charged to a collection. The VM delivers those of one shard one after the other, so
    /// each lock is free when it is asked for.
    loose: Box<[Mutex<Vec<ObjectId>>]>,
    /// The VM delivers frees inside the pause (before JDK 16).
    frees_in_pause: bool,
    /// When the last pause ended; 0 before.
    last_finish: AtomicU64,
}

impl GcQueue {
    /// An empty queue for objects of so many shards.
    pub(crate) fn new(shards: usize, frees_in_pause: bool) -> GcQueue {
        let loose = (0..shards).map(|_| Mutex::default()).collect();
        GcQueue {
            inner: Mutex::default(),
            changed: Condvar::new(),
            loose,
            frees_in_pause,
            last_finish: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the VM delivers frees inside the pause.
    pub(crate) fn frees_in_pause(&self) -> bool {
        self.frees_in_pause
    }

    /// A pause began.
    pub(crate) fn start(&self, now: Ticks) {
        let mut inner = self.lock();
        inner.depth += 1;
        if inner.depth == 1 {
            inner.events.push_back(GcEvent::Start(now));
        }
    }

    /// A pause ended; wakes the control thread. `next` is the id of the next object, if that is to be remembered.
    pub(crate) fn finish(&self, now: Ticks, next: Option<ObjectId>) {
        let mut inner = self.lock();
        inner.depth = inner.depth.saturating_sub(1);
        if inner.depth > 0 {
            return;
        }
        inner.finished.0 += 1;
        let number = inner.finished;
        inner.events.push_back(GcEvent::Finish(now, number));
        inner.generations.extend(next.map(|id| (id, number.0)));
        self.last_finish.store(now.0, Ordering::Relaxed);
        if self.frees_in_pause {
            self.charge(&mut inner);
            inner.settled = number;
        }
        self.changed.notify_all();
    }

    /// An object of that shard is dead.
    #[inline]
    pub(crate) fn free(&self, shard: ShardIndex, object: ObjectId) {
        self.loose[shard.0].lock().unwrap_or_else(PoisonError::into_inner).push(object);
    }

    /// The lists of loose objects, locked one after the other.
    fn loose(&self) -> impl Iterator<Item = MutexGuard<'_, Vec<ObjectId>>> {
        self.loose.iter().map(|list| list.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn delivered(&self) -> usize {
        self.loose().map(|list| list.len()).sum()
    }

    fn charge(&self, inner: &mut Inner) {
        let number = inner.finished;
        for mut list in self.loose() {
            if !list.is_empty() {
                // As much may come with the next collection.
                let room = Vec::with_capacity(list.len());
                inner.freed.push_back((number, std::mem::replace(&mut list, room)));
            }
        }
    }

    /// Collections so far.
    pub(crate) fn finished(&self) -> GcNumber {
        self.lock().finished
    }

    /// Collections so far, and when the last one ended.
    pub(crate) fn last_finish(&self) -> (GcNumber, Ticks) {
        let inner = self.lock();
        (inner.finished, Ticks(self.last_finish.load(Ordering::Relaxed)))
    }

    /// When the last pause ended, by whoever allocates; ids must not be older than the collection before their object.
    #[inline]
    pub(crate) fn generation(&self) -> Ticks {
        Ticks(self.last_finish.load(Ordering::Relaxed))
    }

    /// The first id given to an object after so many collections.
    pub(crate) fn generations(&self) -> Vec<(ObjectId, u64)> {
        std::iter::once((ObjectId(0), 0)).chain(self.lock().generations.iter().copied()).collect()
    }

    /// Charges every free delivered so far to the last finished collection, and says that all frees of those up to `number`
    /// have been delivered.
    ///
    /// A collection that ended meanwhile may have found some of them, so charging the last one is late at worst, and never
    /// earlier than the object's allocation.
    pub(crate) fn settle(&self, number: GcNumber) {
        let mut inner = self.lock();
        self.charge(&mut inner);
        inner.settled = inner.settled.max(number);
        drop(inner);
        self.changed.notify_all();
    }

    /// The death of the fence object is told in one of its environments.
    pub(crate) fn free_fence(&self, end: FenceEnd) {
        let fence = &mut self.lock().fence;
        match end {
            FenceEnd::First => fence.first = true,
            FenceEnd::Last => {
                fence.last = true;
                fence.in_order = fence.first;
            }
        }
        self.changed.notify_all();
    }

    /// Waits until the fence object's death is told in both environments; true if first in the first and then in the last.
    /// Gives up when nothing at all is delivered for `longest`, or when closed.
    pub(crate) fn wait_for_fence(&self, longest: Duration) -> bool {
        let mut inner = self.lock();
        let mut delivered = self.delivered();
        while !(inner.closed || inner.fence.first && inner.fence.last) {
            let (guard, timeout) = self.changed.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner);
            inner = guard;
            if timeout.timed_out() && self.delivered() == delivered {
                break;
            }
            delivered = self.delivered();
        }
        std::mem::take(&mut inner.fence).in_order
    }

    /// Waits until nothing is delivered for `silence`, at most a hundred times so long.
    pub(crate) fn wait_for_silence(&self, silence: Duration) {
        let mut delivered = self.delivered();
        for _ in 0..100 {
            let inner = self.lock();
            if inner.closed {
                return;
            }
            drop(self.changed.wait_timeout(inner, silence));
            let before = std::mem::replace(&mut delivered, self.delivered());
            if delivered == before {
                return;
            }
        }
    }

    /// Waits until the frees of every collection so far are settled. Gives up when nothing is delivered for `longest`.
    pub(crate) fn wait_until_settled(&self, longest: Duration) {
        let mut inner = self.lock();
        let wanted = inner.finished;
        let mut delivered = self.delivered();
        while inner.settled < wanted {
            let (guard, timeout) = self.changed.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner);
            inner = guard;
            if timeout.timed_out() && self.delivered() == delivered {
                break;
            }
            delivered = self.delivered();
        }
    }

    /// Waits until a collection later than `seen` has ended, or for that long, and returns the number of the last one; `None`
    /// once closed.
    pub(crate) fn wait_for_finish(&self, seen: GcNumber, longest: Option<Duration>) -> Option<GcNumber> {
        let mut inner = self.lock();
        let until = longest.map(|longest| Instant::now() + longest);
        while inner.finished <= seen && !inner.closed {
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

    /// Ends the control thread's wait.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Takes all that is there.
    pub(crate) fn take(&self) -> Taken {
        let mut inner = self.lock();
        Taken {
            events: std::mem::take(&mut inner.events),
            freed: std::mem::take(&mut inner.freed),
            settled: inner.settled,
        }
    }

    /// Frees that no collection could be charged with.
    pub(crate) fn take_loose(&self) -> Vec<ObjectId> {
        self.loose().flat_map(|mut list| std::mem::take(&mut *list)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frees_in_the_pause_belong_to_it() {
        let queue = GcQueue::new(2, true);
        queue.start(Ticks(1));
        queue.free(ShardIndex(1), ObjectId(7));
        queue.finish(Ticks(2), None);
        queue.start(Ticks(3));
        queue.finish(Ticks(4), None);
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(1), vec![ObjectId(7)])]);
        assert_eq!(taken.settled, GcNumber(2));
        assert_eq!(taken.events.len(), 4);
    }

    #[test]
    fn late_frees_belong_to_the_last_pause_that_may_have_found_them() {
        let queue = GcQueue::new(2, false);
        queue.start(Ticks(1));
        queue.finish(Ticks(2), None);
        assert_eq!(queue.take().settled, GcNumber(0));
        queue.free(ShardIndex(1), ObjectId(7));
        queue.start(Ticks(3));
        queue.finish(Ticks(4), None);
        queue.settle(GcNumber(2));
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(2), vec![ObjectId(7)])]);
        assert_eq!(taken.settled, GcNumber(2));
    }

    #[test]
    fn a_collection_may_be_settled_while_the_next_is_not() {
        let queue = GcQueue::new(1, false);
        for time in [1, 3] {
            queue.start(Ticks(time));
            queue.finish(Ticks(time + 1), None);
        }
        queue.free(ShardIndex(0), ObjectId(7));
        queue.settle(GcNumber(1));
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(2), vec![ObjectId(7)])]);
        assert_eq!(taken.settled, GcNumber(1));
    }

    #[test]
    fn a_fence_is_passed_in_order_or_not() {
        let queue = GcQueue::new(1, false);
        for (ends, in_order) in [([FenceEnd::First, FenceEnd::Last], true), ([FenceEnd::Last, FenceEnd::First], false)]
        {
            ends.into_iter().for_each(|end| queue.free_fence(end));
            assert_eq!(queue.wait_for_fence(Duration::from_secs(60)), in_order);
        }
    }

    #[test]
    fn waiting_ends_when_closed() {
        let queue = GcQueue::new(2, false);
        queue.finish(Ticks(1), None);
        assert_eq!(queue.wait_for_finish(GcNumber(0), None), Some(GcNumber(1)));
        assert_eq!(queue.wait_for_finish(GcNumber(1), Some(Duration::from_millis(1))), Some(GcNumber(1)));
        queue.close();
        assert_eq!(queue.wait_for_finish(GcNumber(1), None), None);
    }
}
