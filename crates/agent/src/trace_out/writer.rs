//! The writer: one native thread that merges all buffers by time (`merge`) and turns records into elements (`events`).
//!
//! It never touches JNI, so it continues while the VM stands still in a collection.

use std::time::{Duration, Instant};

use trace::time::Time;
use trace::writer::DOCUMENT_START;

use super::header::{self, Header};
use super::lock_log::LockLog;
use super::output::Output;
use super::state::{Definitions, EventSource, LockEvents, PendingCollections, PendingDetails, Sampled, SiteCounts};
use super::tallies::Tallies;
use super::text::Text;
use crate::counts::Counts;
use crate::cpu::Cpu;
use crate::heap_histogram::HeapHistogram;
use crate::heapdump::HeapDumps;
use crate::locks::{Locks, NameAsker};
use crate::sampling::Sampler;
use crate::ttsp::Safepoints;
use agent_base::clock::Ticks;
use agent_core::core::Core;
pub(crate) use agent_core::core::source::AllocationSource;

/// How often a compressed trace is flushed, so that a reader sees what was written.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// The writer sleeps so long between two turns.
const SHORTEST_REST: Duration = Duration::from_millis(10);
/// If only locks are recorded it sleeps longer if there are few events, up to this: each turn and each small write cost time.
/// If allocations are recorded it does not, so that a kill of the process loses as little as possible.
const LONGEST_REST: Duration = Duration::from_millis(100);
/// An event younger than this is not written yet: an earlier event of another thread may not be visible yet.
pub(super) const GRACE_NANOS: u64 = 1_000_000;

/// The features that add more to the trace than their events.
#[derive(Clone, Copy, Default)]
pub(crate) struct Features {
    pub(crate) counts: Option<&'static Counts>,
    pub(crate) sampler: Option<&'static Sampler>,
    pub(crate) locks: Option<&'static Locks>,
    pub(crate) dumps: Option<&'static HeapDumps>,
    pub(crate) histogram: Option<&'static HeapHistogram>,
    pub(crate) safepoints: Option<&'static Safepoints>,
    pub(crate) cpu: Option<&'static Cpu>,
}

/// The writer of a recording.
pub(crate) struct Writer {
    pub(super) core: &'static Core,
    pub(super) features: Features,
    pub(super) text: Text,
    pub(super) header: Header,
    pub(super) sources: Vec<EventSource>,
    pub(super) defined: Definitions,
    pub(super) tallies: Tallies,
    /// No element is written with an earlier time.
    last: Time,
    pub(super) collections: PendingCollections,
    /// When it was last checked which threads publish, less the grace.
    pub(super) last_publish_check: Ticks,
    /// Since when the merge waits for something that is not an event.
    pub(super) waiting_since: Option<Instant>,
    pub(super) site_counts: SiteCounts,
    /// Objects whose stack has as many frames as are kept: what called the outermost may be missing.
    pub(super) full_stacks: u64,
    pub(super) sampled: Sampled,
    flushed: Instant,
    pub(super) locks: LockEvents,
    pub(super) name_asker: NameAsker,
    pub(super) log: Option<LockLog>,
}

impl Writer {
    /// Writes the header of the trace, and of the lock log.
    pub(crate) fn begin(
        core: &'static Core,
        features: Features,
        output: Output,
        log: Option<Output>,
        name_asker: NameAsker,
    ) -> Writer {
        let mut text = Text::new(output, core.options.limit_bytes);
        text.emit(|out| out.extend_from_slice(DOCUMENT_START));
        let start = core.clock.time(core.start);
        let header = header::write(&core.options, start, |write| text.emit(write));
        text.drain();
        Writer {
            core,
            features,
            text,
            header,
            sources: Vec::new(),
            defined: Definitions::default(),
            tallies: Tallies::default(),
            last: start,
            collections: PendingCollections::default(),
            last_publish_check: Ticks::now(),
            waiting_since: None,
            site_counts: SiteCounts::default(),
            full_stacks: 0,
            sampled: Sampled::default(),
            flushed: Instant::now(),
            locks: LockEvents::default(),
            name_asker,
            log: log.and_then(|output| LockLog::begin(output, core, start)),
        }
    }

    /// Writes until reporting ends, and then the rest.
    pub(crate) fn run(mut self) {
        let longest = if self.core.source == AllocationSource::Off { LONGEST_REST } else { SHORTEST_REST };
        let mut rest = SHORTEST_REST;
        while !self.core.pool.is_closed() {
            std::thread::park_timeout(rest);
            let before = self.text.total();
            self.turn(Ticks(Ticks::now().0.saturating_sub(GRACE_NANOS)));
            if self.text.has_failed() || self.text.is_full() {
                self.core.stop_reporting();
            }
            rest = match self.text.total() - before < Text::PIECE as u64 {
                true => (rest * 2).min(longest),
                false => (rest / 2).max(SHORTEST_REST),
            };
        }
        self.turn(Ticks(u64::MAX));
        self.end();
    }

    /// Writes all events up to the horizon, or to the first that has to wait.
    fn turn(&mut self, horizon: Ticks) {
        // Frees before events: an object that is dead by now was allocated by an event that is visible by now.
        let (horizon, dumps) = match self.features.dumps {
            Some(dumps) => (dumps.horizon(horizon), dumps.take_ready()),
            None => (horizon, Vec::new()),
        };
        let dump_gets_on = self.features.dumps.is_some_and(HeapDumps::gets_on);
        if self.collections.add(self.core.collections.take(), dumps) || dump_gets_on {
            // What the writer waits for comes.
            self.core.progress.step();
        }
        for (carrier, consumer) in self.core.take_new_buffers() {
            let tally = self.tallies.of(carrier);
            self.sources.push(EventSource { consumer, tally, thread: carrier, pending: PendingDetails::default() });
        }
        let horizon = self.published_horizon(horizon);
        self.sources.retain_mut(|source| {
            source.consumer.refresh();
            !source.consumer.is_finished()
        });
        if !self.text.is_full() {
            self.snapshots(horizon);
            self.merge(horizon);
            self.safepoints();
            self.samples_so_far();
        }
        self.thread_samples();
        self.text.drain();
        if let Some(log) = &mut self.log {
            log.drain();
        }
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.text.flush();
            self.flushed = Instant::now();
        }
    }

    /// The time of the next element.
    pub(super) fn time(&mut self, ticks: Ticks) -> Time {
        self.last = self.last.max(self.core.clock.time(ticks));
        self.last
    }
}
