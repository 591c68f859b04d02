//! Collections and the objects they free, on their way to the writer.
//!
//! The VM tells of a collection inside its pause, so these doors only queue. Up to JDK 15 it tells of freed objects in the
//! pause too; later VMs do so some time after it, on their service thread. The control thread finds out when that is done
//! (`fence`), and the writer holds the collection's `gcFinish` back until then: so each `objFree` stands between the
//! `gcStart` and `gcFinish` of the collection that found the object dead.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trace::ids::ObjectId;

use super::clock::Ticks;

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
}

impl GcEvent {
    /// When it happened.
    pub(crate) fn time(&self) -> Ticks {
        match *self {
            GcEvent::Start(time) | GcEvent::Finish(time, _) => time,
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

#[derive(Default)]
struct Inner {
    events: VecDeque<GcEvent>,
    /// Pauses that have begun and not ended: HotSpot may tell of one twice, nested (G1 collecting for metadata).
    depth: u32,
    finished: GcNumber,
    /// Delivered, but not yet charged to a collection.
    loose: Vec<ObjectId>,
    freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    settled: GcNumber,
    fence_is_freed: bool,
    closed: bool,
}

impl Inner {
    fn settle(&mut self) {
        let number = self.finished;
        if !self.loose.is_empty() {
            self.freed.push_back((number, std::mem::take(&mut self.loose)));
        }
        self.settled = number;
    }
}

/// The queue.
pub(crate) struct GcQueue {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// The VM delivers frees inside the pause (before JDK 16).
    frees_in_pause: bool,
}

impl GcQueue {
    /// An empty queue.
    pub(crate) fn new(frees_in_pause: bool) -> GcQueue {
        GcQueue { inner: Mutex::default(), changed: Condvar::new(), frees_in_pause }
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

    /// A pause ended; wakes the control thread.
    pub(crate) fn finish(&self, now: Ticks) {
        let mut inner = self.lock();
        inner.depth = inner.depth.saturating_sub(1);
        if inner.depth > 0 {
            return;
        }
        inner.finished.0 += 1;
        let number = inner.finished;
        inner.events.push_back(GcEvent::Finish(now, number));
        if self.frees_in_pause {
            inner.settle();
        }
        self.changed.notify_all();
    }

    /// An object is dead.
    pub(crate) fn free(&self, object: ObjectId) {
        self.lock().loose.push(object);
    }

    /// Charges every free delivered so far to the last finished collection.
    ///
    /// Call it when the VM has delivered all frees it knew of. A collection that ended meanwhile may have found some of them,
    /// so charging the last one is late at worst, and never earlier than the object's allocation.
    pub(crate) fn settle(&self) {
        self.lock().settle();
        self.changed.notify_all();
    }

    /// The fence object is dead, and so all frees that the VM knew of have been delivered.
    pub(crate) fn free_fence(&self) {
        self.lock().fence_is_freed = true;
        self.changed.notify_all();
    }

    /// Waits until the fence object's death is delivered. Gives up when nothing at all is delivered for `longest`, or when
    /// closed.
    pub(crate) fn wait_for_fence(&self, longest: Duration) {
        let mut inner = self.lock();
        let mut delivered = inner.loose.len();
        while !inner.fence_is_freed && !inner.closed {
            let (guard, timeout) = self.changed.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner);
            inner = guard;
            if timeout.timed_out() && inner.loose.len() == delivered {
                break;
            }
            delivered = inner.loose.len();
        }
        inner.fence_is_freed = false;
    }

    /// Waits until the frees of every collection so far are settled. Gives up when nothing is delivered for `longest`.
    pub(crate) fn wait_until_settled(&self, longest: Duration) {
        let mut inner = self.lock();
        let wanted = inner.finished;
        let mut delivered = inner.loose.len();
        while inner.settled < wanted {
            let (guard, timeout) = self.changed.wait_timeout(inner, longest).unwrap_or_else(PoisonError::into_inner);
            inner = guard;
            if timeout.timed_out() && inner.loose.len() == delivered {
                break;
            }
            delivered = inner.loose.len();
        }
    }

    /// Waits until a collection later than `seen` has ended and returns its number; `None` once closed.
    pub(crate) fn wait_for_finish(&self, seen: GcNumber) -> Option<GcNumber> {
        let mut inner = self.lock();
        while inner.finished <= seen && !inner.closed {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
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
        std::mem::take(&mut self.lock().loose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frees_in_the_pause_belong_to_it() {
        let queue = GcQueue::new(true);
        queue.start(Ticks(1));
        queue.free(ObjectId(7));
        queue.finish(Ticks(2));
        queue.start(Ticks(3));
        queue.finish(Ticks(4));
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(1), vec![ObjectId(7)])]);
        assert_eq!(taken.settled, GcNumber(2));
        assert_eq!(taken.events.len(), 4);
    }

    #[test]
    fn late_frees_belong_to_the_last_pause_that_may_have_found_them() {
        let queue = GcQueue::new(false);
        queue.start(Ticks(1));
        queue.finish(Ticks(2));
        assert_eq!(queue.take().settled, GcNumber(0));
        queue.free(ObjectId(7));
        queue.start(Ticks(3));
        queue.finish(Ticks(4));
        queue.settle();
        let taken = queue.take();
        assert_eq!(taken.freed, [(GcNumber(2), vec![ObjectId(7)])]);
        assert_eq!(taken.settled, GcNumber(2));
    }

    #[test]
    fn waiting_ends_when_closed() {
        let queue = GcQueue::new(false);
        queue.finish(Ticks(1));
        assert_eq!(queue.wait_for_finish(GcNumber(0)), Some(GcNumber(1)));
        queue.close();
        assert_eq!(queue.wait_for_finish(GcNumber(1)), None);
    }
}
