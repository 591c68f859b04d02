//! Loaded classes that are not linked yet and are to be retransformed when they are: a VM that links a class while it is
//! retransformed may crash (JDK-8277444).

use std::sync::atomic::{AtomicUsize, Ordering};

use jvmti::jni_sys::jclass;
use jvmti::{Env, Jni, SharedRef};
use rustc_hash::FxHashMap;

use super::retransform::internal_name;
use agent_base::mutex::Mutex;

/// SharedRef references, by internal name.
type Classes = FxHashMap<Box<[u8]>, Vec<SharedRef>>;

/// The classes.
#[derive(Default)]
pub(super) struct Unlinked {
    classes: Mutex<Classes>,
    len: AtomicUsize,
}

impl Unlinked {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Forgets all of them.
    pub(super) fn clear(&self, jni: Jni) {
        let classes = std::mem::take(&mut *self.classes.lock());
        self.len.store(0, Ordering::Release);
        for SharedRef(weak) in classes.into_values().flatten() {
            // SAFETY: whoever uses a reference has taken it out of the table before.
            unsafe { jni.delete_weak_global_ref(weak) };
        }
    }

    /// Adds a class of that internal name, unless there is no memory for a reference.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn add(&self, jni: Jni, name: &[u8], class: jclass) {
        // SAFETY: by the caller's promise.
        match unsafe { jni.new_weak_global_ref(class) } {
            Ok(weak) => {
                self.classes.lock().entry(name.into()).or_default().push(SharedRef(weak));
                self.len.fetch_add(1, Ordering::AcqRel);
            }
            Err(_) => jni.exception_clear(),
        }
    }

    /// Whether a class, which is linked now, is one of them; then it is so no more.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn take(&self, env: Env, jni: Jni, class: jclass) -> bool {
        // SAFETY: by the caller's promise.
        let Ok(signature) = (unsafe { env.get_class_signature(class) }) else { return false };
        let Some(name) = internal_name(&signature) else { return false };
        // The VM is not called while the table is locked.
        let Some(mut candidates) = self.classes.lock().remove(name) else { return false };
        // SAFETY: live references: these are in the table no more.
        let is_it = |SharedRef(weak): &SharedRef| unsafe { jni.is_same_object(*weak, class) };
        let found = candidates.iter().position(is_it).map(|at| candidates.swap_remove(at));
        if !candidates.is_empty() {
            self.classes.lock().entry(name.into()).or_default().extend(candidates);
        }
        let Some(SharedRef(weak)) = found else { return false };
        self.len.fetch_sub(1, Ordering::AcqRel);
        // SAFETY: as above.
        unsafe { jni.delete_weak_global_ref(weak) };
        true
    }
}
