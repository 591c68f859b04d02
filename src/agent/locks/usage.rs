//! What JVMTI says of a monitor (`GetObjectMonitorUsage`).
//!
//! With `-XX:+UseHeavyMonitors` HotSpot up to 17 cannot answer: compiled code locks objects on its stack all the same, and the VM
//! does not look for the owner there. JDK 11 names no owner then; later ones use the thread that they have not found, and crash.

use jvmti::jni_sys::jobject;
use jvmti::{Jni, MonitorUsage, is_flag_on};

use super::Locks;

/// Whether this VM survives the question, and its answer is true.
pub(super) fn is_safe(java: u32, jni: Jni) -> bool {
    !(java <= 17 && is_flag_on(jni, c"UseHeavyMonitors") == Some(true))
}

impl Locks {
    /// The present use of a monitor; `None` if the VM is not asked.
    ///
    /// # Errors
    /// What the VM refuses.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn usage(&self, object: jobject) -> Option<jvmti::Result<MonitorUsage>> {
        let is_safe = self.asks_usage.get().copied().unwrap_or(false);
        // SAFETY: by the caller's promise.
        is_safe.then(|| unsafe { self.core.jvm.env.get_object_monitor_usage(object) })
    }
}
