//! Writes what was sampled of allocations, so far or in all, and what of it lives.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::{AllocSample, LiveSample, Record};
use trace::time::Time;

use super::{Age, LiveLook, SampleKey, Sampled, Sampler, SamplesSnapshot};
use agent_base::clock::Ticks;
use agent_base::ids::{AllocationSite, ThreadIndex};
use agent_trace::{Count, DefinedSite, Document, Section};

/// The order of what is written, which does not depend on chance.
fn order(key: &SampleKey) -> impl Ord + use<> {
    let SampleKey { site: AllocationSite { class, location }, stack, thread } = *key;
    (class.0, location.map(|location| (location.method.0, location.line)), stack.0, thread.map(|thread| thread.0))
}

/// Writes what was sampled of allocations.
pub(crate) struct SamplingSection {
    pub(crate) sampler: &'static Sampler,
    /// Samples beside counters are written together with what was counted.
    pub(crate) is_beside_counts: bool,
}

impl Section for SamplingSection {
    /// Writes what was sampled so far, if there is a new snapshot.
    fn turn(&mut self, document: &mut Document) {
        if document.is_full() {
            return;
        }
        let Some(SamplesSnapshot { time: ticks, threads, live }) = self.sampler.take_snapshot() else { return };
        // What comes every second is not to end a limited trace.
        if document.is_half_full() {
            return;
        }
        for (thread, Sampled { instances, bytes, .. }, vm_bytes) in threads {
            document.counted(thread, instances.round() as u64, bytes.round() as u64, ticks, vm_bytes);
        }
        if !self.is_beside_counts {
            let time = document.time(ticks);
            write(document, self.sampler.changed(), time);
        }
        write_live(document, live);
    }

    fn thread_ends(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex) {
        let time = document.time(ticks);
        write(document, self.sampler.take(thread), time);
    }

    /// Writes the last samples, and what lived at the end.
    fn sums(&mut self, document: &mut Document, time: Time) {
        write(document, self.sampler.changed(), time);
        write_live(document, self.sampler.take_last_look());
    }

    fn counts(&mut self, document: &Document) -> Vec<Count> {
        let sampler = self.sampler;
        let (interval, merged, cut) = (sampler.longest_interval().into(), sampler.merged(), sampler.cut());
        let mut counts = Vec::new();
        if self.is_beside_counts {
            counts.extend([("callers.interval", None, interval)]);
            counts.extend([("callers.merged", None, merged), ("callers.cut", None, cut)]);
        }
        if document.core.options.sampled_bytes.is_some() {
            counts.extend([("sampled.interval", None, interval), ("sampled.count", None, sampler.count())]);
            counts.extend([("sampled.merged", None, merged), ("sampled.cut", None, cut)]);
            let (early, unfollowed) = (sampler.early(), sampler.unfollowed());
            counts.extend([("sampled.early", None, early), ("sampled.unfollowed", None, unfollowed)]);
        }
        counts
    }
}

/// Writes samples.
pub(crate) fn write(document: &mut Document, mut samples: Vec<(SampleKey, Sampled)>, time: Time) {
    samples.sort_unstable_by_key(|(key, _)| order(key));
    for (key, sampled) in samples {
        write_one(document, key, sampled, time);
    }
}

fn write_one(document: &mut Document, key: SampleKey, sampled: Sampled, time: Time) {
    let Some(DefinedSite { is_array, class, method, line }) = document.define_site(key.site) else { return };
    let stack = document.stack(key.stack);
    let thread = thread_of(document, key);
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
    document.emit(|out| element.write(out));
}

fn thread_of(document: &mut Document, key: SampleKey) -> Option<ThreadId> {
    let thread = key.thread?;
    document.define_thread(thread);
    Some(document.core.jvm.threads.get(thread)?.id)
}

fn write_live(document: &mut Document, look: Option<LiveLook>) {
    let Some(LiveLook { time, living }) = look else { return };
    let time = document.time(time);
    // A thread that has ended has no id any more.
    let mut sums: FxHashMap<(SampleKey, Age), Sampled> = FxHashMap::default();
    for ((key, age), sampled) in living {
        let thread = key.thread.filter(|&thread| !document.has_ended(thread));
        *sums.entry((SampleKey { thread, ..key }, age)).or_default() += sampled;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|((key, age), _)| (order(key), *age));
    for ((key, age), sampled) in sums {
        write_live_one(document, key, age, sampled, time);
    }
}

fn write_live_one(document: &mut Document, key: SampleKey, age: Age, sampled: Sampled, time: Time) {
    let Some(DefinedSite { is_array, class, method, line }) = document.define_site(key.site) else { return };
    let stack = document.stack(key.stack);
    let thread = thread_of(document, key);
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
    document.emit(|out| element.write(out));
}
