//! The types of functions that the agent hands to the VM, other than event callbacks.

use std::ffi::c_void;

use jni_sys::{JNIEnv, jchar, jint, jlong, jmethodID, jvalue};

use crate::{
    jvmtiEnv, jvmtiError, jvmtiHeapReferenceInfo, jvmtiHeapReferenceKind, jvmtiHeapRootKind, jvmtiIterationControl,
    jvmtiObjectReferenceKind, jvmtiPrimitiveType,
};

/// Body of an agent thread (`RunAgentThread`).
pub type jvmtiStartFunction =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, arg: *mut c_void);

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

/// Called for each primitive field of a visited object.
pub type jvmtiPrimitiveFieldCallback = unsafe extern "system" fn(
    kind: jvmtiHeapReferenceKind,
    info: *const jvmtiHeapReferenceInfo,
    object_class_tag: jlong,
    object_tag_ptr: *mut jlong,
    value: jvalue,
    value_type: jvmtiPrimitiveType,
    user_data: *mut c_void,
) -> jint;

/// Called with the contents of each visited array of primitives.
pub type jvmtiArrayPrimitiveValueCallback = unsafe extern "system" fn(
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    element_count: jint,
    element_type: jvmtiPrimitiveType,
    elements: *const c_void,
    user_data: *mut c_void,
) -> jint;

/// Called with the UTF-16 contents of each visited `java.lang.String`.
pub type jvmtiStringPrimitiveValueCallback = unsafe extern "system" fn(
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    value: *const jchar,
    value_length: jint,
    user_data: *mut c_void,
) -> jint;

/// Place kept for callbacks of later versions.
pub type jvmtiReservedCallback = unsafe extern "system" fn() -> jint;

/// Object callback of the heap functions of JVM TI 1.0.
pub type jvmtiHeapObjectCallback = unsafe extern "system" fn(
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    user_data: *mut c_void,
) -> jvmtiIterationControl;

/// Root callback of the heap functions of JVM TI 1.0.
pub type jvmtiHeapRootCallback = unsafe extern "system" fn(
    root_kind: jvmtiHeapRootKind,
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    user_data: *mut c_void,
) -> jvmtiIterationControl;

/// Stack reference callback of the heap functions of JVM TI 1.0.
pub type jvmtiStackReferenceCallback = unsafe extern "system" fn(
    root_kind: jvmtiHeapRootKind,
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    thread_tag: jlong,
    depth: jint,
    method: jmethodID,
    slot: jint,
    user_data: *mut c_void,
) -> jvmtiIterationControl;

/// Object reference callback of the heap functions of JVM TI 1.0.
pub type jvmtiObjectReferenceCallback = unsafe extern "system" fn(
    reference_kind: jvmtiObjectReferenceKind,
    class_tag: jlong,
    size: jlong,
    tag_ptr: *mut jlong,
    referrer_tag: jlong,
    referrer_index: jint,
    user_data: *mut c_void,
) -> jvmtiIterationControl;

/// An extension function of the VM; its parameters are described by `jvmtiExtensionFunctionInfo`.
pub type jvmtiExtensionFunction = unsafe extern "C" fn(jvmti_env: *mut jvmtiEnv, ...) -> jvmtiError;

/// Callback of an extension event. Variadic in C: an agent defines an `extern "C"` function with the parameters that
/// `jvmtiExtensionEventInfo` describes, and transmutes it.
pub type jvmtiExtensionEvent = unsafe extern "C" fn(jvmti_env: *mut jvmtiEnv, ...);
