//! The function table of an environment.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

use jni_sys::{JNINativeInterface_, jclass, jfieldID, jint, jlong, jmethodID, jobject};

use crate::*;

/// The type of one slot, or of some that nobody here calls.
macro_rules! slot {
    (unused($count:literal)) => { [*mut c_void; $count] };
    (function($($arg:ident: $ty:ty),*)) => {
        Option<unsafe extern "system" fn(env: *mut jvmtiEnv $(, $arg: $ty)*) -> jvmtiError>
    };
    (variadic($($arg:ident: $ty:ty),*)) => {
        Option<unsafe extern "C" fn(env: *mut jvmtiEnv $(, $arg: $ty)*, ...) -> jvmtiError>
    };
}

/// Defines the table from one row per slot, and proves at compile time that each row stands where its number says.
macro_rules! table {
    ($([$number:literal] $name:ident: $kind:ident($($args:tt)*);)*) => {
        /// The functions of an environment that Martini calls, in the order of JDK 25's `jvmti.h`.
        ///
        /// The table of an older VM is shorter or has gaps: a slot may be `None`, and on JDK 8 the last slot (156) lies
        /// behind the table. Ask `GetVersionNumber` before reading a slot that is newer than JVM TI 1.2 (94, 156).
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct jvmtiInterface_1_ {
            $(pub $name: slot!($kind($($args)*)),)*
        }

        /// Name and offset in bytes of every slot.
        pub const SLOTS: &[(&str, usize)] = &[$((stringify!($name), offset_of!(jvmtiInterface_1_, $name)),)*];

        const _: () = {
            $(assert!(offset_of!(jvmtiInterface_1_, $name) == ($number - 1) * size_of::<usize>());)*
        };
    };
}

table! {
    [1] unused1: unused(1);
    [2] SetEventNotificationMode: variadic(mode: jvmtiEventMode, event_type: jvmtiEvent, event_thread: jthread);
    [3] unused3: unused(1);
    [4] GetAllThreads: function(threads_count_ptr: *mut jint, threads_ptr: *mut *mut jthread);
    [5] unused5: unused(4);
    [9] GetThreadInfo: function(thread: jthread, info_ptr: *mut jvmtiThreadInfo);
    [10] GetOwnedMonitorInfo: function(
        thread: jthread, owned_monitor_count_ptr: *mut jint, owned_monitors_ptr: *mut *mut jobject
    );
    [11] GetCurrentContendedMonitor: function(thread: jthread, monitor_ptr: *mut jobject);
    [12] RunAgentThread: function(thread: jthread, proc: jvmtiStartFunction, arg: *const c_void, priority: jint);
    [13] unused13: unused(1);
    [14] GetThreadGroupInfo: function(group: jthreadGroup, info_ptr: *mut jvmtiThreadGroupInfo);
    [15] unused15: unused(1);
    [16] GetFrameCount: function(thread: jthread, count_ptr: *mut jint);
    [17] GetThreadState: function(thread: jthread, thread_state_ptr: *mut jint);
    [18] GetCurrentThread: function(thread_ptr: *mut jthread);
    [19] unused19: unused(19);
    [38] SetBreakpoint: function(method: jmethodID, location: jlocation);
    [39] ClearBreakpoint: function(method: jmethodID, location: jlocation);
    [40] unused40: unused(5);
    [45] IsModifiableClass: function(klass: jclass, is_modifiable_class_ptr: *mut jboolean);
    [46] Allocate: function(size: jlong, mem_ptr: *mut *mut u8);
    [47] Deallocate: function(mem: *mut u8);
    [48] GetClassSignature: function(klass: jclass, signature_ptr: *mut *mut c_char, generic_ptr: *mut *mut c_char);
    [49] GetClassStatus: function(klass: jclass, status_ptr: *mut jint);
    [50] GetSourceFileName: function(klass: jclass, source_name_ptr: *mut *mut c_char);
    [51] GetClassModifiers: function(klass: jclass, modifiers_ptr: *mut jint);
    [52] GetClassMethods: function(klass: jclass, method_count_ptr: *mut jint, methods_ptr: *mut *mut jmethodID);
    [53] GetClassFields: function(klass: jclass, field_count_ptr: *mut jint, fields_ptr: *mut *mut jfieldID);
    [54] unused54: unused(2);
    [56] IsArrayClass: function(klass: jclass, is_array_class_ptr: *mut jboolean);
    [57] GetClassLoader: function(klass: jclass, classloader_ptr: *mut jobject);
    [58] unused58: unused(1);
    [59] GetObjectMonitorUsage: function(object: jobject, info_ptr: *mut jvmtiMonitorUsage);
    [60] GetFieldName: function(
        klass: jclass, field: jfieldID, name_ptr: *mut *mut c_char, signature_ptr: *mut *mut c_char,
        generic_ptr: *mut *mut c_char
    );
    [61] unused61: unused(1);
    [62] GetFieldModifiers: function(klass: jclass, field: jfieldID, modifiers_ptr: *mut jint);
    [63] unused63: unused(1);
    [64] GetMethodName: function(
        method: jmethodID, name_ptr: *mut *mut c_char, signature_ptr: *mut *mut c_char,
        generic_ptr: *mut *mut c_char
    );
    [65] GetMethodDeclaringClass: function(method: jmethodID, declaring_class_ptr: *mut jclass);
    [66] GetMethodModifiers: function(method: jmethodID, modifiers_ptr: *mut jint);
    [67] unused67: unused(3);
    [70] GetLineNumberTable: function(
        method: jmethodID, entry_count_ptr: *mut jint, table_ptr: *mut *mut jvmtiLineNumberEntry
    );
    [71] unused71: unused(4);
    [75] GetBytecodes: function(method: jmethodID, bytecode_count_ptr: *mut jint, bytecodes_ptr: *mut *mut u8);
    [76] unused76: unused(2);
    [78] GetLoadedClasses: function(class_count_ptr: *mut jint, classes_ptr: *mut *mut jclass);
    [79] unused79: unused(9);
    [88] GetVersionNumber: function(version_ptr: *mut jint);
    [89] GetCapabilities: function(capabilities_ptr: *mut jvmtiCapabilities);
    [90] unused90: unused(4);
    [94] AddModuleReads: function(module: jobject, to_module: jobject);
    [95] unused95: unused(7);
    [102] GetThreadLocalStorage: function(thread: jthread, data_ptr: *mut *mut c_void);
    [103] SetThreadLocalStorage: function(thread: jthread, data: *const c_void);
    [104] GetStackTrace: function(
        thread: jthread, start_depth: jint, max_frame_count: jint, frame_buffer: *mut jvmtiFrameInfo,
        count_ptr: *mut jint
    );
    [105] unused105: unused(1);
    [106] GetTag: function(object: jobject, tag_ptr: *mut jlong);
    [107] SetTag: function(object: jobject, tag: jlong);
    [108] ForceGarbageCollection: function();
    [109] unused109: unused(5);
    [114] GetObjectsWithTags: function(
        tag_count: jint, tags: *const jlong, count_ptr: *mut jint, object_result_ptr: *mut *mut jobject,
        tag_result_ptr: *mut *mut jlong
    );
    [115] FollowReferences: function(
        heap_filter: jint, klass: jclass, initial_object: jobject, callbacks: *const jvmtiHeapCallbacks,
        user_data: *const c_void
    );
    [116] IterateThroughHeap: function(
        heap_filter: jint, klass: jclass, callbacks: *const jvmtiHeapCallbacks, user_data: *const c_void
    );
    [117] unused117: unused(3);
    [120] SetJNIFunctionTable: function(function_table: *const JNINativeInterface_);
    [121] GetJNIFunctionTable: function(function_table: *mut *mut JNINativeInterface_);
    [122] SetEventCallbacks: function(callbacks: *const jvmtiEventCallbacks, size_of_callbacks: jint);
    [123] unused123: unused(2);
    [125] GetExtensionEvents: function(extension_count_ptr: *mut jint, extensions: *mut *mut jvmtiExtensionEventInfo);
    [126] SetExtensionEventCallback: function(extension_event_index: jint, callback: Option<jvmtiExtensionEvent>);
    [127] unused127: unused(4);
    [131] GetSystemProperty: function(property: *const c_char, value_ptr: *mut *mut c_char);
    [132] unused132: unused(1);
    [133] GetPhase: function(phase_ptr: *mut jvmtiPhase);
    [134] unused134: unused(3);
    [137] GetThreadCpuTime: function(thread: jthread, nanos_ptr: *mut jlong);
    [138] unused138: unused(2);
    [140] GetPotentialCapabilities: function(capabilities_ptr: *mut jvmtiCapabilities);
    [141] unused141: unused(1);
    [142] AddCapabilities: function(capabilities_ptr: *const jvmtiCapabilities);
    [143] RelinquishCapabilities: function(capabilities_ptr: *const jvmtiCapabilities);
    [144] unused144: unused(2);
    [146] GetConstantPool: function(
        klass: jclass, constant_pool_count_ptr: *mut jint, constant_pool_byte_count_ptr: *mut jint,
        constant_pool_bytes_ptr: *mut *mut u8
    );
    [147] unused147: unused(5);
    [152] RetransformClasses: function(class_count: jint, classes: *const jclass);
    [153] unused153: unused(1);
    [154] GetObjectSize: function(object: jobject, size_ptr: *mut jlong);
    [155] unused155: unused(1);
    [156] SetHeapSamplingInterval: function(sampling_interval: jint);
}
