//! The function table of an environment.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

use jni_sys::{JNINativeInterface_, jclass, jdouble, jfieldID, jfloat, jint, jlong, jmethodID, jobject};

use crate::*;

/// The type of one slot.
macro_rules! slot {
    (reserved()) => { *mut c_void };
    (function($($arg:ident: $ty:ty),*)) => {
        Option<unsafe extern "system" fn(env: *mut jvmtiEnv $(, $arg: $ty)*) -> jvmtiError>
    };
    (variadic($($arg:ident: $ty:ty),*)) => {
        Option<unsafe extern "C" fn(env: *mut jvmtiEnv $(, $arg: $ty)*, ...) -> jvmtiError>
    };
}

/// Defines the table from one row per slot, and proves at compile time that each row stands where its number says.
macro_rules! table {
    ($([$number:literal] $name:ident: $kind:ident($($arg:ident: $ty:ty),*);)*) => {
        /// The functions of an environment, in the order of JDK 25's `jvmti.h`.
        ///
        /// The table of an older VM is shorter or has gaps: a slot may be `None`, and on JDK 8 the last slot (156) lies
        /// behind the table. Ask `GetVersionNumber` before reading a slot that is newer than JVM TI 1.2 (3, 40, 67, 94
        /// to 99, 118, 119, 156).
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct jvmtiInterface_1_ {
            $(pub $name: slot!($kind($($arg: $ty),*)),)*
        }

        /// Number (from 1), name and offset in bytes of every slot.
        pub const SLOTS: &[(usize, &str, usize)] =
            &[$(($number, stringify!($name), offset_of!(jvmtiInterface_1_, $name)),)*];

        const _: () = {
            $(assert!(offset_of!(jvmtiInterface_1_, $name) == ($number - 1) * size_of::<usize>());)*
        };
    };
}

table! {
    [1] reserved1: reserved();
    [2] SetEventNotificationMode: variadic(mode: jvmtiEventMode, event_type: jvmtiEvent, event_thread: jthread);
    [3] GetAllModules: function(module_count_ptr: *mut jint, modules_ptr: *mut *mut jobject);
    [4] GetAllThreads: function(threads_count_ptr: *mut jint, threads_ptr: *mut *mut jthread);
    [5] SuspendThread: function(thread: jthread);
    [6] ResumeThread: function(thread: jthread);
    [7] StopThread: function(thread: jthread, exception: jobject);
    [8] InterruptThread: function(thread: jthread);
    [9] GetThreadInfo: function(thread: jthread, info_ptr: *mut jvmtiThreadInfo);
    [10] GetOwnedMonitorInfo: function(
        thread: jthread, owned_monitor_count_ptr: *mut jint, owned_monitors_ptr: *mut *mut jobject
    );
    [11] GetCurrentContendedMonitor: function(thread: jthread, monitor_ptr: *mut jobject);
    [12] RunAgentThread: function(thread: jthread, proc: jvmtiStartFunction, arg: *const c_void, priority: jint);
    [13] GetTopThreadGroups: function(group_count_ptr: *mut jint, groups_ptr: *mut *mut jthreadGroup);
    [14] GetThreadGroupInfo: function(group: jthreadGroup, info_ptr: *mut jvmtiThreadGroupInfo);
    [15] GetThreadGroupChildren: function(
        group: jthreadGroup, thread_count_ptr: *mut jint, threads_ptr: *mut *mut jthread,
        group_count_ptr: *mut jint, groups_ptr: *mut *mut jthreadGroup
    );
    [16] GetFrameCount: function(thread: jthread, count_ptr: *mut jint);
    [17] GetThreadState: function(thread: jthread, thread_state_ptr: *mut jint);
    [18] GetCurrentThread: function(thread_ptr: *mut jthread);
    [19] GetFrameLocation: function(
        thread: jthread, depth: jint, method_ptr: *mut jmethodID, location_ptr: *mut jlocation
    );
    [20] NotifyFramePop: function(thread: jthread, depth: jint);
    [21] GetLocalObject: function(thread: jthread, depth: jint, slot: jint, value_ptr: *mut jobject);
    [22] GetLocalInt: function(thread: jthread, depth: jint, slot: jint, value_ptr: *mut jint);
    [23] GetLocalLong: function(thread: jthread, depth: jint, slot: jint, value_ptr: *mut jlong);
    [24] GetLocalFloat: function(thread: jthread, depth: jint, slot: jint, value_ptr: *mut jfloat);
    [25] GetLocalDouble: function(thread: jthread, depth: jint, slot: jint, value_ptr: *mut jdouble);
    [26] SetLocalObject: function(thread: jthread, depth: jint, slot: jint, value: jobject);
    [27] SetLocalInt: function(thread: jthread, depth: jint, slot: jint, value: jint);
    [28] SetLocalLong: function(thread: jthread, depth: jint, slot: jint, value: jlong);
    [29] SetLocalFloat: function(thread: jthread, depth: jint, slot: jint, value: jfloat);
    [30] SetLocalDouble: function(thread: jthread, depth: jint, slot: jint, value: jdouble);
    [31] CreateRawMonitor: function(name: *const c_char, monitor_ptr: *mut jrawMonitorID);
    [32] DestroyRawMonitor: function(monitor: jrawMonitorID);
    [33] RawMonitorEnter: function(monitor: jrawMonitorID);
    [34] RawMonitorExit: function(monitor: jrawMonitorID);
    [35] RawMonitorWait: function(monitor: jrawMonitorID, millis: jlong);
    [36] RawMonitorNotify: function(monitor: jrawMonitorID);
    [37] RawMonitorNotifyAll: function(monitor: jrawMonitorID);
    [38] SetBreakpoint: function(method: jmethodID, location: jlocation);
    [39] ClearBreakpoint: function(method: jmethodID, location: jlocation);
    [40] GetNamedModule: function(class_loader: jobject, package_name: *const c_char, module_ptr: *mut jobject);
    [41] SetFieldAccessWatch: function(klass: jclass, field: jfieldID);
    [42] ClearFieldAccessWatch: function(klass: jclass, field: jfieldID);
    [43] SetFieldModificationWatch: function(klass: jclass, field: jfieldID);
    [44] ClearFieldModificationWatch: function(klass: jclass, field: jfieldID);
    [45] IsModifiableClass: function(klass: jclass, is_modifiable_class_ptr: *mut jboolean);
    [46] Allocate: function(size: jlong, mem_ptr: *mut *mut u8);
    [47] Deallocate: function(mem: *mut u8);
    [48] GetClassSignature: function(klass: jclass, signature_ptr: *mut *mut c_char, generic_ptr: *mut *mut c_char);
    [49] GetClassStatus: function(klass: jclass, status_ptr: *mut jint);
    [50] GetSourceFileName: function(klass: jclass, source_name_ptr: *mut *mut c_char);
    [51] GetClassModifiers: function(klass: jclass, modifiers_ptr: *mut jint);
    [52] GetClassMethods: function(klass: jclass, method_count_ptr: *mut jint, methods_ptr: *mut *mut jmethodID);
    [53] GetClassFields: function(klass: jclass, field_count_ptr: *mut jint, fields_ptr: *mut *mut jfieldID);
    [54] GetImplementedInterfaces: function(
        klass: jclass, interface_count_ptr: *mut jint, interfaces_ptr: *mut *mut jclass
    );
    [55] IsInterface: function(klass: jclass, is_interface_ptr: *mut jboolean);
    [56] IsArrayClass: function(klass: jclass, is_array_class_ptr: *mut jboolean);
    [57] GetClassLoader: function(klass: jclass, classloader_ptr: *mut jobject);
    [58] GetObjectHashCode: function(object: jobject, hash_code_ptr: *mut jint);
    [59] GetObjectMonitorUsage: function(object: jobject, info_ptr: *mut jvmtiMonitorUsage);
    [60] GetFieldName: function(
        klass: jclass, field: jfieldID, name_ptr: *mut *mut c_char, signature_ptr: *mut *mut c_char,
        generic_ptr: *mut *mut c_char
    );
    [61] GetFieldDeclaringClass: function(klass: jclass, field: jfieldID, declaring_class_ptr: *mut jclass);
    [62] GetFieldModifiers: function(klass: jclass, field: jfieldID, modifiers_ptr: *mut jint);
    [63] IsFieldSynthetic: function(klass: jclass, field: jfieldID, is_synthetic_ptr: *mut jboolean);
    [64] GetMethodName: function(
        method: jmethodID, name_ptr: *mut *mut c_char, signature_ptr: *mut *mut c_char,
        generic_ptr: *mut *mut c_char
    );
    [65] GetMethodDeclaringClass: function(method: jmethodID, declaring_class_ptr: *mut jclass);
    [66] GetMethodModifiers: function(method: jmethodID, modifiers_ptr: *mut jint);
    [67] ClearAllFramePops: function(thread: jthread);
    [68] GetMaxLocals: function(method: jmethodID, max_ptr: *mut jint);
    [69] GetArgumentsSize: function(method: jmethodID, size_ptr: *mut jint);
    [70] GetLineNumberTable: function(
        method: jmethodID, entry_count_ptr: *mut jint, table_ptr: *mut *mut jvmtiLineNumberEntry
    );
    [71] GetMethodLocation: function(
        method: jmethodID, start_location_ptr: *mut jlocation, end_location_ptr: *mut jlocation
    );
    [72] GetLocalVariableTable: function(
        method: jmethodID, entry_count_ptr: *mut jint, table_ptr: *mut *mut jvmtiLocalVariableEntry
    );
    [73] SetNativeMethodPrefix: function(prefix: *const c_char);
    [74] SetNativeMethodPrefixes: function(prefix_count: jint, prefixes: *mut *mut c_char);
    [75] GetBytecodes: function(method: jmethodID, bytecode_count_ptr: *mut jint, bytecodes_ptr: *mut *mut u8);
    [76] IsMethodNative: function(method: jmethodID, is_native_ptr: *mut jboolean);
    [77] IsMethodSynthetic: function(method: jmethodID, is_synthetic_ptr: *mut jboolean);
    [78] GetLoadedClasses: function(class_count_ptr: *mut jint, classes_ptr: *mut *mut jclass);
    [79] GetClassLoaderClasses: function(
        initiating_loader: jobject, class_count_ptr: *mut jint, classes_ptr: *mut *mut jclass
    );
    [80] PopFrame: function(thread: jthread);
    [81] ForceEarlyReturnObject: function(thread: jthread, value: jobject);
    [82] ForceEarlyReturnInt: function(thread: jthread, value: jint);
    [83] ForceEarlyReturnLong: function(thread: jthread, value: jlong);
    [84] ForceEarlyReturnFloat: function(thread: jthread, value: jfloat);
    [85] ForceEarlyReturnDouble: function(thread: jthread, value: jdouble);
    [86] ForceEarlyReturnVoid: function(thread: jthread);
    [87] RedefineClasses: function(class_count: jint, class_definitions: *const jvmtiClassDefinition);
    [88] GetVersionNumber: function(version_ptr: *mut jint);
    [89] GetCapabilities: function(capabilities_ptr: *mut jvmtiCapabilities);
    [90] GetSourceDebugExtension: function(klass: jclass, source_debug_extension_ptr: *mut *mut c_char);
    [91] IsMethodObsolete: function(method: jmethodID, is_obsolete_ptr: *mut jboolean);
    [92] SuspendThreadList: function(request_count: jint, request_list: *const jthread, results: *mut jvmtiError);
    [93] ResumeThreadList: function(request_count: jint, request_list: *const jthread, results: *mut jvmtiError);
    [94] AddModuleReads: function(module: jobject, to_module: jobject);
    [95] AddModuleExports: function(module: jobject, pkg_name: *const c_char, to_module: jobject);
    [96] AddModuleOpens: function(module: jobject, pkg_name: *const c_char, to_module: jobject);
    [97] AddModuleUses: function(module: jobject, service: jclass);
    [98] AddModuleProvides: function(module: jobject, service: jclass, impl_class: jclass);
    [99] IsModifiableModule: function(module: jobject, is_modifiable_module_ptr: *mut jboolean);
    [100] GetAllStackTraces: function(
        max_frame_count: jint, stack_info_ptr: *mut *mut jvmtiStackInfo, thread_count_ptr: *mut jint
    );
    [101] GetThreadListStackTraces: function(
        thread_count: jint, thread_list: *const jthread, max_frame_count: jint,
        stack_info_ptr: *mut *mut jvmtiStackInfo
    );
    [102] GetThreadLocalStorage: function(thread: jthread, data_ptr: *mut *mut c_void);
    [103] SetThreadLocalStorage: function(thread: jthread, data: *const c_void);
    [104] GetStackTrace: function(
        thread: jthread, start_depth: jint, max_frame_count: jint, frame_buffer: *mut jvmtiFrameInfo,
        count_ptr: *mut jint
    );
    [105] reserved105: reserved();
    [106] GetTag: function(object: jobject, tag_ptr: *mut jlong);
    [107] SetTag: function(object: jobject, tag: jlong);
    [108] ForceGarbageCollection: function();
    [109] IterateOverObjectsReachableFromObject: function(
        object: jobject, object_reference_callback: jvmtiObjectReferenceCallback, user_data: *const c_void
    );
    [110] IterateOverReachableObjects: function(
        heap_root_callback: Option<jvmtiHeapRootCallback>, stack_ref_callback: Option<jvmtiStackReferenceCallback>,
        object_ref_callback: Option<jvmtiObjectReferenceCallback>, user_data: *const c_void
    );
    [111] IterateOverHeap: function(
        object_filter: jvmtiHeapObjectFilter, heap_object_callback: jvmtiHeapObjectCallback,
        user_data: *const c_void
    );
    [112] IterateOverInstancesOfClass: function(
        klass: jclass, object_filter: jvmtiHeapObjectFilter, heap_object_callback: jvmtiHeapObjectCallback,
        user_data: *const c_void
    );
    [113] reserved113: reserved();
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
    [117] reserved117: reserved();
    [118] SuspendAllVirtualThreads: function(except_count: jint, except_list: *const jthread);
    [119] ResumeAllVirtualThreads: function(except_count: jint, except_list: *const jthread);
    [120] SetJNIFunctionTable: function(function_table: *const JNINativeInterface_);
    [121] GetJNIFunctionTable: function(function_table: *mut *mut JNINativeInterface_);
    [122] SetEventCallbacks: function(callbacks: *const jvmtiEventCallbacks, size_of_callbacks: jint);
    [123] GenerateEvents: function(event_type: jvmtiEvent);
    [124] GetExtensionFunctions: function(
        extension_count_ptr: *mut jint, extensions: *mut *mut jvmtiExtensionFunctionInfo
    );
    [125] GetExtensionEvents: function(extension_count_ptr: *mut jint, extensions: *mut *mut jvmtiExtensionEventInfo);
    [126] SetExtensionEventCallback: function(extension_event_index: jint, callback: Option<jvmtiExtensionEvent>);
    [127] DisposeEnvironment: function();
    [128] GetErrorName: function(error: jvmtiError, name_ptr: *mut *mut c_char);
    [129] GetJLocationFormat: function(format_ptr: *mut jvmtiJlocationFormat);
    [130] GetSystemProperties: function(count_ptr: *mut jint, property_ptr: *mut *mut *mut c_char);
    [131] GetSystemProperty: function(property: *const c_char, value_ptr: *mut *mut c_char);
    [132] SetSystemProperty: function(property: *const c_char, value_ptr: *const c_char);
    [133] GetPhase: function(phase_ptr: *mut jvmtiPhase);
    [134] GetCurrentThreadCpuTimerInfo: function(info_ptr: *mut jvmtiTimerInfo);
    [135] GetCurrentThreadCpuTime: function(nanos_ptr: *mut jlong);
    [136] GetThreadCpuTimerInfo: function(info_ptr: *mut jvmtiTimerInfo);
    [137] GetThreadCpuTime: function(thread: jthread, nanos_ptr: *mut jlong);
    [138] GetTimerInfo: function(info_ptr: *mut jvmtiTimerInfo);
    [139] GetTime: function(nanos_ptr: *mut jlong);
    [140] GetPotentialCapabilities: function(capabilities_ptr: *mut jvmtiCapabilities);
    [141] reserved141: reserved();
    [142] AddCapabilities: function(capabilities_ptr: *const jvmtiCapabilities);
    [143] RelinquishCapabilities: function(capabilities_ptr: *const jvmtiCapabilities);
    [144] GetAvailableProcessors: function(processor_count_ptr: *mut jint);
    [145] GetClassVersionNumbers: function(klass: jclass, minor_version_ptr: *mut jint, major_version_ptr: *mut jint);
    [146] GetConstantPool: function(
        klass: jclass, constant_pool_count_ptr: *mut jint, constant_pool_byte_count_ptr: *mut jint,
        constant_pool_bytes_ptr: *mut *mut u8
    );
    [147] GetEnvironmentLocalStorage: function(data_ptr: *mut *mut c_void);
    [148] SetEnvironmentLocalStorage: function(data: *const c_void);
    [149] AddToBootstrapClassLoaderSearch: function(segment: *const c_char);
    [150] SetVerboseFlag: function(flag: jvmtiVerboseFlag, value: jboolean);
    [151] AddToSystemClassLoaderSearch: function(segment: *const c_char);
    [152] RetransformClasses: function(class_count: jint, classes: *const jclass);
    [153] GetOwnedMonitorStackDepthInfo: function(
        thread: jthread, monitor_info_count_ptr: *mut jint, monitor_info_ptr: *mut *mut jvmtiMonitorStackDepthInfo
    );
    [154] GetObjectSize: function(object: jobject, size_ptr: *mut jlong);
    [155] GetLocalInstance: function(thread: jthread, depth: jint, value_ptr: *mut jobject);
    [156] SetHeapSamplingInterval: function(sampling_interval: jint);
}
