//! The MXBean `martini:type=WarmUp`.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use jvmti::jni_sys::{JNIEnv, jlong, jstring};
use jvmti::sys::jvmtiEnv;
use jvmti::{Jni, guard};

use super::{CURRENT, Said};
use agent_base::agent_thread;
use agent_base::helpers::{WARM_UP, WARM_UP_BEAN};
use agent_base::message::message;
use agent_core::core::Core;

/// Has the bean registered on a thread of the agent's own, which runs code of the JDK's management library.
///
/// # Errors
/// What the VM refuses: part of a sentence.
pub(super) fn register(core: &'static Core, jni: Jni) -> Result<(), String> {
    // What the other one implements comes first.
    for helper in [&WARM_UP_BEAN, &WARM_UP] {
        core.jvm
            .helpers
            .define(jni, helper)
            .map_err(|error| format!("cannot define {}: {error}", helper.dotted_name))?;
    }
    agent_thread::start(core.jvm.env, jni, c"Martini management", run)
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn run(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let Some(readiness) = CURRENT.get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let registered = readiness.core.jvm.helpers.known(&WARM_UP).map(|class| class.call(jni, c"register"));
        if let Some(Err(error)) = registered {
            message(&format!("there is no MXBean martini:type=WarmUp: {error}; is the module java.management there?"));
        }
    });
}

/// A text for the caller; null if there is none.
///
/// # Safety
/// `jni` is the current thread's environment.
unsafe fn text(jni: *mut JNIEnv, of: impl FnOnce(&Said) -> String) -> jstring {
    let mut result = null_mut();
    guard(|| {
        let text = CURRENT.get().and_then(|readiness| readiness.said.lock().as_ref().map(of));
        let Some(text) = text.and_then(|text| CString::new(text).ok()) else { return };
        // SAFETY: by the caller's promise.
        let jni = unsafe { Jni::from_raw(jni) };
        // An exception stays pending, as of other native methods.
        result = jni.new_string_utf(&text).unwrap_or(null_mut());
    });
    result
}

/// `MartiniWarmUp.state`.
///
/// # Safety
/// Called by the VM, with this thread's environment.
pub unsafe fn state(jni: *mut JNIEnv) -> jstring {
    // SAFETY: by the caller's promise.
    unsafe { text(jni, |said| said.state.word().to_owned()) }
}

/// `MartiniWarmUp.reason`.
///
/// # Safety
/// Called by the VM, with this thread's environment.
pub unsafe fn reason(jni: *mut JNIEnv) -> jstring {
    // SAFETY: by the caller's promise.
    unsafe { text(jni, |said| said.reason.clone()) }
}

/// `MartiniWarmUp.optimizedMethods`.
pub fn optimized_methods() -> jlong {
    let known = guard(|| CURRENT.get().and_then(super::Readiness::optimized));
    known.and_then(|known| known.try_into().ok()).unwrap_or(-1)
}
