//! The end of a trace: what was counted, and the tail.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use trace::model::{AgentDestroy, MartiniCount, Record, RuntimeShutdown, TraceEnd};
use trace::writer::DOCUMENT_END;

use super::super::clock::Ticks;
use super::super::engine::Engine;
use super::Writer;

impl Writer {
    /// Writes what was counted, and the tail.
    pub(super) fn end(mut self) {
        for thread in self.tallies.untold() {
            self.account(thread, Ticks::now(), None);
        }
        self.still_blocked();
        let time = self.time(Ticks::now());
        if self.in_collection {
            self.finish_collection(time);
        }
        if self.text.is_full() {
            self.text.say_full();
        } else {
            self.text.emit(|out| RuntimeShutdown { time, thread: None }.write(out));
        }
        if let Some(counts) = &self.agent.counts {
            let nameless = self.all_site_counts(counts, time);
            self.agent.count_lost("site not found", nameless);
        }
        if let Some((ticks, found)) = self.agent.live.get() {
            self.live_counts(found.iter().copied(), *ticks);
        }
        for (key, detail, value) in self.counts() {
            let element = MartiniCount { key: Cow::Borrowed(key), detail: detail.as_deref().map(Cow::Borrowed), value };
            self.text.emit(|out| element.write(out));
        }
        let agent_id = Cow::Borrowed(self.head.agent_id.as_str());
        self.text.emit(|out| TraceEnd { time }.write(out));
        self.text.emit(|out| AgentDestroy { agent_id, time }.write(out));
        self.text.emit(|out| out.extend_from_slice(DOCUMENT_END));
        self.text.finish();
        if let Some(log) = self.log {
            log.finish();
        }
    }

    /// What was done, and what was not seen: key, detail and number.
    fn counts(&self) -> Vec<(&'static str, Option<String>, u64)> {
        let transform = &self.agent.transform;
        let mut counts = vec![
            ("classes.rewritten", None, transform.rewritten.load(Ordering::Relaxed)),
            ("events.waits", None, self.agent.pool.waits()),
        ];
        if let Some(sites) = &self.agent.counts {
            counts.extend([("counters", None, sites.slots.len().into()), ("counters.bytes", None, sites.memory())]);
        }
        if let Some(bytes) = self.agent.options.estimate_bytes {
            counts.push(("estimate.interval", None, bytes.into()));
            counts.push(("estimate.elsewhere", None, self.site_counts.estimated_elsewhere));
        }
        let refused = transform.refused.lock().map(|r| r.clone()).unwrap_or_default();
        counts.extend(refused.into_iter().map(|(reason, n)| ("rewriting.refused", Some(reason), n)));
        let failures = self.agent.failures.lock().map(|f| f.clone()).unwrap_or_default();
        counts.extend(failures.into_iter().map(|(what, n)| ("events.lost", Some(what), n)));
        counts.extend(self.text.reached_limit().map(|limit| ("limit.reached", None, limit)));
        if self.agent.engine != Engine::Off {
            counts.extend(self.accounts());
        }
        if let Some(told) = self.agent.return_addresses.get() {
            counts.push(("stacks.mistaken", None, told.as_ref().map_or(0, |layout| layout.mistaken())));
        }
        if let Some(waits) = &self.agent.waits {
            counts.extend(waits.counts().into_iter().chain(self.monitors.counts()).map(|(key, n)| (key, None, n)));
        }
        let problem = self.agent.accounting.problem();
        counts.extend(problem.map(|why| ("accounting.unavailable", Some(why.to_owned()), 1)));
        let unattributed: usize = self.freed.iter().map(|(_, objects)| objects.len()).sum();
        for (key, value) in [
            ("frees.late", unattributed as u64),
            ("gc.unsettled", self.gave_up_waiting),
            ("agent.panics", jvmti::caught_panics()),
        ] {
            if value > 0 {
                counts.push((key, None, value));
            }
        }
        counts
    }

    /// The sums of all accounts: they stand at the end of the trace, where they are found without reading all of it.
    fn accounts(&self) -> Vec<(&'static str, Option<String>, u64)> {
        let sums = self.tallies.sums();
        let mode = self.agent.options.heap.as_str().to_owned();
        let mut accounts = vec![
            ("accounts.reported", Some(mode), sums.reported),
            ("accounts.accounted", None, sums.accounted),
            ("accounts.missing", None, sums.missing),
            ("accounts.excess", None, sums.excess),
            ("accounts.unknown", None, sums.unknown),
            ("accounts.unknownBytes", None, sums.unknown_bytes),
        ];
        if let Some((millionths, thread)) = sums.worst {
            let name = self.agent.threads.get(thread).and_then(|t| t.names.get()).map(|names| names.name.clone());
            accounts.push(("accounts.worst", Some(name.unwrap_or_default()), millionths));
        }
        if !self.agent.options.filters.rules().is_empty() {
            accounts.push(("accounts.filtered", None, 1));
        }
        accounts
    }
}
