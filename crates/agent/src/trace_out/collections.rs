//! Writes collections, the objects that they freed, and heap dumps.

use std::time::Duration;

use jvmti::HeapRoom;
use trace::model::{GcFinish, GcStart, ObjFree, Record};
use trace::time::Time;

use super::writer::Writer;
use agent_base::clock::Ticks;
use agent_base::objects::collections::GcEvent;

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
                let time = self.time(Ticks(ticks.0.saturating_sub(1)));
                while self.collections.freed.front().is_some_and(|(attributed, _)| *attributed <= number) {
                    let (_, objects) = self.collections.freed.pop_front().unwrap_or_default();
                    // A full trace may not hold a whole collection's frees; the collection is finished all the same.
                    for object in objects {
                        if self.text.is_full() {
                            break;
                        }
                        self.text.emit(|out| ObjFree { object, time, thread: None }.write(out));
                    }
                }
                let time = self.time(ticks);
                let heap = self.collections.heap_after(number);
                self.finish_collection(time, heap);
            }
            Some(GcEvent::Start(_)) => {
                let time = self.time(ticks);
                self.text.emit(|out| GcStart { time, thread: None }.write(out));
                self.collections.is_open = true;
            }
            Some(&GcEvent::Dump(_, number)) => {
                let time = self.time(ticks);
                if let Some(snapshot) = self.collections.dumps.get_mut(number.0).and_then(Option::take) {
                    self.heap_dump(&snapshot, time);
                }
            }
            None => {}
        }
        self.collections.events.pop_front();
        true
    }

    pub(super) fn finish_collection(&mut self, time: Time, heap: Option<HeapRoom>) {
        let (used_space, total_space) = heap.map(|heap| (heap.used, heap.total)).unzip();
        let finish = GcFinish { time, used_objects: None, used_space, total_space };
        self.text.emit(|out| finish.write(out));
        self.collections.is_open = false;
    }
}
