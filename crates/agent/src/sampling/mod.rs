//! The VM's sampler (`SampledObjectAlloc`, JEP 331): `sampled=SIZE`, objects with their stacks and how long they live; and
//! `callers=SIZE`, on which stacks each site of the counters allocates, and how many of the bytes that it executed were really
//! allocated. Both share one interval (`interval`), one walk of the stack and one limit of what samples cost (`crate::pace`).
//!
//! The event comes once in an interval of bytes on average, at distances that are geometrically distributed, so an object of `size`
//! bytes is sampled with a probability of `1 - e^(-size / interval)`. Each stands for its size divided by that (Horvitz and Thompson),
//! whose sum is the number of bytes allocated, on average (`samples`).

mod counted_ahead;
mod interval;
mod live;
mod samples;
mod section;
mod snapshot;
mod thread;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, jthread, jvmtiEnv, jvmtiEventCallbacks};

use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::events::event::Event;
use agent_base::ids::{AllocationSite, ClassIndex, GcNumber, StackIndex, ThreadIndex};
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::asking::Wanted;
use agent_core::core::context::{LocalThread, Reporter, ThreadContext, callback};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use agent_core::core::schedule::Schedule;
use agent_core::instrument::allocating_method::{AllocatingMethod, allocating_method};
use agent_core::stacks::walker::{FramesToSkip, StackWalker};
use agent_trace::Section;
use counted_ahead::CountedAhead;
use live::Following;
use samples::Samples;
use section::SamplingSection;
use thread::SamplerThread;

pub(crate) use interval::{Asker, SamplingInterval};
pub(crate) use live::{Age, LiveLook};
pub(crate) use samples::{SampleKey, Sampled};
pub(crate) use section::write;
pub(crate) use snapshot::SamplesSnapshot;
pub(crate) use thread::note_interval;

/// Frames of a stack that are kept, the innermost ones: enough to come to the program's own code from within a compiler, a build tool or
/// a framework.
const DEPTH: usize = 512;
/// When stacks take so many bytes, no more are looked up.
const MOST_STACK_BYTES: usize = 32 << 20;

/// The feature.
pub(crate) struct Sampler {
    core: &'static Core,
    interval: SamplingInterval,
    samples: Mutex<Samples>,
    /// Samples of stacks of `DEPTH` frames or more.
    cut: AtomicU64,
    /// What is known of sampled objects that live, with `sampled`.
    following: Option<Following>,
    schedule: Mutex<Option<Schedule>>,
    /// For the writer.
    snapshot: Mutex<Option<SamplesSnapshot>>,
    /// What lived at the end.
    last_look: Mutex<Option<LiveLook>>,
    /// Beside counters, the class that stands for the arrays of a backtrace.
    backtraces: OnceLock<ClassIndex>,
    ahead: CountedAhead,
}

static CURRENT: Current<Sampler> = Current::none();

impl Sampler {
    /// What it writes into the trace; beside counters, samples are written together with what was counted.
    pub(crate) fn section(&'static self, is_beside_counts: bool) -> Box<dyn Section> {
        Box::new(SamplingSection { sampler: self, is_beside_counts })
    }

    /// For a recording in which somebody asked for samples.
    pub(crate) fn new(core: &'static Core, interval: SamplingInterval) -> Sampler {
        Sampler {
            core,
            interval,
            samples: Mutex::default(),
            cut: AtomicU64::new(0),
            following: core.options.sampled_bytes.is_some().then(Following::new),
            schedule: Mutex::new(Schedule::begin(core.options.every, Instant::now())),
            snapshot: Mutex::default(),
            last_look: Mutex::default(),
            backtraces: OnceLock::new(),
            ahead: CountedAhead::default(),
        }
    }

    /// Whether its estimates stand for all that threads allocate, since nothing counts beside it.
    fn accounts(&self) -> bool {
        !self.core.source.counts()
    }

    /// From now on that one wants a sample every so many bytes.
    pub(crate) fn ask(&self, asker: Asker, bytes: u32) {
        self.interval.ask(asker, Some(bytes), |bytes| set_interval(self.core, bytes));
    }

    /// Bytes between two samples, on average: at most so many until now.
    pub(crate) fn longest_interval(&self) -> u32 {
        self.interval.pace.longest()
    }

    /// Number of samples.
    pub(crate) fn count(&self) -> u64 {
        self.samples.lock().count()
    }

    /// Samples that stand without their thread or stack, since there were too many to keep them apart.
    pub(crate) fn merged(&self) -> u64 {
        self.samples.lock().merged()
    }

    /// Samples that came early, since the VM counts what nobody allocates.
    pub(crate) fn early(&self) -> u64 {
        self.ahead.early()
    }

    /// Samples whose stacks may have more frames than are kept.
    pub(crate) fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// Samples of which it is not known how long they live, since there were too many.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.following.as_ref().map_or(0, Following::unfollowed)
    }

    /// What has changed since it was asked for last.
    pub(crate) fn changed(&self) -> Vec<(SampleKey, Sampled)> {
        self.samples.lock().changed()
    }

    /// What has changed of a thread that ends, and is forgotten here.
    pub(crate) fn take(&self, thread: ThreadIndex) -> Vec<(SampleKey, Sampled)> {
        self.samples.lock().take(thread)
    }

    /// Adds an object that the current thread has made, and that was chosen with that interval.
    ///
    /// # Safety
    /// Both are live references.
    unsafe fn add(
        &self,
        jni: Jni,
        carrier: ThreadIndex,
        state: &mut SamplerThread,
        interval: u32,
        (object, class, size): (jobject, jclass, u64),
    ) -> jvmti::Result<()> {
        let core = self.core;
        let earlier = &mut state.earlier;
        // SAFETY: by the caller's promise.
        let chosen = unsafe { self.ahead.probability(core, jni, earlier, object, size, f64::from(interval)) };
        // SAFETY: by the caller's promise.
        let class = unsafe { core.jvm.classes.resolve(jni, class) }?;
        if !core.includes(class) {
            return Ok(());
        }
        let own = state.own();
        let method = allocating_method(core, jni, &mut own.allocating_methods)?;
        let is_short = core.jvm.stacks.bytes() >= MOST_STACK_BYTES;
        let stack = match is_short {
            true => StackIndex::default(),
            false => self.walk(jni, &mut own.walker)?,
        };
        let site = match (self.backtraces.get(), method) {
            // Counters count all arrays of a backtrace as one object, in the method that asks for it.
            (Some(&class), Some(AllocatingMethod { is_backtrace: true, .. })) => {
                let location = core.jvm.stacks.get(stack).and_then(|stack| stack.frames.first().copied());
                AllocationSite { class, location }
            }
            _ => AllocationSite { class, location: method.map(|method| method.location) },
        };
        let key = SampleKey { site, stack, thread: Some(carrier) };
        self.samples.lock().add(key, is_short, size, chosen);
        if let Some(following) = &self.following {
            // SAFETY: by the caller's promise.
            unsafe { following.follow(core, jni, &mut own.random, object, (key, size, chosen)) };
        }
        Ok(())
    }

    fn walk(&self, jni: Jni, walker: &mut StackWalker) -> jvmti::Result<StackIndex> {
        let stack = walker.walk(FramesToSkip::Method, &self.core.tables(jni))?;
        if self.core.jvm.stacks.get(stack).is_some_and(|stack| stack.frames.len() >= DEPTH) {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        Ok(stack)
    }

    /// Pays for a sample that was chosen with that interval, and began when the thread had had so much CPU time.
    fn spend(&self, chosen_with: u32, begin: u64) {
        let nanos = thread_cpu_nanos().saturating_sub(begin);
        self.interval.pace.spend(chosen_with, nanos, Instant::now, |bytes| set_interval(self.core, bytes));
    }

    fn push_sampled(&self, thread: &mut ThreadContext, of: ThreadIndex, now: Ticks) {
        let Sampled { instances, bytes, .. } = self.samples.lock().of_thread(of);
        let (instances, bytes) = (instances.round() as u64, bytes.round() as u64);
        thread.push(Event::Counted { thread: of, instances, bytes }, now);
    }
}

impl Reporter for Sampler {
    type State = SamplerThread;

    fn current() -> Option<&'static Sampler> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

impl Feature for Sampler {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn callbacks(&self, _: &mut jvmtiEventCallbacks, objects: &mut jvmtiEventCallbacks) {
        objects.SampledObjectAlloc = Some(sampled_object_alloc);
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        if !self.accounts() {
            let _ = self.backtraces.set(self.core.jvm.classes.find(jni, c"[Ljava/lang/Object;")?);
        }
        self.ahead.begin(self.core, jni);
        // For all threads: the VM sends what is enabled for all or for the thread, so it cannot be switched off for one. The agent's own
        // threads always are inside the agent, where the event does nothing.
        let objects = self.core.tags.envs()[0];
        objects.enable_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC).map_err(|e| e.to_string())
    }

    unsafe fn thread_start(&'static self, jni: Jni, local: &mut LocalThread, _: jobject) {
        let (_, state): (_, &mut SamplerThread) = local.with();
        let earlier = self.ahead.begins(self.core, jni);
        state.starts(self.interval.pace.interval(), earlier);
    }

    fn thread_end(&'static self, _: Jni, local: &mut LocalThread, now: Ticks) {
        if self.accounts() {
            let carrier = local.thread.carrier;
            self.push_sampled(&mut local.thread, carrier, now);
        }
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick(&'static self, jni: Jni) {
        self.interval.pace.tick(Instant::now(), |bytes| set_interval(self.core, bytes));
        if let Some(following) = &self.following {
            following.tick(self.core, jni);
        }
        self.make_snapshot_if_due(jni);
    }

    fn snapshot(&'static self, jni: Jni, _: Wanted) -> bool {
        if self.following.is_some() {
            self.make_snapshot(jni);
        }
        self.following.is_some()
    }

    fn collected(&'static self, jni: Jni, _: GcNumber, _: GcNumber) {
        if let Some(following) = &self.following {
            following.collected(self.core, jni);
        }
    }

    fn stop(&'static self, jni: Jni, _: End) {
        *self.last_look.lock() = self.following.as_ref().map(|following| following.look(self.core, jni));
    }

    fn account(&'static self, thread: &mut ThreadContext, of: ThreadIndex, _: Option<u64>, now: Ticks) {
        if self.accounts() {
            self.push_sampled(thread, of, now);
        }
    }

    fn stopped(&'static self, jni: Jni, end: End) {
        if end.is_survived() {
            self.core.tags.envs()[0].disable_events(&[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC]);
            if let Some(following) = &self.following {
                following.clear(self.core, jni);
            }
        }
    }

    fn release(&'static self, jni: Jni) {
        *self.samples.lock() = Samples::default();
        *self.snapshot.lock() = None;
        if let Some(following) = &self.following {
            // Those that came since.
            following.clear(self.core, jni);
        }
    }
}

/// JVMTI `SampledObjectAlloc`: an object is made, and its turn to be sampled has come.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn sampled_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    // SAFETY: the VM passes this thread's environment, a live object and its class.
    unsafe {
        callback(jni, |sampler: &Sampler, jni, thread, state| {
            let begin = thread_cpu_nanos();
            let size = size as u64;
            // The next one has been chosen with the interval of now.
            let interval = state.next_interval(sampler.interval.pace.interval());
            if let Err(error) = sampler.add(jni, thread.carrier, state, interval, (object, class, size)) {
                sampler.core.count_failure("sample", error);
            }
            sampler.spend(interval, begin);
        });
    }
}

fn set_interval(core: &Core, bytes: u32) {
    if let Err(error) = core.tags.set_sampling_interval(bytes) {
        core.count_failure("sampling interval", error);
    }
}
