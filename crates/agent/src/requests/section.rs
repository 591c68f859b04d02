//! Writes requests.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use trace::durations;
use trace::model::{Flag, Record, Request, RequestCount, RequestEntry};
use trace::time::{Nanos, Time};

use super::Requests;
use super::entry_points::{EntryNumber, EntryPoint};
use super::statistics::Taken;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_trace::{Count, Document, Section};

/// Sums are written so often, in nanoseconds.
const EACH: u64 = 1_000_000_000;

/// Writes requests.
pub(super) struct RequestSection {
    requests: &'static Requests,
    /// The entry points that are written.
    known: FxHashSet<EntryNumber>,
    /// When sums were written last.
    written: Ticks,
}

impl RequestSection {
    pub(super) fn new(requests: &'static Requests) -> RequestSection {
        RequestSection { requests, known: FxHashSet::default(), written: Ticks::now() }
    }

    /// Writes the entry points that were entered for the first time.
    fn entry_points(&mut self, document: &mut Document) {
        for (entry, point) in self.requests.points.iter() {
            let Some(first) = point.statistics.first().filter(|_| !self.known.contains(&entry)) else { continue };
            let element = RequestEntry {
                entry: id(entry),
                method: Cow::Borrowed(&point.method),
                kind: point.kind.map(Cow::Borrowed),
                time: document.core.clock.time(first),
            };
            document.emit(|out| element.write(out));
            self.known.insert(entry);
        }
    }

    /// Writes those that have ended and are recorded one by one.
    fn ended(&mut self, document: &mut Document) {
        if document.is_full() {
            return;
        }
        self.entry_points(document);
        let ended = self.requests.ended.take();
        for (entry, thread, ended) in ended {
            // Nothing of a thread comes behind its end.
            if document.has_ended(thread) {
                document.core.count_lost("requests", 1);
                continue;
            }
            document.define_thread(thread);
            let element = Request {
                entry: id(entry),
                number: ended.number,
                thread: document.thread_id(thread),
                time: document.core.clock.time(ended.begun),
                took: ended.took,
                cpu: Some(ended.cpu),
                ready: ended.ready,
                bytes: ended.bytes,
                failed: ended.failed.then_some(Flag::Yes),
                handed_over: ended.handed_over.then_some(Flag::Yes),
            };
            document.emit(|out| element.write(out));
        }
    }

    fn sums(&self, document: &mut Document, time: Time) {
        for (entry, EntryPoint { statistics, .. }) in self.requests.points.iter() {
            let Some(Taken { sums, durations }) = statistics.take() else { continue };
            let element = RequestCount {
                entry: id(entry),
                time,
                requests: sums.requests,
                failures: (sums.failures > 0).then_some(sums.failures),
                handovers: (sums.handovers > 0).then_some(sums.handovers),
                took: Nanos(sums.took),
                measured: Some(sums.measured),
                cpu: Some(Nanos(sums.cpu)),
                bytes: (sums.measured > 0).then_some(sums.bytes),
                durations: Cow::Owned(durations::write(durations)),
            };
            document.emit(|out| element.write(out));
        }
    }
}

fn id(EntryNumber(number): EntryNumber) -> u64 {
    // From 1 on, as other ids are; numbers are not negative.
    number as u64 + 1
}

impl Section for RequestSection {
    fn turn(&mut self, document: &mut Document) {
        self.ended(document);
        if !document.is_full() && Ticks::now().0.saturating_sub(self.written.0) >= EACH {
            self.written = Ticks::now();
            let now = document.time(Ticks::now());
            self.sums(document, now);
        }
    }

    fn thread_ends(&mut self, document: &mut Document, _: Ticks, _: ThreadIndex) {
        self.turn(document);
    }

    fn sums(&mut self, document: &mut Document, time: Time) {
        // None that is later than the end.
        self.ended(document);
        RequestSection::sums(self, document, time);
    }

    fn counts(&mut self, _: &Document) -> Vec<Count> {
        let open = self.requests.points.iter().map(|(_, point)| point.statistics.open()).sum();
        let lost = self.requests.lost.get().copied().unwrap_or(0);
        vec![("requests.open", None, open), ("requests.lost", None, lost)]
    }
}
