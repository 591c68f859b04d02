//! References to living threads, platform and virtual: for their stacks, and to ask them what they own. A thread leaves at its end event.

use jvmti::Jni;
use jvmti::jni_sys::jobject;
use rustc_hash::FxHashMap;

use agent_base::ids::ThreadIndex;
use agent_base::mutex::RwLock;
use agent_base::objects::weak_users::WeakUsers;

/// A weak global reference to a thread.
struct WeakThread(jobject);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for WeakThread {}
// SAFETY: as above.
unsafe impl Sync for WeakThread {}

/// One for each thread.
#[derive(Default)]
pub(super) struct ThreadReferences {
    weak: RwLock<FxHashMap<u32, WeakThread>>,
    users: WeakUsers,
}

impl ThreadReferences {
    /// Enters a thread.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub(super) unsafe fn enter(&self, jni: Jni, thread: jobject, index: ThreadIndex) {
        // SAFETY: by the caller's promise.
        let weak = unsafe { jni.new_weak_global_ref(thread) }.inspect_err(|_| jni.exception_clear());
        let before = weak.ok().and_then(|weak| self.weak.write().insert(index.0, WeakThread(weak)));
        self.delete(jni, before);
    }

    /// The thread ends.
    pub(super) fn leave(&self, jni: Jni, index: ThreadIndex) {
        let before = self.weak.write().remove(&index.0);
        self.delete(jni, before);
    }

    /// Forgets all threads.
    pub(super) fn release(&self, jni: Jni) {
        let before = std::mem::take(&mut *self.weak.write());
        self.delete(jni, before.into_values());
    }

    fn delete(&self, jni: Jni, removed: impl IntoIterator<Item = WeakThread>) {
        // SAFETY: they are in the table no more.
        unsafe { self.users.delete(jni, removed.into_iter().map(|weak| weak.0)) };
    }

    /// A new local reference to a thread that lives; null if there is none.
    pub(super) fn get(&self, jni: Jni, index: ThreadIndex) -> jobject {
        self.users.using(|| {
            let weak = self.weak.read().get(&index.0).map(|weak| weak.0);
            // SAFETY: a weak reference that was in the table is not deleted while somebody may use it.
            weak.map_or(std::ptr::null_mut(), |weak| unsafe { jni.new_local_ref(weak) })
        })
    }
}
