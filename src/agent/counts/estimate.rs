//! The VM's sampler beside the counters: how many of the bytes that a site executed were really allocated.
//!
//! `SampledObjectAlloc` comes once in `interval` bytes on average, at distances that are geometrically distributed, so an
//! object of `size` bytes is told with a probability of `1 - e^(-size / interval)`. Each stands for its size divided by that
//! (Horvitz and Thompson), whose sum is the number of bytes allocated, on average.

use std::sync::Mutex;

use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv};
use jvmti::{Jni, guard};
use rustc_hash::FxHashMap;

use super::by_the_vm::{Makers, maker};
use super::lock;
use super::slots::Resolved;
use crate::agent::Agent;
use crate::agent::clock::Ticks;
use crate::agent::threads::with_context;

/// What the sampler found, by site.
pub(crate) struct Estimate {
    interval_bytes: f64,
    bytes: Mutex<FxHashMap<Resolved, f64>>,
}

/// What was found, taken all at once.
pub(crate) struct Estimated(FxHashMap<Resolved, f64>);

impl Estimate {
    /// Nothing found yet, with a sample every so many bytes on average.
    pub(super) fn new(interval_bytes: u32) -> Estimate {
        Estimate { interval_bytes: f64::from(interval_bytes), bytes: Mutex::default() }
    }

    fn add(&self, site: Resolved, size: u64) {
        *lock(&self.bytes).entry(site).or_default() += weight(size as f64, self.interval_bytes);
    }

    /// What was found so far.
    pub(crate) fn found(&self) -> Estimated {
        Estimated(lock(&self.bytes).clone())
    }
}

impl Estimated {
    /// The bytes allocated at a site, each site once.
    pub(crate) fn take(&mut self, site: Resolved) -> u64 {
        self.0.remove(&site).unwrap_or_default().round() as u64
    }

    /// The bytes of all sites that were not taken.
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
pub(crate) unsafe extern "system" fn sampled(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some(estimate) = agent.counts.as_ref().and_then(|counts| counts.estimate.as_ref()) else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, Ticks::now(), |context| {
            // SAFETY: the VM passes a live class.
            match unsafe { site(agent, jni, &mut context.makers, class) } {
                Ok(Some(site)) => estimate.add(site, size as u64),
                Ok(None) => {}
                Err(error) => agent.count_failure("sample", error),
            }
        });
    });
}

/// The site of an object that the current thread is making; `None` if the filters leave it out.
///
/// # Safety
/// `class` is a live reference.
unsafe fn site(agent: &'static Agent, jni: Jni, makers: &mut Makers, class: jclass) -> jvmti::Result<Option<Resolved>> {
    // SAFETY: by the caller's promise.
    let class = unsafe { agent.classes.resolve(agent.env, jni, class, agent) }?;
    if agent.classes.get(class).is_none_or(|class| !class.is_included()) {
        return Ok(None);
    }
    let place = maker(agent, jni, makers)?.map(|maker| maker.place);
    Ok(Some(Resolved { class, place }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all objects of one size stand for, when each is told with its probability.
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
