//! The structure that `SetEventCallbacks` takes, with the type of each event's callback.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use jni_sys::{JNIEnv, jclass, jint, jlong, jmethodID, jobject};

use crate::{jboolean, jlocation, jthread, jvmtiEnv};

/// The type of one member, or of some that Martini does not use.
macro_rules! member {
    (unused($count:literal)) => { [Option<unsafe extern "system" fn()>; $count] };
    (event($($arg:ident: $ty:ty),*)) => { Option<unsafe extern "system" fn(jvmti_env: *mut jvmtiEnv $(, $arg: $ty)*)> };
}

/// Defines the structure from one row per event.
macro_rules! events {
    ($($name:ident: $kind:ident($($args:tt)*);)*) => {
        /// The callbacks of an environment, one member per event number from 50 on. A VM that knows fewer events reads only
        /// the part it knows; `size_of::<jvmtiEventCallbacks>()` is the size to pass.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct jvmtiEventCallbacks {
            $(pub $name: member!($kind($($args)*)),)*
        }

        /// Name and offset in bytes of every member.
        pub const CALLBACKS: &[(&str, usize)] = &[$((stringify!($name), offset_of!(jvmtiEventCallbacks, $name)),)*];
    };
}

events! {
    VMInit: event(jni_env: *mut JNIEnv, thread: jthread);
    VMDeath: event(jni_env: *mut JNIEnv);
    ThreadStart: event(jni_env: *mut JNIEnv, thread: jthread);
    ThreadEnd: event(jni_env: *mut JNIEnv, thread: jthread);
    ClassFileLoadHook: event(
        jni_env: *mut JNIEnv, class_being_redefined: jclass, loader: jobject, name: *const c_char,
        protection_domain: jobject, class_data_len: jint, class_data: *const u8, new_class_data_len: *mut jint,
        new_class_data: *mut *mut u8
    );
    ClassLoad: event(jni_env: *mut JNIEnv, thread: jthread, klass: jclass);
    ClassPrepare: event(jni_env: *mut JNIEnv, thread: jthread, klass: jclass);
    VMStart: event(jni_env: *mut JNIEnv);
    unused58: unused(4);
    Breakpoint: event(jni_env: *mut JNIEnv, thread: jthread, method: jmethodID, location: jlocation);
    unused63: unused(8);
    DataDumpRequest: event();
    unused72: unused(1);
    MonitorWait: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject, timeout: jlong);
    MonitorWaited: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject, timed_out: jboolean);
    MonitorContendedEnter: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject);
    MonitorContendedEntered: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject);
    unused77: unused(3);
    ResourceExhausted: event(jni_env: *mut JNIEnv, flags: jint, reserved: *const c_void, description: *const c_char);
    GarbageCollectionStart: event();
    GarbageCollectionFinish: event();
    ObjectFree: event(tag: jlong);
    VMObjectAlloc: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject, object_klass: jclass, size: jlong);
    unused85: unused(1);
    SampledObjectAlloc: event(jni_env: *mut JNIEnv, thread: jthread, object: jobject, object_klass: jclass, size: jlong);
    unused87: unused(1);
    VirtualThreadEnd: event(jni_env: *mut JNIEnv, virtual_thread: jthread);
}
