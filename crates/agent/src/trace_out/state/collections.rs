//! Collections and heap dumps that have not been written yet.

use std::collections::VecDeque;

use jvmti::HeapRoom;
use trace::ids::ObjectId;

use crate::heapdump::DumpData;
use agent_base::clock::Ticks;
use agent_base::ids::GcNumber;
use agent_base::objects::collections::{DumpNumber, GcEvent, QueuedCollections};

/// What has not been written yet.
#[derive(Default)]
pub(crate) struct PendingCollections {
    pub(crate) events: VecDeque<GcEvent>,
    pub(crate) dumps: Vec<Option<DumpData>>,
    pub(crate) freed: VecDeque<(GcNumber, Vec<ObjectId>)>,
    /// All frees of collections up to this one are known.
    pub(crate) processed: GcNumber,
    /// How full the heap was after some of them.
    heaps: VecDeque<(GcNumber, HeapRoom)>,
    /// No more will be known of it for collections up to this one.
    pub(crate) measured: GcNumber,
    /// A `gcStart` has been written without its `gcFinish`.
    pub(crate) is_open: bool,
    /// Collections whose frees did not come in time.
    pub(crate) gave_up_waiting: u64,
    batches: u64,
}

impl PendingCollections {
    /// Adds what was queued since the last time. True if the control thread gets on, for which the writer may have to wait.
    pub(crate) fn add(&mut self, queued: QueuedCollections, dumps: Vec<DumpData>) -> bool {
        self.events.extend(queued.events);
        for dump in dumps {
            let time = dump.time;
            let later = self.events.iter().position(|event| event.time() > time).unwrap_or(self.events.len());
            self.events.insert(later, GcEvent::Dump(time, DumpNumber(self.dumps.len())));
            self.dumps.push(Some(dump));
        }
        self.freed.extend(queued.freed);
        self.processed = self.processed.max(queued.processed);
        self.heaps.extend(queued.heaps);
        self.measured = self.measured.max(queued.measured);
        std::mem::replace(&mut self.batches, queued.batches) != queued.batches
    }

    /// When the next of them happened.
    pub(crate) fn next_time(&self) -> Option<Ticks> {
        self.events.front().map(GcEvent::time)
    }

    /// How full the heap was after a collection, if that is known; those before it are forgotten.
    pub(crate) fn heap_after(&mut self, number: GcNumber) -> Option<HeapRoom> {
        while self.heaps.front().is_some_and(|&(of, _)| of < number) {
            self.heaps.pop_front();
        }
        self.heaps.front().filter(|&&(of, _)| of == number).map(|&(_, heap)| heap)
    }

    /// Dead objects whose collection is not in the trace.
    pub(crate) fn unattributed(&self) -> u64 {
        self.freed.iter().map(|(_, objects)| objects.len() as u64).sum()
    }
}
