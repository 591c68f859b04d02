//! Threads of the agent's own inside the VM.

use std::ffi::CStr;
use std::ptr::null_mut;

use jvmti::jni_sys::jvalue;
use jvmti::sys::{JVMTI_THREAD_NORM_PRIORITY, jvmtiStartFunction};
use jvmti::{Env, Jni};

/// Starts a thread that runs `body`, which takes no argument.
///
/// # Errors
/// What the VM refuses; no exception is pending any more.
pub(crate) fn start(env: Env, jni: Jni, name: &CStr, body: jvmtiStartFunction) -> Result<(), String> {
    // SAFETY: live local references, deleted at the end; `body` takes no argument.
    unsafe {
        let class = jni.find_class(c"java/lang/Thread").map_err(|error| jni.cleared(error))?;
        let constructor = jni.get_method_id(class, c"<init>", c"(Ljava/lang/String;)V");
        let constructor = constructor.map_err(|error| jni.cleared(error))?;
        let name = jni.new_string_utf(name).map_err(|error| jni.cleared(error))?;
        let thread = jni.new_object(class, constructor, &[jvalue { l: name }]).map_err(|error| jni.cleared(error))?;
        let started = env.run_agent_thread(thread, body, null_mut(), JVMTI_THREAD_NORM_PRIORITY);
        for local in [class, name, thread] {
            jni.delete_local_ref(local);
        }
        started.map_err(|error| error.to_string())
    }
}
