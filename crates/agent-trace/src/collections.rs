//! Writes collections, and the objects that they freed.

use std::collections::VecDeque;
use std::time::Duration;

use jvmti::HeapRoom;
use trace::ids::ObjectId;
use trace::model::{GcFinish, GcStart, ObjFree, Record};
use trace::time::Time;

use super::writer::Writer;
use agent_base::clock::Ticks;
use agent_base::ids::GcNumber;
use agent_base::objects::collections::{GcEvent, QueuedCollections};

/// A `gcFinish` waits at most this long for how full the heap is: the control thread may look names up meanwhile.
const MAX_WAIT_FOR_HEAP: Duration = Duration::from_secs(1);
/// A `gcFinish` waits at most this long for the frees of its collection; the control thread is much faster.
const MAX_WAIT_FOR_FREES: Duration = Duration::from_secs(60);

impl Writer {
    /// Writes the beginning or end of a collection; false if it has to wait.
    pub(super) fn gc_event(&mut self, ticks: Ticks, horizon: Ticks) -> bool {
        match self.collections.events.front() {
            Some(GcEvent::Finish(_, number)) => {
                let number = *number;
                if self.core.options.lifetimes && self.collections.processed < number {
                    if !self.has_waited(MAX_WAIT_FOR_FREES, horizon) {
                        return false;
                    }
                    self.collections.gave_up_waiting += 1;
                }
                if self.collections.measured < number && !self.has_waited(MAX_WAIT_FOR_HEAP, horizon) {
                    return false;
                }
                self.waiting_since = None;
                // Just before the end, so that the collection which freed an object does not count in its age.
                let time = self.document.time(Ticks(ticks.0.saturating_sub(1)));
                while self.collections.freed.front().is_some_and(|(attributed, _)| *attributed <= number) {
                    let (_, objects) = self.collections.freed.pop_front().unwrap_or_default();
                    // A full trace may not hold a whole collection's frees; the collection is finished all the same.
                    for object in objects {
                        if self.document.is_full() {
                            break;
                        }
                        self.document.emit(|out| ObjFree { object, time, thread: None }.write(out));
                    }
                }
                let time = self.document.time(ticks);
                let heap = self.collections.heap_after(number);
                self.finish_collection(time, heap);
            }
            Some(GcEvent::Start(_)) => {
                let time = self.document.time(ticks);
                self.document.emit(|out| GcStart { time, thread: None }.write(out));
                self.collections.is_open = true;
            }
            None => {}
        }
        self.collections.events.pop_front();
        true
    }

    pub(super) fn finish_collection(&mut self, time: Time, heap: Option<HeapRoom>) {
        let (used_space, total_space) = heap.map(|heap| (heap.used, heap.total)).unzip();
        let finish = GcFinish { time, used_objects: None, used_space, total_space };
        self.document.emit(|out| finish.write(out));
        self.collections.is_open = false;
    }
}

/// Collections that have not been written yet.
#[derive(Default)]
pub(super) struct PendingCollections {
    events: VecDeque<GcEvent>,
    freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    /// All frees of collections up to this one are known.
    processed: GcNumber,
    /// How full the heap was after some of them.
    heaps: VecDeque<(GcNumber, HeapRoom)>,
    /// No more will be known of it for collections up to this one.
    measured: GcNumber,
    /// A `gcStart` has been written without its `gcFinish`.
    pub(super) is_open: bool,
    /// Collections whose frees did not come in time.
    pub(super) gave_up_waiting: u64,
    batches: u64,
}

impl PendingCollections {
    /// Adds what was queued since the last time. True if the control thread gets on, for which the writer may have to wait.
    pub(super) fn add(&mut self, queued: QueuedCollections) -> bool {
        self.events.extend(queued.events);
        self.freed.extend(queued.freed);
        self.processed = self.processed.max(queued.processed);
        self.heaps.extend(queued.heaps);
        self.measured = self.measured.max(queued.measured);
        std::mem::replace(&mut self.batches, queued.batches) != queued.batches
    }

    /// When the next of them happened.
    pub(super) fn next_time(&self) -> Option<Ticks> {
        self.events.front().map(GcEvent::time)
    }

    /// How full the heap was after a collection, if that is known; those before it are forgotten.
    pub(super) fn heap_after(&mut self, number: GcNumber) -> Option<HeapRoom> {
        while self.heaps.front().is_some_and(|&(of, _)| of < number) {
            self.heaps.pop_front();
        }
        self.heaps.front().filter(|&&(of, _)| of == number).map(|&(_, heap)| heap)
    }

    /// Dead objects whose collection is not in the trace.
    pub(super) fn unattributed(&self) -> u64 {
        self.freed.iter().map(|(_, objects)| objects.len() as u64).sum()
    }
}
