//! The structures of `jvmti.h` that Martini uses, in its order, except capabilities, event callbacks and the function table.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

use jni_sys::{jint, jlong, jmethodID, jobject};

use crate::{jboolean, jlocation, jthread, jthreadGroup, jvmtiEnv, jvmtiHeapReferenceKind};

/// Defines the structures, and the list of them for the tests.
macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident { $($member:ident: $ty:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default)]
            pub struct $name {
                $(pub $member: $ty,)*
            }
        )*

        /// Name and size of every structure, and name and offset in bytes of its members.
        pub const STRUCTS: &[(&str, usize, &[(&str, usize)])] = &[$(
            (stringify!($name), size_of::<$name>(), &[$((stringify!($member), offset_of!($name, $member)),)*]),
        )*];
    };
}

structs! {
    /// Result of `GetThreadInfo`.
    jvmtiThreadInfo {
        name: *mut c_char,
        priority: jint,
        is_daemon: jboolean,
        thread_group: jthreadGroup,
        context_class_loader: jobject,
    }

    /// Result of `GetThreadGroupInfo`.
    jvmtiThreadGroupInfo {
        parent: jthreadGroup,
        name: *mut c_char,
        max_priority: jint,
        is_daemon: jboolean,
    }

    /// One frame of a stack trace.
    jvmtiFrameInfo {
        method: jmethodID,
        location: jlocation,
    }

    /// Callbacks of `FollowReferences` and `IterateThroughHeap`.
    jvmtiHeapCallbacks {
        heap_iteration_callback: Option<jvmtiHeapIterationCallback>,
        heap_reference_callback: Option<jvmtiHeapReferenceCallback>,
        unused: [Option<unsafe extern "system" fn()>; 14],
    }

    /// Result of `GetObjectMonitorUsage`.
    jvmtiMonitorUsage {
        owner: jthread,
        entry_count: jint,
        waiter_count: jint,
        waiters: *mut jthread,
        notify_waiter_count: jint,
        notify_waiters: *mut jthread,
    }

    /// Element of the result of `GetLineNumberTable`.
    jvmtiLineNumberEntry {
        start_location: jlocation,
        line_number: jint,
    }

    /// Parameter of an extension event.
    jvmtiParamInfo {
        name: *mut c_char,
        kind: jint,
        base_type: jint,
        null_ok: jboolean,
    }

    /// Element of the result of `GetExtensionEvents`.
    jvmtiExtensionEventInfo {
        extension_event_index: jint,
        id: *mut c_char,
        short_description: *mut c_char,
        param_count: jint,
        params: *mut jvmtiParamInfo,
    }
}

/// Where a reference was found; Martini never looks into it.
#[repr(C)]
#[derive(Debug)]
pub struct jvmtiHeapReferenceInfo {
    _private: [u8; 0],
}

/// Body of an agent thread (`RunAgentThread`).
pub type jvmtiStartFunction =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut jni_sys::JNIEnv, arg: *mut c_void);

/// Called for each object by `IterateThroughHeap`; returns `JVMTI_VISIT_*` flags.
pub type jvmtiHeapIterationCallback = unsafe extern "system" fn(
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    length: jint,
    user_data: *mut c_void,
) -> jint;

/// Called for each reference by `FollowReferences`; returns `JVMTI_VISIT_*` flags.
pub type jvmtiHeapReferenceCallback = unsafe extern "system" fn(
    reference_kind: jvmtiHeapReferenceKind,
    reference_info: *const jvmtiHeapReferenceInfo,
    class_tag: jlong,
    referrer_class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    referrer_tag_ptr: *mut jlong,
    length: jint,
    user_data: *mut c_void,
) -> jint;

/// Callback of an extension event. Variadic in C: an agent defines an `extern "C"` function with the parameters that
/// `jvmtiExtensionEventInfo` describes, and transmutes it.
pub type jvmtiExtensionEvent = unsafe extern "C" fn(jvmti_env: *mut jvmtiEnv, ...);
