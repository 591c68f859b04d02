//! Merges all buffers by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use super::writer::{GRACE_NANOS, Writer};
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::ThreadIndex;

/// A thread that has announced an event is waited for at most this long: the event may have its time already.
const MAX_PUBLISHING_NANOS: u64 = 2_000_000_000;
/// An event of a thread that has no name yet waits at most this long for the name.
const MAX_WAIT_FOR_NAME: Duration = Duration::from_millis(200);

impl Writer {
    /// The horizon, or an earlier time if a thread may still push an event from before the horizon.
    pub(super) fn published_horizon(&mut self, horizon: Ticks) -> Ticks {
        // If the buffers are nearly full, a thread that has announced an event may wait for room; to wait for it would help
        // neither.
        if horizon.0 == u64::MAX || self.core.pool.is_nearly_full() {
            return horizon;
        }
        let now = Ticks::now().0;
        let expired = now.saturating_sub(MAX_PUBLISHING_NANOS);
        // If a thread took the time of an event longer ago than the grace, its announcement is visible by now.
        let last_check = std::mem::replace(&mut self.last_publish_check, Ticks(now.saturating_sub(GRACE_NANOS)));
        let publishing = self.sources.iter_mut().filter_map(|source| source.consumer.publishing_since(last_check.0));
        publishing.filter(|&since| since > expired).map(Ticks).fold(horizon, Ticks::min)
    }

    pub(super) fn merge(&mut self, horizon: Ticks) {
        let mut queue: BinaryHeap<Reverse<(Ticks, usize)>> = BinaryHeap::with_capacity(self.sources.len());
        for (index, source) in self.sources.iter_mut().enumerate() {
            queue.extend(source.consumer.peek().map(|record| Reverse((Event::time(&record), index))));
        }
        loop {
            let gc_time = self.collections.next_time();
            let insert_time = self.inserts.front().map(|&(time, _)| time);
            let between = gc_time.into_iter().chain(insert_time).min();
            let next = queue.peek().map(|Reverse((time, _))| *time);
            if let Some(time) = between.filter(|&t| t <= horizon && next.is_none_or(|n| t <= n)) {
                if gc_time != Some(time) {
                    self.insert();
                } else if !self.gc_event(time, horizon) {
                    return;
                }
                continue;
            }
            let Some(Reverse((time, index))) = queue.pop() else { return };
            if time > horizon || !self.can_be_announced(self.sources[index].thread, horizon) {
                return;
            }
            // As long as this thread's events are the oldest, the other buffers need not be compared.
            let rival = queue.peek().map_or(horizon, |Reverse((time, _))| *time).min(horizon);
            let rival = between.map_or(rival, |t| t.min(rival));
            while let Some(record) = self.sources[index].consumer.peek() {
                let time = Event::time(&record);
                if time > rival {
                    queue.push(Reverse((time, index)));
                    break;
                }
                self.sources[index].consumer.pop();
                self.event(index, time, Event::unpack(&record));
                if self.document.is_full() {
                    return;
                }
            }
        }
    }

    /// Whether a thread can be written: its name is known, or has been waited for long enough.
    fn can_be_announced(&mut self, thread: ThreadIndex, horizon: Ticks) -> bool {
        if self.document.has_thread(thread) {
            return true;
        }
        let named = self.core.jvm.threads.get(thread).is_none_or(|t| t.names.get().is_some());
        if named {
            self.waiting_since = None;
            return true;
        }
        self.has_waited(MAX_WAIT_FOR_NAME, horizon)
    }

    /// Whether the merge has waited long enough for what it waits for. At the end of the trace nothing is waited for.
    pub(super) fn has_waited(&mut self, longest: Duration, horizon: Ticks) -> bool {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let enough = horizon.0 == u64::MAX || since.elapsed() > longest;
        if enough {
            self.waiting_since = None;
        }
        enough
    }
}
