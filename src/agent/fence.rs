//! How to know that all objects which a collection freed have been told of (JDK 16 and later).
//!
//! The VM's service thread delivers frees some time after the pause. One could make the VM deliver them at once, by enabling
//! `ObjectFree` once more; but if the service thread comes at the same moment and a safepoint begins, HotSpot (seen on 17 and 21)
//! stands still for ever: the service thread waits for the delivering thread without minding safepoints, and that thread
//! waits for the safepoint to end. So nobody but the service thread may deliver.
//!
//! Instead there is a fence: an object that is garbage from the beginning, tagged in the environment that was made first and in
//! the one that was made last. The service thread serves environments in that order. So when the fence's death is told in
//! the first and then in the last, all deaths that the same collection found have been told in between. Told the other way
//! round, the collection came in the midst of the service thread's turn, and the environments before have another coming:
//! then, and when several collections came at once, silence has to do. Whether a collection found the fence dead, and so
//! whether there is anything to wait for, shows a weak reference.

use std::ptr::null_mut;
use std::time::Duration;

use jvmti::jni_sys::{jlong, jobject};
use jvmti::sys::{jvmtiEnv, jvmtiEventCallbacks};
use jvmti::{Jni, guard};

use super::Agent;
use super::gc::{FenceEnd, GcNumber};

/// If nothing at all is delivered for so long, nothing more is waited for.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// How long nothing is delivered when it is taken for granted that nothing more will be.
const SILENCE: Duration = Duration::from_millis(200);

/// No class, whose tags the first environment holds too, has this one.
const TAG: jlong = jlong::MIN;

/// The callbacks of the last environment.
pub(crate) fn callbacks() -> jvmtiEventCallbacks {
    jvmtiEventCallbacks { ObjectFree: Some(freed), ..jvmtiEventCallbacks::default() }
}

/// JVMTI `ObjectFree` in the first and the last environment.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn freed(env: *mut jvmtiEnv, tag: jlong) {
    guard(|| {
        if let Some(agent) = Agent::get().filter(|_| tag == TAG) {
            let is_last = env == agent.fence_env.as_raw();
            agent.gc.free_fence(if is_last { FenceEnd::Last } else { FenceEnd::First });
        }
    });
}

/// The control thread's view of the fence.
pub(crate) struct Fence {
    /// A weak reference to the present fence; null if there is none.
    weak: jobject,
    /// Collections before it was put up.
    before: GcNumber,
    needed: bool,
}

impl Fence {
    /// No fence yet. None is needed where frees are not followed or come inside the pause.
    pub(crate) fn new(agent: &Agent) -> Fence {
        Fence { weak: null_mut(), before: GcNumber(0), needed: agent.options.lifetimes && !agent.gc.frees_in_pause() }
    }

    /// Puts up a fence for the next collection.
    pub(crate) fn put_up(&mut self, agent: &Agent, jni: Jni) {
        if !self.needed || !self.weak.is_null() {
            return;
        }
        let Ok(object) = jni.new_primitive_array(b'B', 0) else { return jni.exception_clear() };
        // SAFETY: a live local reference, deleted at the end.
        unsafe {
            match jni.new_weak_global_ref(object) {
                Ok(weak) if [agent.env, agent.fence_env].iter().all(|env| env.set_tag(object, TAG).is_ok()) => {
                    self.weak = weak;
                    self.before = agent.gc.finished();
                }
                Ok(weak) => {
                    let _ = agent.env.set_tag(object, 0);
                    jni.delete_weak_global_ref(weak);
                }
                Err(_) => jni.exception_clear(),
            }
            jni.delete_local_ref(object);
        }
    }

    /// After the collection of that number: returns when its frees have been delivered, and puts up a new fence.
    pub(crate) fn pass(&mut self, agent: &Agent, jni: Jni, number: GcNumber) {
        if !self.needed {
            return;
        }
        // SAFETY: a weak global reference of ours.
        let is_dead = !self.weak.is_null() && unsafe { jni.is_same_object(self.weak, null_mut()) };
        let mut passed = false;
        if is_dead {
            passed = agent.gc.wait_for_fence(LONGEST_SILENCE) && self.before.0 + 1 == number.0;
            // SAFETY: as above; it is not used again.
            unsafe { jni.delete_weak_global_ref(self.weak) };
            self.weak = null_mut();
        }
        self.put_up(agent, jni);
        if !passed {
            agent.gc.wait_for_silence(SILENCE);
        }
    }
}
