//! Classes that the program loads while references are made to all that it has loaded so far.

use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::jni_sys::jclass;
use jvmti::{Jni, SharedRef};

use agent_base::mutex::Mutex;

/// Global references to the classes that are prepared while it is open. A class has no instance before.
#[derive(Default)]
pub(super) struct LateClasses {
    is_open: AtomicBool,
    references: Mutex<Vec<SharedRef>>,
}

impl LateClasses {
    /// From now on classes are noted. Those before are in the VM's list.
    pub(super) fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    /// The VM has prepared a class.
    ///
    /// # Safety
    /// A live reference.
    pub(super) unsafe fn note(&self, jni: Jni, class: jclass) {
        if self.is_open.load(Ordering::Acquire) {
            // SAFETY: by the caller's promise.
            let made = unsafe { jni.new_global_ref(class) };
            if !made.is_null() {
                self.references.lock().push(SharedRef(made));
            }
        }
    }

    /// No further class is noted: those that were, each with a global reference that the caller deletes.
    pub(super) fn close(&self) -> Vec<jclass> {
        self.is_open.store(false, Ordering::Release);
        let noted = std::mem::take(&mut *self.references.lock());
        noted.into_iter().map(|SharedRef(class)| class).collect()
    }

    /// As `close`, where nobody wants them.
    pub(super) fn discard(&self, jni: Jni) {
        for class in self.close() {
            // SAFETY: a global reference that nobody else knows.
            unsafe { jni.delete_global_ref(class) };
        }
    }
}
