//! The writer: one native thread that merges all buffers by time (`merge`) and turns records into elements (`events`).
//!
//! It never touches JNI, so it continues while the VM stands still in a collection.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use trace::writer::DOCUMENT_START;

use super::collections::PendingCollections;
use super::document::Document;
use super::header::{self, Header};
use super::output::Output;
use super::section::Section;
use super::source::{EventSource, SourceNumber, Unread};
use super::text::Text;
use agent_base::clock::Ticks;
use agent_base::message::message;
use agent_core::core::Core;
use agent_core::core::source::AllocationSource;

/// How often a compressed trace is flushed, so that a reader sees what was written.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// The writer sleeps so long between two turns.
const SHORTEST_REST: Duration = Duration::from_millis(10);
/// If only locks are recorded it sleeps longer if there are few events, up to this: each turn and each small write cost time.
/// If allocations are recorded it does not, so that a kill of the process loses as little as possible.
const LONGEST_REST: Duration = Duration::from_millis(100);
/// So long filters may take to match a class, before somebody is told who may have mistyped one.
const FILTERS_MATCH_WITHIN: Duration = Duration::from_secs(10);
/// An event younger than this is not written yet: an earlier event of another thread may not be visible yet.
pub(super) const GRACE_NANOS: u64 = 1_000_000;

/// The writer of a recording.
pub struct Writer {
    pub(super) core: &'static Core,
    pub(super) document: Document,
    /// What features add.
    pub(super) sections: Vec<Box<dyn Section>>,
    pub(super) header: Header,
    pub(super) sources: Vec<EventSource>,
    next_source: u32,
    pub(super) collections: PendingCollections,
    /// What sections have ready, in order of time: the number of the section.
    pub(super) inserts: VecDeque<(Ticks, usize)>,
    /// When it was last checked which threads publish, less the grace.
    pub(super) last_publish_check: Ticks,
    /// Since when the merge waits for something that is not an event.
    pub(super) waiting_since: Option<Instant>,
    /// Objects whose stack has as many frames as are kept: what called the outermost may be missing.
    pub(super) full_stacks: u64,
    flushed: Instant,
    began: Instant,
    /// Whether the filters record anything was looked at.
    looked_at_filters: bool,
}

impl Writer {
    /// Writes the header of the trace.
    pub fn begin(core: &'static Core, output: Output, sections: Vec<Box<dyn Section>>) -> Writer {
        let mut document = Document::new(core, Text::new(output, core.options.limit_bytes));
        document.emit(|out| out.extend_from_slice(DOCUMENT_START));
        let header = header::write(&core.options, core.jvm.env, core.jvm.java, core.clock.time(core.start), |write| {
            document.emit(write)
        });
        document.text.drain();
        Writer {
            core,
            document,
            sections,
            header,
            sources: Vec::new(),
            next_source: 0,
            collections: PendingCollections::default(),
            inserts: VecDeque::new(),
            last_publish_check: Ticks::now(),
            waiting_since: None,
            full_stacks: 0,
            flushed: Instant::now(),
            began: Instant::now(),
            looked_at_filters: false,
        }
    }

    /// Writes until reporting ends, and then the rest.
    pub fn run(mut self) {
        let longest = if self.core.source == AllocationSource::Off { LONGEST_REST } else { SHORTEST_REST };
        let mut rest = SHORTEST_REST;
        while !self.core.pool.is_closed() {
            std::thread::park_timeout(rest);
            let before = self.document.text.total();
            self.turn(Ticks(Ticks::now().0.saturating_sub(GRACE_NANOS)));
            if self.document.text.has_failed() || self.document.text.is_full() {
                self.core.stop_reporting();
            }
            rest = match self.document.text.total() - before < Text::PIECE as u64 {
                true => (rest * 2).min(longest),
                false => (rest / 2).max(SHORTEST_REST),
            };
        }
        self.turn(Ticks(u64::MAX));
        self.end();
    }

    /// Writes all events up to the horizon, or to the first that has to wait.
    fn turn(&mut self, horizon: Ticks) {
        // What is ready before collections, and both before events: an object that is dead by now was allocated by an event that is
        // visible by now.
        let horizon = self.sections.iter().fold(horizon, |horizon, section| section.horizon(horizon));
        for (number, section) in self.sections.iter_mut().enumerate() {
            for time in section.ready(horizon) {
                let later = self.inserts.partition_point(|&(before, _)| before <= time);
                self.inserts.insert(later, (time, number));
            }
        }
        let gets_on = self.sections.iter().any(|section| section.gets_on());
        if self.collections.add(self.core.collections.take()) || gets_on {
            // What the writer waits for comes.
            self.core.progress.step();
        }
        for (carrier, consumer) in self.core.take_new_buffers() {
            let (number, tally) = (SourceNumber(self.next_source), self.document.tallies.of(carrier));
            self.next_source += 1;
            self.sources.push(EventSource { number, consumer, tally, thread: carrier });
        }
        let horizon = self.published_horizon(horizon);
        self.sources.retain_mut(|source| {
            source.consumer.refresh();
            !source.consumer.is_finished()
        });
        if !self.document.is_full() {
            self.merge(horizon);
        }
        self.sections.iter_mut().for_each(|section| section.turn(&mut self.document));
        self.document.text.drain();
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.document.text.flush();
            self.flushed = Instant::now();
            self.look_at_filters();
        }
    }

    /// Says once that the filters let nothing through, while somebody can still begin again.
    fn look_at_filters(&mut self) {
        if self.looked_at_filters || self.began.elapsed() < FILTERS_MATCH_WITHIN || !self.core.records_allocations() {
            return;
        }
        self.looked_at_filters = true;
        if let Some(patterns) = self.core.filters.of_nothing(&self.core.options.filters) {
            let seconds = FILTERS_MATCH_WITHIN.as_secs();
            message(&format!(
                "nothing is recorded yet: in {seconds} s no object of a class that matches {patterns} was seen"
            ));
        }
    }

    /// Writes the first of what sections have ready.
    pub(super) fn insert(&mut self) {
        if let Some((_, section)) = self.inserts.pop_front() {
            self.sections[section].insert(&mut self.document, Unread(&self.sources));
        }
    }
}
