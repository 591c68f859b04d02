//! The constants of `jvmti.h` that Martini uses, as plain integers.
//!
//! A value that comes from the VM is never a Rust `enum` here: a newer VM may return numbers that this file does not
//! know, and an `enum` holding one would be undefined behaviour.

use jni_sys::jint;

/// Defines the constants, one group per enumeration of the header, and the list of all of them for the tests.
macro_rules! constants {
    ($($(#[$group:meta])* $ty:ident { $($name:ident = $value:expr;)* })*) => {
        $($(pub const $name: $ty = $value;)*)*

        /// Name and value of every constant of this crate, in the header's order.
        pub const CONSTANTS: &[(&str, jint)] = &[$($((stringify!($name), $name),)*)*];
    };
}

/// Heap Reference Enumeration.
pub type jvmtiHeapReferenceKind = jint;
/// Event Enable/Disable.
pub type jvmtiEventMode = jint;
/// Phases of execution.
pub type jvmtiPhase = jint;
/// Errors.
pub type jvmtiError = jint;
/// Event IDs.
pub type jvmtiEvent = jint;

constants! {
    /// Versions of the interface.
    jint {
        JVMTI_VERSION_1 = 0x3001_0000;
        JVMTI_VERSION_1_2 = 0x3001_0200;
        JVMTI_VERSION_11 = 0x300B_0000;
    }
    /// Thread State Flags.
    jint {
        JVMTI_THREAD_STATE_ALIVE = 0x0001;
        JVMTI_THREAD_STATE_TERMINATED = 0x0002;
        JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER = 0x0400;
        JVMTI_THREAD_STATE_WAITING_INDEFINITELY = 0x0010;
        JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT = 0x0020;
        JVMTI_THREAD_STATE_PARKED = 0x0200;
        JVMTI_THREAD_STATE_INTERRUPTED = 0x200000;
    }
    /// Thread Priority Constants.
    jint {
        JVMTI_THREAD_NORM_PRIORITY = 5;
    }
    /// Heap Filter Flags.
    jint {
        JVMTI_HEAP_FILTER_UNTAGGED = 0x8;
    }
    /// Heap Visit Control Flags.
    jint {
        JVMTI_VISIT_OBJECTS = 0x100;
        JVMTI_VISIT_ABORT = 0x8000;
    }
    /// Heap Reference Enumeration.
    jvmtiHeapReferenceKind {
        JVMTI_HEAP_REFERENCE_FIELD = 2;
        JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT = 3;
        JVMTI_HEAP_REFERENCE_STATIC_FIELD = 8;
    }
    /// Class Status Flags.
    jint {
        JVMTI_CLASS_STATUS_PREPARED = 2;
        JVMTI_CLASS_STATUS_INITIALIZED = 4;
        JVMTI_CLASS_STATUS_ERROR = 8;
    }
    /// Event Enable/Disable.
    jvmtiEventMode {
        JVMTI_ENABLE = 1;
        JVMTI_DISABLE = 0;
    }
    /// Phases of execution.
    jvmtiPhase {
        JVMTI_PHASE_ONLOAD = 1;
        JVMTI_PHASE_LIVE = 4;
    }
    /// Resource Exhaustion Flags.
    jint {
        JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP = 0x0002;
        JVMTI_RESOURCE_EXHAUSTED_THREADS = 0x0004;
    }
    /// Success; [`Error`](crate::Error) has the errors.
    jvmtiError {
        JVMTI_ERROR_NONE = 0;
    }
    /// Event IDs.
    jvmtiEvent {
        JVMTI_EVENT_VM_INIT = 50;
        JVMTI_EVENT_VM_DEATH = 51;
        JVMTI_EVENT_THREAD_START = 52;
        JVMTI_EVENT_THREAD_END = 53;
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK = 54;
        JVMTI_EVENT_CLASS_LOAD = 55;
        JVMTI_EVENT_CLASS_PREPARE = 56;
        JVMTI_EVENT_VM_START = 57;
        JVMTI_EVENT_BREAKPOINT = 62;
        JVMTI_EVENT_DATA_DUMP_REQUEST = 71;
        JVMTI_EVENT_MONITOR_WAIT = 73;
        JVMTI_EVENT_MONITOR_WAITED = 74;
        JVMTI_EVENT_MONITOR_CONTENDED_ENTER = 75;
        JVMTI_EVENT_MONITOR_CONTENDED_ENTERED = 76;
        JVMTI_EVENT_RESOURCE_EXHAUSTED = 80;
        JVMTI_EVENT_GARBAGE_COLLECTION_START = 81;
        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH = 82;
        JVMTI_EVENT_OBJECT_FREE = 83;
        JVMTI_EVENT_VM_OBJECT_ALLOC = 84;
        JVMTI_EVENT_SAMPLED_OBJECT_ALLOC = 86;
        JVMTI_EVENT_VIRTUAL_THREAD_END = 88;
    }
}
