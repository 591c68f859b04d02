//! What the VM's sampler counts though nobody allocates it (JDK 11 to 24).
//!
//! When the sampler looks at a thread it counts at once all that lies up to the next sample, or to the end of the thread's buffer if that
//! comes first. What is left of the buffer when a collection takes it away, or when an object does not fit, is counted all the same. What
//! an object does that the heap has outside the buffer differs (`jdk11`, `jdk17`). All this concerns one object: the first in the next
//! buffer, or the one outside. It is chosen with another probability than its size says, which the agent reckons from where the thread was
//! in its buffer (`chosen`). Up to JDK 16 the objects behind a large one are, too (`overflow`).

mod chosen;
mod earlier;
mod jdk11;
mod jdk17;
mod overflow;
#[cfg(test)]
mod simulated;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jvmti::Jni;
use jvmti::jni_sys::jobject;

use super::samples::probability;
use agent_core::core::Core;
use chosen::{VmSampler, choose};
use earlier::Look;
use hotspot::buffers::BufferLayout;

pub(crate) use earlier::Earlier;

/// The first feature release whose sampler counts the bytes of a sampled object once.
const FIRST_ONCE: u32 = 17;
/// The first feature release whose sampler counts only what is allocated.
const FIRST_RIGHT: u32 = 25;
/// A sample is early if so many times its size was counted.
const EARLY: f64 = 2.0;

/// What is known of it for all threads.
#[derive(Default)]
pub(super) struct CountedAhead {
    /// Where threads are in their buffers, if that matters and is known.
    buffers: OnceLock<&'static BufferLayout>,
    early: AtomicU64,
}

impl CountedAhead {
    /// Looks up where threads are in their buffers, before there is any sample.
    pub(super) fn begin(&self, core: &Core, jni: Jni) {
        let hotspot = core.hotspot.filter(|_| core.jvm.java < FIRST_RIGHT);
        if let Some(layout) = hotspot.and_then(|hotspot| hotspot.buffers(core.jvm.env, jni)) {
            let _ = self.buffers.set(layout);
        }
    }

    /// Samples that came early.
    pub(super) fn early(&self) -> u64 {
        self.early.load(Ordering::Relaxed)
    }

    /// Where the current thread begins to allocate, if that is known.
    pub(super) fn begins(&self, core: &Core, jni: Jni) -> Option<Earlier> {
        let place = self.buffers.get()?.place(jni);
        Some(Earlier::begins(place, core.jvm.accounting.current_thread_bytes(jni)?))
    }

    /// The probability with which an object of that size was chosen that the current thread has just made: one every so many bytes. If it
    /// stands for objects, too, that could not be chosen it is the less. The thread was `earlier` at its last sample, and is so from now on. Asked before anything else that may stop at a safepoint.
    ///
    /// # Safety
    /// `object` is a local reference.
    pub(super) unsafe fn probability(
        &self,
        core: &Core,
        jni: Jni,
        earlier: &mut Option<Earlier>,
        object: jobject,
        size: u64,
        interval: f64,
    ) -> f64 {
        // SAFETY: by the caller's promise.
        let Some(look) = (unsafe { self.look(core, jni, object) }) else {
            return probability(size as f64, interval);
        };
        let vm = if core.jvm.java < FIRST_ONCE { VmSampler::Jdk11 } else { VmSampler::Jdk17 };
        let (chosen, after) = choose(vm, earlier.as_ref(), &look, size, interval);
        if chosen.counted.bytes > EARLY * size as f64 {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
        *earlier = Some(after);
        chosen.probability
    }

    /// # Safety
    /// As for `probability`.
    unsafe fn look(&self, core: &Core, jni: Jni, object: jobject) -> Option<Look> {
        let place = self.buffers.get()?.place(jni);
        // SAFETY: by the caller's promise.
        let offset = unsafe { place.offset_of(object) };
        Some(Look { place, bytes: core.jvm.accounting.current_thread_bytes(jni)?, offset })
    }
}
