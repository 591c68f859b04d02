//! The VM's sampler beside the counters: on which stacks each site allocates, and how many of the bytes that it executed were
//! really allocated.
//!
//! `SampledObjectAlloc` comes once in an interval of bytes on average, at distances that are geometrically distributed, so an object
//! of `size` bytes is sampled with a probability of `1 - e^(-size / interval)`. Each stands for its size divided by that (Horvitz and
//! Thompson), whose sum is the number of bytes allocated, on average.

mod pace;
mod random;
mod samples;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use jvmti::Jni;
use jvmti::jni_sys::jclass;

use super::allocating_methods::{AllocatingMethods, allocating_method};
use super::counters::AllocationSite;
use super::lock;
use crate::agent::clock::thread_cpu_nanos;
use crate::agent::core::Core;
use crate::agent::ids::{ClassIndex, StackIndex, ThreadIndex};
use crate::agent::stacks::walker::{FramesToSkip, StackWalker};
use pace::Pace;
use random::Random;
use samples::Samples;

pub(crate) use samples::{SampleKey, Sampled};

/// Frames of a stack that are kept, the innermost ones: enough to come to the program's own code from within a compiler, a build tool or
/// a framework.
const DEPTH: usize = 512;
/// The first feature release whose sampler counts each byte once.
const FIRST_EXACT: u32 = 17;
/// When stacks take so many bytes, no more are looked up.
const MOST_STACK_BYTES: usize = 64 << 20;

/// What the sampler found.
pub(crate) struct Callers {
    pace: Pace,
    samples: Mutex<Samples>,
    /// Samples of stacks of `DEPTH` frames or more.
    cut: AtomicU64,
}

/// What the sampler keeps for a thread.
pub(crate) struct CallersThread {
    walker: StackWalker,
    /// With which interval the VM chose the thread's next sample.
    interval_bytes: u32,
    /// Chooses among what the VM's sampler does not see.
    random: Random,
}

impl Callers {
    /// Nothing found yet, with a sample every so many bytes on average.
    pub(super) fn new(interval_bytes: u32) -> Callers {
        Callers { pace: Pace::new(interval_bytes, Instant::now()), samples: Mutex::default(), cut: AtomicU64::new(0) }
    }

    /// The state of a thread that has not been sampled.
    fn thread(&self) -> CallersThread {
        CallersThread { walker: StackWalker::new(DEPTH), interval_bytes: self.pace.interval(), random: Random::new() }
    }

    /// Bytes between two samples, on average: at most so many until now.
    pub(crate) fn interval(&self) -> u32 {
        self.pace.longest()
    }

    /// Samples that stand without their thread or stack, since there were too many to keep them apart.
    pub(crate) fn merged(&self) -> u64 {
        lock(&self.samples).merged()
    }

    /// Samples whose stacks may have more frames than are kept.
    pub(crate) fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// What has changed since it was asked for last.
    pub(crate) fn changed(&self) -> Vec<(SampleKey, Sampled)> {
        lock(&self.samples).changed()
    }

    /// What has changed of a thread that ends, and is forgotten here.
    pub(crate) fn take(&self, thread: ThreadIndex) -> Vec<(SampleKey, Sampled)> {
        lock(&self.samples).take(thread)
    }

    /// Called every second, and after each collection: what samples cost is judged once a second.
    pub(super) fn tick(&self, core: &Core) {
        self.pace.tick(Instant::now(), |bytes| set_interval(core, bytes));
    }

    /// Adds an object that the current thread is making.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn add(
        &self,
        core: &Core,
        thread: (Jni, ThreadIndex),
        state: (&mut Option<Box<CallersThread>>, &mut AllocatingMethods),
        object: (jclass, u64),
    ) -> jvmti::Result<()> {
        let begin = thread_cpu_nanos();
        // SAFETY: by the caller's promise.
        let added = unsafe { self.add_unpaid(core, thread, state, object) };
        self.spend(core, begin);
        added
    }

    /// # Safety
    /// As for `add`.
    unsafe fn add_unpaid(
        &self,
        core: &Core,
        (jni, carrier): (Jni, ThreadIndex),
        (own, methods): (&mut Option<Box<CallersThread>>, &mut AllocatingMethods),
        (class, size): (jclass, u64),
    ) -> jvmti::Result<()> {
        let own = own.get_or_insert_with(|| Box::new(self.thread()));
        // The next one has been chosen with the interval of now.
        let now = self.pace.interval();
        let interval = std::mem::replace(&mut own.interval_bytes, now - too_near(core.jvm.java, size, now));
        // SAFETY: by the caller's promise.
        let class = unsafe { core.jvm.classes.resolve(jni, class) }?;
        if !core.includes(class) {
            return Ok(());
        }
        let location = allocating_method(core, jni, methods)?.map(|method| method.location);
        let is_short = core.jvm.stacks.bytes() >= MOST_STACK_BYTES;
        let stack = if is_short { StackIndex::default() } else { self.walk(core, jni, own, FramesToSkip::Method)? };
        let key = SampleKey { site: AllocationSite { class, location }, stack, thread: Some(carrier) };
        lock(&self.samples).add(key, is_short, size, f64::from(interval));
        Ok(())
    }

    /// Adds objects that the VM made for a hook that is on top of the stack, if it is their turn: the VM's sampler does not see them.
    pub(super) fn add_unseen(
        &self,
        core: &Core,
        (jni, carrier): (Jni, ThreadIndex),
        own: &mut Option<Box<CallersThread>>,
        (class, size): (ClassIndex, u64),
    ) -> jvmti::Result<()> {
        let own = own.get_or_insert_with(|| Box::new(self.thread()));
        let interval = f64::from(self.pace.interval());
        if !own.random.is_sampled(size, interval) || core.jvm.stacks.bytes() >= MOST_STACK_BYTES {
            return Ok(());
        }
        let begin = thread_cpu_nanos();
        let stack = self.walk(core, jni, own, FramesToSkip::Hook)?;
        let location = core.jvm.stacks.get(stack).and_then(|stack| stack.frames.first().copied());
        let key = SampleKey { site: AllocationSite { class, location }, stack, thread: Some(carrier) };
        lock(&self.samples).add(key, false, size, interval);
        self.spend(core, begin);
        Ok(())
    }

    fn walk(&self, core: &Core, jni: Jni, own: &mut CallersThread, skip: FramesToSkip) -> jvmti::Result<StackIndex> {
        let stack = own.walker.walk(skip, &core.tables(jni))?;
        if core.jvm.stacks.get(stack).is_some_and(|stack| stack.frames.len() >= DEPTH) {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        Ok(stack)
    }

    /// Pays for a sample that began when the thread had had so much CPU time.
    fn spend(&self, core: &Core, begin: u64) {
        let nanos = thread_cpu_nanos().saturating_sub(begin);
        self.pace.spend(nanos, Instant::now, |bytes| set_interval(core, bytes));
    }
}

/// Bytes by which the VM comes too early to its next sample, behind an object of that size: up to JDK 16 it counts those of the object
/// twice, unless they reach beyond the next sample.
fn too_near(java: u32, size: u64, interval: u32) -> u32 {
    if java < FIRST_EXACT { u32::try_from(size).unwrap_or(u32::MAX).min(interval / 2) } else { 0 }
}

fn set_interval(core: &Core, bytes: u32) {
    if let Err(error) = core.tags.set_sampling_interval(bytes) {
        core.count_failure("sampling interval", error);
    }
}
