//! How to know that all objects which a collection freed have been told of (JDK 16 and later).
//!
//! The VM's service thread delivers frees some time after the pause. One could make the VM deliver them at once, by enabling
//! `ObjectFree` once more; but if the service thread comes at the same moment and a safepoint begins, HotSpot (seen on 17 and 21)
//! stands still for ever: the service thread waits for the delivering thread without minding safepoints, and that thread
//! waits for the safepoint to end. So nobody but the service thread may deliver.
//!
//! Instead there is a fence: an object that is garbage from the beginning, tagged in an environment of its own. The service
//! thread serves environments in the order in which they were made, so when the fence's death is told, all others have been
//! told before. Whether the last collection found the fence dead, and so whether there is anything to wait for, shows a
//! weak reference.

use std::ptr::null_mut;
use std::time::Duration;

use jvmti::jni_sys::{jlong, jobject};
use jvmti::sys::{CAN_GENERATE_OBJECT_FREE_EVENTS, CAN_TAG_OBJECTS, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks};
use jvmti::{Jni, guard};

use super::Agent;

/// If nothing at all is delivered for so long, nothing more is waited for.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(5);

pub(crate) const CAPABILITIES: jvmtiCapabilities =
    jvmtiCapabilities::of(&[CAN_TAG_OBJECTS, CAN_GENERATE_OBJECT_FREE_EVENTS]);

const TAG: jlong = 1;

/// The callbacks of the fence's environment.
pub(crate) fn callbacks() -> jvmtiEventCallbacks {
    jvmtiEventCallbacks { ObjectFree: Some(freed), ..jvmtiEventCallbacks::default() }
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn freed(_: *mut jvmtiEnv, _: jlong) {
    guard(|| {
        if let Some(agent) = Agent::get() {
            agent.gc.free_fence();
        }
    });
}

/// The control thread's view of the fence.
pub(crate) struct Fence {
    /// A weak reference to the present fence; null if there is none.
    weak: jobject,
    needed: bool,
}

impl Fence {
    /// No fence yet. None is needed where frees are not followed or come inside the pause.
    pub(crate) fn new(agent: &Agent) -> Fence {
        Fence { weak: null_mut(), needed: agent.options.lifetimes && !agent.gc.frees_in_pause() }
    }

    /// Puts up a fence for the next collection.
    pub(crate) fn put_up(&mut self, agent: &Agent, jni: Jni) {
        if !self.needed || !self.weak.is_null() {
            return;
        }
        let Ok(object) = jni.new_primitive_array(b'B', 0) else { return jni.exception_clear() };
        // SAFETY: a live local reference, deleted at the end.
        unsafe {
            if agent.fence_env.set_tag(object, TAG).is_ok() {
                match jni.new_weak_global_ref(object) {
                    Ok(weak) => self.weak = weak,
                    Err(_) => jni.exception_clear(),
                }
            }
            jni.delete_local_ref(object);
        }
    }

    /// After a collection: returns when its frees have been delivered, and puts up a new fence.
    pub(crate) fn pass(&mut self, agent: &Agent, jni: Jni) {
        // SAFETY: a weak global reference of ours.
        let is_dead = !self.weak.is_null() && unsafe { jni.is_same_object(self.weak, null_mut()) };
        if is_dead {
            agent.gc.wait_for_fence(LONGEST_SILENCE);
            // SAFETY: as above; it is not used again.
            unsafe { jni.delete_weak_global_ref(self.weak) };
            self.weak = null_mut();
        }
        self.put_up(agent, jni);
    }
}
