//! The footer of a trace: what was counted, and the last elements.

use std::borrow::Cow;

use trace::model::{AgentDestroy, MartiniCount, Record, RuntimeShutdown, TraceEnd};
use trace::writer::DOCUMENT_END;

use super::writer::Writer;
pub(crate) use agent_core::core::lost::Dropped;
pub(crate) use agent_core::core::source::AllocationSource;
use hotspot::comparisons::Mismatch;

impl Writer {
    /// Writes what was counted, and the last elements.
    pub(super) fn end(mut self) {
        let until = self.core.reported_until();
        for thread in self.tallies.unreported() {
            self.account(thread, until, None);
        }
        self.still_blocked();
        self.lock_names();
        let time = self.time(until);
        if self.collections.is_open {
            self.finish_collection(time, None);
        }
        if self.text.is_full() {
            self.text.say_full();
        } else {
            self.text.emit(|out| RuntimeShutdown { time, thread: None }.write(out));
        }
        if let Some(counts) = self.features.counts {
            let nameless = self.last_site_counts(counts, time);
            self.core.count_lost("site not found", nameless);
        }
        self.last_samples(time);
        if let Some((ticks, found)) = self.features.histogram.and_then(|histogram| histogram.take_found()) {
            self.live_counts(found, ticks);
        }
        for (key, detail, value) in self.counts() {
            let element = MartiniCount { key: Cow::Borrowed(key), detail: detail.as_deref().map(Cow::Borrowed), value };
            self.text.emit(|out| element.write(out));
        }
        let agent_id = Cow::Borrowed(self.header.agent_id.as_str());
        self.text.emit(|out| TraceEnd { time }.write(out));
        self.text.emit(|out| AgentDestroy { agent_id, time }.write(out));
        self.text.emit(|out| out.extend_from_slice(DOCUMENT_END));
        self.text.finish();
        if let Some(log) = self.log {
            log.finish();
        }
    }

    /// What was done, and what could not be reported: key, detail and number.
    fn counts(&self) -> Vec<(&'static str, Option<String>, u64)> {
        let mut counts = vec![
            ("classes.rewritten", None, self.core.rewriting.rewritten()),
            ("buffer.waits", None, self.core.pool.waits()),
        ];
        if let Some(sites) = self.features.counts {
            counts.extend([("counters", None, sites.counters()), ("counters.bytes", None, sites.memory())]);
        }
        if let Some(sampler) = self.features.sampler {
            let (interval, merged, cut) = (sampler.longest_interval().into(), sampler.merged(), sampler.cut());
            if self.features.counts.is_some() {
                counts.extend([("callers.interval", None, interval)]);
                counts.extend([("callers.merged", None, merged), ("callers.cut", None, cut)]);
            }
            if self.core.options.sampled_bytes.is_some() {
                counts.extend([("sampled.interval", None, interval), ("sampled.count", None, sampler.count())]);
                counts.extend([("sampled.merged", None, merged), ("sampled.cut", None, cut)]);
                let (early, unfollowed) = (sampler.early(), sampler.unfollowed());
                counts.extend([("sampled.early", None, early), ("sampled.unfollowed", None, unfollowed)]);
            }
        }
        counts.extend(
            self.core.rewriting.refused().into_iter().map(|(reason, n)| ("rewriting.refused", Some(reason), n)),
        );
        let unlogged = self.log.as_ref().map_or(0, |log| log.dropped);
        self.core.count_lost("locks that the lock log did not take", unlogged);
        counts.extend(self.core.lost.all().into_iter().map(|(what, n)| ("events.lost", Some(what), n)));
        self.core.dropped.add(Dropped::Collection, self.core.collections.skipped());
        counts.extend(self.core.dropped.all().map(|(what, n)| ("events.dropped", Some(what.to_owned()), n)));
        counts.extend(self.text.reached_limit().map(|limit| ("limit.reached", None, limit)));
        if self.core.records_allocations() {
            counts.extend(self.coverage());
        }
        counts.extend(self.core.before.counts().into_iter().map(|(key, n)| (key, None, n)));
        if let Some(comparisons) = self.core.stack_layout().map(|layout| &layout.comparisons) {
            let detail = comparisons.first_mismatch().map(|mismatch| self.both(mismatch));
            counts.push(("stackCache.compared", None, comparisons.compared()));
            counts.push(("stackCache.mismatches", detail, comparisons.mismatches()));
        }
        if let Some(locks) = self.features.locks {
            counts.extend(locks.counts().into_iter().chain(self.locks.counts()).map(|(key, n)| (key, None, n)));
        }
        counts.extend(self.sample_counts());
        if self.full_stacks > 0 {
            let depth = format!("stack={}", self.core.options.stack_depth);
            counts.push(("stacks.full", Some(depth), self.full_stacks));
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
    fn coverage(&self) -> Vec<(&'static str, Option<String>, u64)> {
        let sums = self.tallies.sums();
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
