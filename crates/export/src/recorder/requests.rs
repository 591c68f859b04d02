//! Requests: those that the trace has one by one.

use trace::model::{Request, RequestEntry};
use trace::time::{Nanos, Time};

use super::{Event, Recorder};

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestEvent {
    /// Where its entry point stands in the recording.
    pub(crate) entry: usize,
    pub(crate) number: u64,
    pub(crate) thread: u64,
    pub(crate) since: Time,
    pub(crate) until: Time,
    pub(crate) cpu: Option<Nanos>,
    pub(crate) bytes: Option<u64>,
    pub(crate) failed: bool,
}

impl Recorder {
    pub(super) fn entry_point(&mut self, entry: &RequestEntry<'_>) {
        self.entry_points.insert(entry.entry, self.recording.entry_points.len());
        self.recording.entry_points.push((&*entry.method).into());
    }

    pub(super) fn requested(&mut self, request: &Request) {
        let &Request { number, thread, time: since, took, cpu, bytes, failed, .. } = request;
        // Without its entry point it has no name.
        let Some(&entry) = self.entry_points.get(&request.entry) else { return };
        let thread = self.thread(thread);
        let until = Time(since.0.saturating_add(took.0));
        let failed = failed.is_some();
        let event = RequestEvent { entry, number, thread, since, until, cpu, bytes, failed };
        self.recording.events.push(Event::Request(event));
    }
}
