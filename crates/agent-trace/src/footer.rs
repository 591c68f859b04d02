//! The footer of a trace: what was counted, and the last elements.

use std::borrow::Cow;

use trace::model::{AgentDestroy, MartiniCount, Record, RuntimeShutdown, TraceEnd};
use trace::writer::DOCUMENT_END;

use super::section::Count;
use super::writer::Writer;
use agent_core::core::lost::Dropped;
use agent_core::core::source::AllocationSource;
use hotspot::comparisons::Mismatch;

impl Writer {
    /// Writes what was counted, and the last elements.
    pub(super) fn end(mut self) {
        let until = self.core.reported_until();
        for thread in self.document.tallies.unreported() {
            self.document.account(thread, until, None);
        }
        self.sections.iter_mut().for_each(|section| section.last_events(&mut self.document));
        let time = self.document.time(until);
        if self.collections.is_open {
            self.finish_collection(time, None);
        }
        if self.document.is_full() {
            self.document.text.say_full();
        } else {
            self.document.emit(|out| RuntimeShutdown { time, thread: None }.write(out));
        }
        self.sections.iter_mut().for_each(|section| section.sums(&mut self.document, time));
        for (key, detail, value) in self.counts() {
            let element = MartiniCount { key: Cow::Borrowed(key), detail: detail.as_deref().map(Cow::Borrowed), value };
            self.document.emit(|out| element.write(out));
        }
        let agent_id = Cow::Borrowed(self.header.agent_id.as_str());
        self.document.emit(|out| TraceEnd { time }.write(out));
        self.document.emit(|out| AgentDestroy { agent_id, time }.write(out));
        self.document.emit(|out| out.extend_from_slice(DOCUMENT_END));
        self.document.text.finish();
        self.sections.iter_mut().for_each(|section| section.finish());
    }

    /// What was done, and what could not be reported.
    fn counts(&mut self) -> Vec<Count> {
        let mut counts = vec![
            ("classes.rewritten", None, self.core.rewriting.rewritten()),
            ("buffer.waits", None, self.core.pool.waits()),
        ];
        // Before what was lost is read: they may add to it.
        counts.extend(self.sections.iter_mut().flat_map(|section| section.counts(&self.document)));
        counts.extend(
            self.core.rewriting.refused().into_iter().map(|(reason, n)| ("rewriting.refused", Some(reason), n)),
        );
        counts.extend(self.core.lost.all().into_iter().map(|(what, n)| ("events.lost", Some(what), n)));
        self.core.dropped.add(Dropped::Collection, self.core.collections.skipped());
        counts.extend(self.core.dropped.all().map(|(what, n)| ("events.dropped", Some(what.to_owned()), n)));
        counts.extend(self.document.text.reached_limit().map(|limit| ("limit.reached", None, limit)));
        if self.core.records_allocations() {
            counts.extend(self.coverage());
        }
        counts.extend(self.core.before.counts().into_iter().map(|(key, n)| (key, None, n)));
        if let Some(comparisons) = self.core.stack_layout().map(|layout| &layout.comparisons) {
            let detail = comparisons.first_mismatch().map(|mismatch| self.both(mismatch));
            counts.push(("stackCache.compared", None, comparisons.compared()));
            counts.push(("stackCache.mismatches", detail, comparisons.mismatches()));
        }
        if self.full_stacks > 0 {
            let depth = format!("stack={}", self.core.options.stack_depth);
            counts.push(("stacks.full", Some(depth), self.full_stacks));
        }
        if self.core.records_allocations() {
            let unmatched = self.core.filters.unmatched(&self.core.options.filters);
            let unmatched: Vec<String> = unmatched.map(|rule| rule.class.to_string()).collect();
            if !unmatched.is_empty() {
                counts.push(("filters.unmatched", Some(unmatched.join(", ")), unmatched.len() as u64));
            }
        }
        let problem = self.core.jvm.accounting.problem();
        counts.extend(problem.map(|why| ("coverage.unavailable", Some(why.to_owned()), 1)));
        for (key, value) in [
            ("frees.late", self.collections.unattributed()),
            ("gc.unprocessed", self.collections.gave_up_waiting),
            ("agent.panics", jvmti::caught_panics()),
        ] {
            if value > 0 {
                counts.push((key, None, value));
            }
        }
        counts
    }

    /// Two stacks that differ.
    fn both(&self, mismatch: Mismatch) -> String {
        let frames = |stack| self.core.jvm.frames(stack).join(" < ");
        format!("known as {}; the JVM says {}", frames(mismatch.cached), frames(mismatch.found))
    }

    /// The sums of all accounts: they are written at the end of the trace, where a reader finds them without reading all of it.
    fn coverage(&self) -> Vec<Count> {
        let sums = self.document.tallies.sums();
        let mode = match self.core.source {
            AllocationSource::Off => "sampled",
            _ => self.core.options.heap.as_str(),
        };
        let mut coverage = vec![
            ("coverage.reported", Some(mode.to_owned()), sums.reported),
            ("coverage.accounted", None, sums.accounted),
            ("coverage.missing", None, sums.missing),
            ("coverage.excess", None, sums.excess),
            ("coverage.unknown", None, sums.unknown),
            ("coverage.unknownBytes", None, sums.unknown_bytes),
        ];
        if let Some((millionths, thread)) = sums.worst {
            let name = self.core.jvm.threads.get(thread).and_then(|t| t.names.get()).map(|names| names.name.clone());
            coverage.push(("coverage.worst", Some(name.unwrap_or_default()), millionths));
        }
        if !self.core.options.filters.rules().is_empty() {
            coverage.push(("coverage.filtered", None, 1));
        }
        coverage
    }
}
