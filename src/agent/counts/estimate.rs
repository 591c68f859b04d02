//! The VM's sampler beside the counters: how many of the bytes that a site executed were really allocated.
//!
//! `SampledObjectAlloc` comes once in `interval` bytes on average, at distances that are geometrically distributed, so an
//! object of `size` bytes is sampled with a probability of `1 - e^(-size / interval)`. Each stands for its size divided by that
//! (Horvitz and Thompson), whose sum is the number of bytes allocated, on average.

use std::sync::Mutex;

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv};
use rustc_hash::FxHashMap;

use super::allocating_methods::{AllocatingMethods, allocating_method};
use super::counters::AllocationSite;
use super::threads::CountsThread;
use super::{Counts, lock};
use crate::agent::core::Core;
use crate::agent::core::context::callback;

/// What the sampler found, by site.
pub(crate) struct Estimate {
    interval_bytes: f64,
    bytes: Mutex<FxHashMap<AllocationSite, f64>>,
}

/// A copy of what was found, from which the writer takes site by site.
pub(crate) struct Estimated(FxHashMap<AllocationSite, f64>);

impl Estimate {
    /// Nothing found yet, with a sample every so many bytes on average.
    pub(super) fn new(interval_bytes: u32) -> Estimate {
        Estimate { interval_bytes: f64::from(interval_bytes), bytes: Mutex::default() }
    }

    fn add(&self, site: AllocationSite, size: u64) {
        *lock(&self.bytes).entry(site).or_default() += weight(size as f64, self.interval_bytes);
    }

    /// What was found so far.
    pub(crate) fn found(&self) -> Estimated {
        Estimated(lock(&self.bytes).clone())
    }
}

impl Estimated {
    /// The bytes allocated at a site, each site once.
    pub(crate) fn take(&mut self, site: AllocationSite) -> u64 {
        self.0.remove(&site).unwrap_or_default().round() as u64
    }

    /// The bytes of all sites for which `take` was not called.
    pub(crate) fn rest(&self) -> u64 {
        self.0.values().sum::<f64>().round() as u64
    }
}

/// The bytes that one sampled object of that size stands for.
fn weight(size: f64, interval: f64) -> f64 {
    size / -(-size / interval).exp_m1()
}

/// JVMTI `SampledObjectAlloc`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn sampled(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    // SAFETY: the VM passes this thread's environment and a live class.
    unsafe {
        callback(jni, |counts: &Counts, jni, _, state: &mut CountsThread| {
            let Some(estimate) = &counts.estimate else { return };
            match site(counts.core, jni, &mut state.allocating_methods, class) {
                Ok(Some(site)) => estimate.add(site, size as u64),
                Ok(None) => {}
                Err(error) => counts.core.count_failure("sample", error),
            }
        });
    }
}

/// The site of an object that the current thread is making; `None` if the filters leave it out.
///
/// # Safety
/// `class` is a live reference.
unsafe fn site(
    core: &Core,
    jni: Jni,
    methods: &mut AllocatingMethods,
    class: jclass,
) -> jvmti::Result<Option<AllocationSite>> {
    // SAFETY: by the caller's promise.
    let class = unsafe { core.jvm.classes.resolve(jni, class) }?;
    if !core.includes(class) {
        return Ok(None);
    }
    let location = allocating_method(core, jni, methods)?.map(|method| method.location);
    Ok(Some(AllocationSite { class, location }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all objects of one size stand for, when each is sampled with its probability.
    fn on_average(size: f64, interval: f64) -> f64 {
        let probability = 1.0 - (-size / interval).exp();
        probability * weight(size, interval)
    }

    #[test]
    fn an_estimate_is_right_on_average() {
        for size in [16.0, 4096.0, 1e6, 1e9] {
            for interval in [1.0, 65536.0, 524_288.0] {
                let error = (on_average(size, interval) - size).abs() / size;
                assert!(error < 1e-6, "{size} bytes every {interval}: {error}");
            }
        }
    }
}
