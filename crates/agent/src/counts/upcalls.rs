//! Objects that the VM has made for a call of a Java method.

use jvmti::Jni;
use jvmti::jni_sys::jobject;

use super::Counts;
use super::threads::CountsThread;
use agent_base::ids::AllocationSite;
use agent_core::core::context::ThreadContext;

/// The VM calls a method on the current thread with that object, which it has made: counts it.
///
/// # Safety
/// `object` is a live reference.
pub(super) unsafe fn count_argument(
    counts: &Counts,
    jni: Jni,
    thread: &ThreadContext,
    state: &mut CountsThread,
    object: jobject,
) {
    let core = counts.core;
    // SAFETY: by the caller's promise; the class is a local reference, deleted here.
    let found = unsafe {
        let class = jni.get_object_class(object);
        let found = core.jvm.classes.resolve(jni, class);
        jni.delete_local_ref(class);
        found.and_then(|class| Ok((class, core.jvm.env.get_object_size(object)?)))
    };
    match found {
        Ok((class, bytes)) if counts.is_string(class) => {
            // SAFETY: by the caller's promise.
            unsafe { counts.count_string(jni, thread, state, object, bytes as u64) }
        }
        Ok((class, bytes)) => {
            counts.count_vm_object(thread, state, AllocationSite { class, location: None }, bytes as u64)
        }
        Err(error) => core.count_failure("VM object", error),
    }
}
