//! Event callbacks: one function type per event, and the structure that `SetEventCallbacks` takes.

use std::ffi::{c_char, c_void};

use jni_sys::{JNIEnv, jclass, jfieldID, jint, jlong, jmethodID, jobject, jvalue};

use crate::{jboolean, jlocation, jthread, jvmtiAddrLocationMap, jvmtiEnv};

/// Place kept for events of later versions.
pub type jvmtiEventReserved = unsafe extern "system" fn();

/// Callback of event "Breakpoint".
pub type jvmtiEventBreakpoint = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
);

/// Callback of event "Class File Load Hook".
pub type jvmtiEventClassFileLoadHook = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    class_being_redefined: jclass,
    loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    class_data_len: jint,
    class_data: *const u8,
    new_class_data_len: *mut jint,
    new_class_data: *mut *mut u8,
);

/// Callback of event "Class Load".
pub type jvmtiEventClassLoad =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread, klass: jclass);

/// Callback of event "Class Prepare".
pub type jvmtiEventClassPrepare =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread, klass: jclass);

/// Callback of event "Compiled Method Load".
pub type jvmtiEventCompiledMethodLoad = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    method: jmethodID,
    code_size: jint,
    code_addr: *const c_void,
    map_length: jint,
    map: *const jvmtiAddrLocationMap,
    compile_info: *const c_void,
);

/// Callback of event "Compiled Method Unload".
pub type jvmtiEventCompiledMethodUnload =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, method: jmethodID, code_addr: *const c_void);

/// Callback of event "Data Dump Request".
pub type jvmtiEventDataDumpRequest = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv);

/// Callback of event "Dynamic Code Generated".
pub type jvmtiEventDynamicCodeGenerated =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, name: *const c_char, address: *const c_void, length: jint);

/// Callback of event "Exception".
pub type jvmtiEventException = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
    exception: jobject,
    catch_method: jmethodID,
    catch_location: jlocation,
);

/// Callback of event "Exception Catch".
pub type jvmtiEventExceptionCatch = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
    exception: jobject,
);

/// Callback of event "Field Access".
pub type jvmtiEventFieldAccess = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
    field_klass: jclass,
    object: jobject,
    field: jfieldID,
);

/// Callback of event "Field Modification".
pub type jvmtiEventFieldModification = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
    field_klass: jclass,
    object: jobject,
    field: jfieldID,
    signature_type: c_char,
    new_value: jvalue,
);

/// Callback of event "Frame Pop".
pub type jvmtiEventFramePop = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    was_popped_by_exception: jboolean,
);

/// Callback of event "Garbage Collection Finish".
pub type jvmtiEventGarbageCollectionFinish = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv);

/// Callback of event "Garbage Collection Start".
pub type jvmtiEventGarbageCollectionStart = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv);

/// Callback of event "Method Entry".
pub type jvmtiEventMethodEntry =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread, method: jmethodID);

/// Callback of event "Method Exit".
pub type jvmtiEventMethodExit = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    was_popped_by_exception: jboolean,
    return_value: jvalue,
);

/// Callback of event "Monitor Contended Enter".
pub type jvmtiEventMonitorContendedEnter =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread, object: jobject);

/// Callback of event "Monitor Contended Entered".
pub type jvmtiEventMonitorContendedEntered =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread, object: jobject);

/// Callback of event "Monitor Wait".
pub type jvmtiEventMonitorWait = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    timeout: jlong,
);

/// Callback of event "Monitor Waited".
pub type jvmtiEventMonitorWaited = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    timed_out: jboolean,
);

/// Callback of event "Native Method Bind".
pub type jvmtiEventNativeMethodBind = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    address: *mut c_void,
    new_address_ptr: *mut *mut c_void,
);

/// Callback of event "Object Free".
pub type jvmtiEventObjectFree = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, tag: jlong);

/// Callback of event "Resource Exhausted".
pub type jvmtiEventResourceExhausted = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    flags: jint,
    reserved: *const c_void,
    description: *const c_char,
);

/// Callback of event "Sampled Object Allocation".
pub type jvmtiEventSampledObjectAlloc = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    object_klass: jclass,
    size: jlong,
);

/// Callback of event "Single Step".
pub type jvmtiEventSingleStep = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: jlocation,
);

/// Callback of event "Thread End".
pub type jvmtiEventThreadEnd =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread);

/// Callback of event "Thread Start".
pub type jvmtiEventThreadStart =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread);

/// Callback of event "Virtual Thread End".
pub type jvmtiEventVirtualThreadEnd =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, virtual_thread: jthread);

/// Callback of event "Virtual Thread Start".
pub type jvmtiEventVirtualThreadStart =
    unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, virtual_thread: jthread);

/// Callback of event "VM Death".
pub type jvmtiEventVMDeath = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv);

/// Callback of event "VM Initialization".
pub type jvmtiEventVMInit = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv, thread: jthread);

/// Callback of event "VM Object Allocation".
pub type jvmtiEventVMObjectAlloc = unsafe extern "system" fn(
    jvmti_env: *mut jvmtiEnv,
    jni_env: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    object_klass: jclass,
    size: jlong,
);

/// Callback of event "VM Start".
pub type jvmtiEventVMStart = unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv, jni_env: *mut JNIEnv);

/// The callbacks of an environment, one member per event number from 50 on. A VM that knows fewer events reads only the
/// part it knows; `size_of::<jvmtiEventCallbacks>()` is the size to pass.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jvmtiEventCallbacks {
    /// 50
    pub VMInit: Option<jvmtiEventVMInit>,
    /// 51
    pub VMDeath: Option<jvmtiEventVMDeath>,
    /// 52
    pub ThreadStart: Option<jvmtiEventThreadStart>,
    /// 53
    pub ThreadEnd: Option<jvmtiEventThreadEnd>,
    /// 54
    pub ClassFileLoadHook: Option<jvmtiEventClassFileLoadHook>,
    /// 55
    pub ClassLoad: Option<jvmtiEventClassLoad>,
    /// 56
    pub ClassPrepare: Option<jvmtiEventClassPrepare>,
    /// 57
    pub VMStart: Option<jvmtiEventVMStart>,
    /// 58
    pub Exception: Option<jvmtiEventException>,
    /// 59
    pub ExceptionCatch: Option<jvmtiEventExceptionCatch>,
    /// 60
    pub SingleStep: Option<jvmtiEventSingleStep>,
    /// 61
    pub FramePop: Option<jvmtiEventFramePop>,
    /// 62
    pub Breakpoint: Option<jvmtiEventBreakpoint>,
    /// 63
    pub FieldAccess: Option<jvmtiEventFieldAccess>,
    /// 64
    pub FieldModification: Option<jvmtiEventFieldModification>,
    /// 65
    pub MethodEntry: Option<jvmtiEventMethodEntry>,
    /// 66
    pub MethodExit: Option<jvmtiEventMethodExit>,
    /// 67
    pub NativeMethodBind: Option<jvmtiEventNativeMethodBind>,
    /// 68
    pub CompiledMethodLoad: Option<jvmtiEventCompiledMethodLoad>,
    /// 69
    pub CompiledMethodUnload: Option<jvmtiEventCompiledMethodUnload>,
    /// 70
    pub DynamicCodeGenerated: Option<jvmtiEventDynamicCodeGenerated>,
    /// 71
    pub DataDumpRequest: Option<jvmtiEventDataDumpRequest>,
    /// 72
    pub reserved72: Option<jvmtiEventReserved>,
    /// 73
    pub MonitorWait: Option<jvmtiEventMonitorWait>,
    /// 74
    pub MonitorWaited: Option<jvmtiEventMonitorWaited>,
    /// 75
    pub MonitorContendedEnter: Option<jvmtiEventMonitorContendedEnter>,
    /// 76
    pub MonitorContendedEntered: Option<jvmtiEventMonitorContendedEntered>,
    /// 77
    pub reserved77: Option<jvmtiEventReserved>,
    /// 78
    pub reserved78: Option<jvmtiEventReserved>,
    /// 79
    pub reserved79: Option<jvmtiEventReserved>,
    /// 80
    pub ResourceExhausted: Option<jvmtiEventResourceExhausted>,
    /// 81
    pub GarbageCollectionStart: Option<jvmtiEventGarbageCollectionStart>,
    /// 82
    pub GarbageCollectionFinish: Option<jvmtiEventGarbageCollectionFinish>,
    /// 83
    pub ObjectFree: Option<jvmtiEventObjectFree>,
    /// 84
    pub VMObjectAlloc: Option<jvmtiEventVMObjectAlloc>,
    /// 85
    pub reserved85: Option<jvmtiEventReserved>,
    /// 86
    pub SampledObjectAlloc: Option<jvmtiEventSampledObjectAlloc>,
    /// 87
    pub VirtualThreadStart: Option<jvmtiEventVirtualThreadStart>,
    /// 88
    pub VirtualThreadEnd: Option<jvmtiEventVirtualThreadEnd>,
}
