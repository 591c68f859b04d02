//! The structures of `jvmti.h`, in its order, except capabilities, event callbacks and the function table.

use std::ffi::{c_char, c_void};

use jni_sys::{jclass, jint, jlong, jmethodID, jobject};

use crate::constants::{jvmtiError, jvmtiParamKind, jvmtiParamTypes, jvmtiTimerKind};
use crate::functions::{
    jvmtiArrayPrimitiveValueCallback, jvmtiExtensionFunction, jvmtiHeapIterationCallback, jvmtiHeapReferenceCallback,
    jvmtiPrimitiveFieldCallback, jvmtiReservedCallback, jvmtiStringPrimitiveValueCallback,
};
use crate::{jboolean, jlocation, jthread, jthreadGroup};

/// Result of `GetThreadInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiThreadInfo {
    pub name: *mut c_char,
    pub priority: jint,
    pub is_daemon: jboolean,
    pub thread_group: jthreadGroup,
    pub context_class_loader: jobject,
}

/// Element of the result of `GetOwnedMonitorStackDepthInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiMonitorStackDepthInfo {
    pub monitor: jobject,
    pub stack_depth: jint,
}

/// Result of `GetThreadGroupInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiThreadGroupInfo {
    pub parent: jthreadGroup,
    pub name: *mut c_char,
    pub max_priority: jint,
    pub is_daemon: jboolean,
}

/// One frame of a stack trace.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiFrameInfo {
    pub method: jmethodID,
    pub location: jlocation,
}

/// The stack of one thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiStackInfo {
    pub thread: jthread,
    pub state: jint,
    pub frame_buffer: *mut jvmtiFrameInfo,
    pub frame_count: jint,
}

/// A field that holds a reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoField {
    pub index: jint,
}

/// An array element that holds a reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoArray {
    pub index: jint,
}

/// A constant pool entry that holds a reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoConstantPool {
    pub index: jint,
}

/// A local variable that holds a reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoStackLocal {
    pub thread_tag: jlong,
    pub thread_id: jlong,
    pub depth: jint,
    pub method: jmethodID,
    pub location: jlocation,
    pub slot: jint,
}

/// A JNI local reference.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoJniLocal {
    pub thread_tag: jlong,
    pub thread_id: jlong,
    pub depth: jint,
    pub method: jmethodID,
}

/// Gives the union its size.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapReferenceInfoReserved {
    pub reserved1: jlong,
    pub reserved2: jlong,
    pub reserved3: jlong,
    pub reserved4: jlong,
    pub reserved5: jlong,
    pub reserved6: jlong,
    pub reserved7: jlong,
    pub reserved8: jlong,
}

/// Where a reference was found; which member is valid follows from the `jvmtiHeapReferenceKind`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union jvmtiHeapReferenceInfo {
    pub field: jvmtiHeapReferenceInfoField,
    pub array: jvmtiHeapReferenceInfoArray,
    pub constant_pool: jvmtiHeapReferenceInfoConstantPool,
    pub stack_local: jvmtiHeapReferenceInfoStackLocal,
    pub jni_local: jvmtiHeapReferenceInfoJniLocal,
    pub other: jvmtiHeapReferenceInfoReserved,
}

/// Callbacks of `FollowReferences` and `IterateThroughHeap`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiHeapCallbacks {
    pub heap_iteration_callback: Option<jvmtiHeapIterationCallback>,
    pub heap_reference_callback: Option<jvmtiHeapReferenceCallback>,
    pub primitive_field_callback: Option<jvmtiPrimitiveFieldCallback>,
    pub array_primitive_value_callback: Option<jvmtiArrayPrimitiveValueCallback>,
    pub string_primitive_value_callback: Option<jvmtiStringPrimitiveValueCallback>,
    pub reserved5: Option<jvmtiReservedCallback>,
    pub reserved6: Option<jvmtiReservedCallback>,
    pub reserved7: Option<jvmtiReservedCallback>,
    pub reserved8: Option<jvmtiReservedCallback>,
    pub reserved9: Option<jvmtiReservedCallback>,
    pub reserved10: Option<jvmtiReservedCallback>,
    pub reserved11: Option<jvmtiReservedCallback>,
    pub reserved12: Option<jvmtiReservedCallback>,
    pub reserved13: Option<jvmtiReservedCallback>,
    pub reserved14: Option<jvmtiReservedCallback>,
    pub reserved15: Option<jvmtiReservedCallback>,
}

/// Input of `RedefineClasses`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiClassDefinition {
    pub klass: jclass,
    pub class_byte_count: jint,
    pub class_bytes: *const u8,
}

/// Result of `GetObjectMonitorUsage`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiMonitorUsage {
    pub owner: jthread,
    pub entry_count: jint,
    pub waiter_count: jint,
    pub waiters: *mut jthread,
    pub notify_waiter_count: jint,
    pub notify_waiters: *mut jthread,
}

/// Element of the result of `GetLineNumberTable`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiLineNumberEntry {
    pub start_location: jlocation,
    pub line_number: jint,
}

/// Element of the result of `GetLocalVariableTable`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiLocalVariableEntry {
    pub start_location: jlocation,
    pub length: jint,
    pub name: *mut c_char,
    pub signature: *mut c_char,
    pub generic_signature: *mut c_char,
    pub slot: jint,
}

/// Parameter of an extension function or event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiParamInfo {
    pub name: *mut c_char,
    pub kind: jvmtiParamKind,
    pub base_type: jvmtiParamTypes,
    pub null_ok: jboolean,
}

/// Element of the result of `GetExtensionFunctions`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiExtensionFunctionInfo {
    pub func: Option<jvmtiExtensionFunction>,
    pub id: *mut c_char,
    pub short_description: *mut c_char,
    pub param_count: jint,
    pub params: *mut jvmtiParamInfo,
    pub error_count: jint,
    pub errors: *mut jvmtiError,
}

/// Element of the result of `GetExtensionEvents`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiExtensionEventInfo {
    pub extension_event_index: jint,
    pub id: *mut c_char,
    pub short_description: *mut c_char,
    pub param_count: jint,
    pub params: *mut jvmtiParamInfo,
}

/// Result of `GetTimerInfo` and its relatives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiTimerInfo {
    pub max_value: jlong,
    pub may_skip_forward: jboolean,
    pub may_skip_backward: jboolean,
    pub kind: jvmtiTimerKind,
    pub reserved1: jlong,
    pub reserved2: jlong,
}

/// Address of native code and the location it was compiled from.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiAddrLocationMap {
    pub start_address: *const c_void,
    pub location: jlocation,
}
