//! The agent's own thread: what is done after each collection, and each second.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use jvmti::jni_sys::JNIEnv;
use jvmti::sys::jvmtiEnv;
use jvmti::{HeapRoom, Jni, guard};

use agent_base::ids::GcNumber;
use agent_core::core::Core;
use agent_core::core::context::Entry;
use agent_core::core::schedule::FIRST_PART;
use agent_core::instrument::Instrumentation;
use hotspot::Hotspot;
use hotspot::object_addresses::may_be_cleared;

/// How often features are called to check the time and requests; at first more often, for the first of what they write regularly.
const TICK: Duration = Duration::from_secs(1);

/// Finds dead objects after each collection; at the start rewrites its half of the classes.
///
/// # Safety
/// Called by the VM, on the agent's thread.
pub(super) unsafe extern "system" fn run(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let (Some(core), Some(instrumentation)) = (Core::current(), Instrumentation::current()) else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        Entry::stay();
        instrumentation.share(jni);
        let mut seen = GcNumber(0);
        let begun = Instant::now();
        let ticks = core.features().any(|feature| feature.wants_ticks());
        let tick = || ticks.then(|| if begun.elapsed() < TICK { TICK / FIRST_PART } else { TICK });
        // Its check reads each reference as if the object were used, so with ZGC, which marks meanwhile, no object would ever die.
        let is_checked = core.hotspot.is_some_and(Hotspot::checks_jni);
        // SAFETY: who calls it has not deleted the reference.
        let may_be_dead = |weak| !is_checked || unsafe { may_be_cleared(weak) };
        while let Some(number) = core.collections.wait_for_finish(seen, tick()) {
            if number != seen {
                // Before anything else: what is allocated meanwhile counts too.
                core.collections.measure(number, HeapRoom::now(jni));
            }
            core.features().for_each(|feature| feature.tick(jni));
            // All of them.
            let make = |wanted| core.features().fold(false, |made, feature| feature.snapshot(jni, wanted) | made);
            core.snapshots.answer(make);
            if number == seen {
                continue;
            }
            core.features().for_each(|feature| feature.collected(jni, seen, number));
            seen = number;
            let reports = core.options.lifetimes.then_some(&core.collections);
            if reports.is_some() && core.leaves_deaths_unseen() {
                core.count_lost("deaths in a collection", 1);
            }
            core.weak_refs.tracked().find_dead(&core.weak_refs, jni, reports, may_be_dead);
            core.collections.set_processed(number);
        }
    });
}
