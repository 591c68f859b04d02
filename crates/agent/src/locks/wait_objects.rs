//! The ids of objects on which threads wait.

use jvmti::jni_sys::jobject;
use jvmti::{Jni, Turn};
use trace::ids::ObjectId;

use super::state::LockThread;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::StackIndex;
use agent_base::objects::weak_refs::ObjectTag;
use agent_core::core::Core;
use agent_core::core::context::ThreadContext;
use hotspot::monitors::MonitorAddress;

/// Gives objects their ids.
pub(super) struct WaitObjects {
    core: &'static Core,
    /// Held while an object gets its id, so that it gets only one.
    announcing: Turn,
}

impl WaitObjects {
    /// For a recording.
    pub(super) fn new(core: &'static Core) -> WaitObjects {
        WaitObjects { core, announcing: Turn::free() }
    }

    /// The id of an object on which threads wait; if it has none yet, it gets one, and an event reports it. `monitor` is its
    /// monitor, if that is known.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn object(
        &self,
        jni: Jni,
        thread: &mut ThreadContext,
        state: &mut LockThread,
        monitor: MonitorAddress,
        object: jobject,
    ) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        unsafe {
            if let Some(id) = state.monitors.find(jni, monitor, object) {
                return Some(id);
            }
            if let Some(id) = self.core.tags.find(object) {
                state.monitors.note(jni, monitor, object, id);
                return Some(id);
            }
            self.announce(jni, thread, object)
        }
    }

    /// Gives an object an id, unless another thread has done so meanwhile.
    ///
    /// # Safety
    /// `object` is a live reference.
    unsafe fn announce(&self, jni: Jni, thread: &mut ThreadContext, object: jobject) -> Option<ObjectId> {
        let core = self.core;
        // If the turn does not come, the object may get two ids.
        // SAFETY: by the caller's promise.
        let _announcing = self.announcing.take(|| unsafe { core.tags.find(object) }.is_some());
        // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
        let found = unsafe {
            if let Some(id) = core.tags.find(object) {
                return Some(id);
            }
            let class = jni.get_object_class(object);
            let index = core.jvm.classes.resolve(jni, class);
            jni.delete_local_ref(class);
            index.and_then(|index| Ok((index, core.jvm.env.get_object_size(object)?)))
        };
        let (class, bytes) = match found {
            Ok(found) => found,
            Err(error) => {
                core.count_failure("monitor", error);
                return None;
            }
        };
        let id = thread.new_object(Ticks::now());
        // Before the tag is set, by which other threads find the object.
        thread.push(Event::Found { object: id, class, words: (bytes / 8) as u32 }, Ticks::now());
        // SAFETY: by the caller's promise.
        unsafe {
            if let Err(error) = core.tags.for_monitors().set(object, id) {
                core.count_failure("tag of a monitor", error);
            }
            let tag = ObjectTag::new(id, StackIndex::default());
            if core.keeps_weak_refs() && thread.weak_refs.note(&core.weak_refs, jni, object, tag).is_err() {
                core.count_lost("no memory for a weak reference", 1);
            }
        }
        Some(id)
    }
}
