//! Writes what was sampled of allocations, so far or in all, and what of it lives.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::{AllocSample, LiveSample, Record};
use trace::time::Time;

use super::site_counts::DefinedSite;
use super::writer::Writer;
use crate::sampling::{Age, LiveLook, SampleKey, Sampled, SamplesSnapshot};
use agent_base::ids::{AllocationSite, ThreadIndex};

/// The order of what is written, which does not depend on chance.
fn order(key: &SampleKey) -> impl Ord + use<> {
    let SampleKey { site: AllocationSite { class, location }, stack, thread } = *key;
    (class.0, location.map(|location| (location.method.0, location.line)), stack.0, thread.map(|thread| thread.0))
}

impl Writer {
    /// Writes what was sampled so far, if there is a new snapshot.
    pub(super) fn samples_so_far(&mut self) {
        let Some(sampler) = self.features.sampler else { return };
        let Some(SamplesSnapshot { time: ticks, threads, live }) = sampler.take_snapshot() else { return };
        // What comes every second is not to end a limited trace.
        if self.text.is_half_full() {
            return;
        }
        for (thread, Sampled { instances, bytes, .. }, vm_bytes) in threads {
            self.tallies.set(thread, instances.round() as u64, bytes.round() as u64);
            self.account(thread, ticks, vm_bytes);
        }
        // Those beside counters are written together with what was counted.
        if self.features.counts.is_none() {
            let time = self.time(ticks);
            self.samples(sampler.changed(), time);
        }
        self.live_samples(live);
    }

    /// Writes the last samples, and what lived at the end.
    pub(super) fn last_samples(&mut self, time: Time) {
        let Some(sampler) = self.features.sampler else { return };
        self.samples(sampler.changed(), time);
        self.live_samples(sampler.take_last_look());
    }

    /// Writes what was sampled on a thread, before its end.
    pub(super) fn samples_of(&mut self, thread: ThreadIndex, time: Time) {
        if let Some(sampler) = self.features.sampler {
            self.samples(sampler.take(thread), time);
        }
    }

    /// Writes samples.
    pub(super) fn samples(&mut self, mut samples: Vec<(SampleKey, Sampled)>, time: Time) {
        samples.sort_unstable_by_key(|(key, _)| order(key));
        for (key, sampled) in samples {
            self.sample(key, sampled, time);
        }
    }

    fn sample(&mut self, key: SampleKey, sampled: Sampled, time: Time) {
        let Some(DefinedSite { is_array, class, method, line }) = self.define_site(key.site) else { return };
        let stack = self.stack(key.stack);
        let thread = self.thread_of(key);
        let element = AllocSample {
            is_array,
            class,
            method,
            line,
            stack,
            thread,
            samples: sampled.samples,
            instances: sampled.instances.round() as u64,
            bytes: sampled.bytes.round() as u64,
            error: sampled.error().round() as u64,
            time,
        };
        self.text.emit(|out| element.write(out));
    }

    fn thread_of(&mut self, key: SampleKey) -> Option<ThreadId> {
        let thread = key.thread?;
        self.define_thread(thread);
        Some(self.core.jvm.threads.get(thread)?.id)
    }

    fn live_samples(&mut self, look: Option<LiveLook>) {
        let Some(LiveLook { time, living }) = look else { return };
        let time = self.time(time);
        // A thread that has ended has no id any more.
        let mut sums: FxHashMap<(SampleKey, Age), Sampled> = FxHashMap::default();
        for ((key, age), sampled) in living {
            let thread = key.thread.filter(|thread| !self.defined.ended.contains(thread.0));
            *sums.entry((SampleKey { thread, ..key }, age)).or_default() += sampled;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|((key, age), _)| (order(key), *age));
        for ((key, age), sampled) in sums {
            self.live_sample(key, age, sampled, time);
        }
    }

    fn live_sample(&mut self, key: SampleKey, age: Age, sampled: Sampled, time: Time) {
        let Some(DefinedSite { is_array, class, method, line }) = self.define_site(key.site) else { return };
        let stack = self.stack(key.stack);
        let thread = self.thread_of(key);
        let element = LiveSample {
            is_array,
            class,
            method,
            line,
            stack,
            thread,
            age: age.0,
            samples: sampled.samples,
            instances: sampled.instances.round() as u64,
            bytes: sampled.bytes.round() as u64,
            error: sampled.error().round() as u64,
            time,
        };
        self.text.emit(|out| element.write(out));
    }
}
