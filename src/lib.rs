//! The agent's doors: what the JVM looks for in `libmartini.so`.
//!
//! Everything behind them is in `crates/agent`.

use std::ffi::{c_char, c_void};

use jvmti::guard;
use jvmti::jni_sys::{JNIEnv, JavaVM, jbyteArray, jclass, jint, jlong, jobject, jstring};

const REFUSED: jint = -1;

/// The JVM starts with the agent (`-agentpath:libmartini.so=...`).
///
/// # Safety
/// Called by the JVM, with a NUL-terminated or null option string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _: *const c_void) -> jint {
    // After a panic, of which `guard` makes false, the JVM runs: no event is enabled before all else has succeeded.
    // SAFETY: the JVM passes what `stops_on_load` asks for.
    let stops = guard(|| unsafe { agent::stops_on_load(vm, options) });
    if stops { REFUSED } else { 0 }
}

/// The agent is loaded into a running JVM, once for each request (`agent::recording::attach`).
///
/// # Safety
/// Called by the JVM, with a NUL-terminated or null option string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(vm: *mut JavaVM, options: *const c_char, _: *const c_void) -> jint {
    // SAFETY: the JVM passes what `takes_request` asks for.
    let taken = guard(|| unsafe { agent::takes_request(vm, options) });
    if taken { 0 } else { REFUSED }
}

macro_rules! register_natives {
    ($($function:ident: $natives:path;)+) => {
        $(
            /// `registerNatives` of a helper class, which the JVM finds by this name.
            ///
            /// # Safety
            /// Called by the JVM.
            #[unsafe(no_mangle)]
            pub unsafe extern "system" fn $function(jni: *mut JNIEnv, class: jclass) {
                // SAFETY: the JVM passes this thread's environment and the class.
                guard(|| unsafe { $natives.bind(jni, class) });
            }
        )+
    };
}

register_natives! {
    Java_java_lang_MartiniHeapProxy_registerNatives: agent::HEAP_PROXY_NATIVES;
    Java_java_lang_MartiniCounts_registerNatives: agent::COUNTS_NATIVES;
    Java_java_lang_MartiniParking_registerNatives: agent::PARKING_NATIVES;
    Java_java_lang_MartiniSleep_registerNatives: agent::SLEEP_NATIVES;
    Java_java_lang_MartiniExceptions_registerNatives: agent::EXCEPTION_NATIVES;
    Java_java_lang_MartiniRequests_registerNatives: agent::REQUEST_NATIVES;
}

/// `MartiniShutdown.run`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_MartiniShutdown_run(_: *mut JNIEnv, _: jobject) {
    guard(agent::shutdown_hooks_done);
}

/// `MartiniReach.reach`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_MartiniReach_reach(_: *mut JNIEnv, _: jclass) {}

/// `MartiniWarmUp.state`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_management_MartiniWarmUp_state(jni: *mut JNIEnv, _: jclass) -> jstring {
    // SAFETY: the JVM passes this thread's environment; no panic leaves it.
    unsafe { agent::readiness_state(jni) }
}

/// `MartiniWarmUp.reason`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_management_MartiniWarmUp_reason(jni: *mut JNIEnv, _: jclass) -> jstring {
    // SAFETY: the JVM passes this thread's environment; no panic leaves it.
    unsafe { agent::readiness_reason(jni) }
}

/// `MartiniWarmUp.optimizedMethods`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_management_MartiniWarmUp_optimizedMethods(
    _: *mut JNIEnv,
    _: jclass,
) -> jlong {
    agent::optimized_methods()
}

/// `MartiniWalk.compare`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_MartiniWalk_compare(jni: *mut JNIEnv, class: jclass) {
    // SAFETY: the JVM passes this thread's environment and the class.
    guard(|| unsafe { agent::compare_in_self_test(jni, class) });
}

/// `martini.junit.Counts.before`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_martini_junit_Counts_before(jni: *mut JNIEnv, _: jclass) -> jbyteArray {
    // SAFETY: the JVM passes this thread's environment; no panic leaves it.
    unsafe { agent::begin_own_counts(jni) }
}

/// `martini.junit.Counts.end`, which the JVM finds by this name.
///
/// # Safety
/// Called by the JVM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_martini_junit_Counts_end(jni: *mut JNIEnv, _: jclass) -> jbyteArray {
    // SAFETY: the JVM passes this thread's environment; no panic leaves it.
    unsafe { agent::end_own_counts(jni) }
}
