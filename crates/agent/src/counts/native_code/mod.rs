//! Objects that native code makes by JNI: the functions that make some are replaced by others, which count what these made.
//!
//! JVMTI offers the table of JNI functions for that ("JNI Function Interception"). A function calls the one in whose place it stands and
//! passes its answer on, so other agents that do the same, `-Xcheck:jni` and native code itself see no difference. The first recording
//! that counts replaces them for as long as the JVM lives: another agent may have put its own before ours by the end.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::new_object;
#[cfg(target_arch = "x86_64")]
use x86_64::new_object;

use std::ffi::c_char;
use std::sync::OnceLock;

use jvmti::jni_sys::{
    JNIEnv, JNINativeInterface_, jarray, jchar, jclass, jmethodID, jobject, jsize, jstring, jvalue, va_list,
};
use jvmti::{Env, Jni};
use trace::model::ArrayCode;

use super::current_thread::Here;
use super::feature::Counts;
use agent_core::core::context::callback;

/// JNI's `NewObject`. Only its address is used here.
type NewObject = unsafe extern "C" fn(*mut JNIEnv, jclass, jmethodID, ...) -> jobject;

/// The functions that were in the table before.
static BEFORE: OnceLock<Functions> = OnceLock::new();

/// Defines the functions that are replaced but for `NewObject`, which our `NewObjectV` stands for: the name in the table, ours, and what it
/// makes.
macro_rules! functions {
    ($($name:ident $ours:ident($($parameter:ident: $type:ty),*) -> $made:ty, $kind:expr;)*) => {
        #[allow(non_snake_case, reason = "their names in JNI")]
        struct Functions {
            $($name: unsafe extern "system" fn(*mut JNIEnv, $($type),*) -> $made,)*
        }

        impl Functions {
            /// Those of a table, which gets ours.
            ///
            /// # Safety
            /// A copy of the VM's table.
            unsafe fn replace_in(table: *mut JNINativeInterface_) -> Functions {
                // SAFETY: by the caller's promise; each VM has the functions of Java 6.
                unsafe {
                    let before = Functions { $($name: (*table).v1_6.$name,)* };
                    $((*table).v1_6.$name = $ours;)*
                    (*table).v1_6.NewObject = our_new_object();
                    before
                }
            }
        }

        $(
            /// JNI's function of that name.
            unsafe extern "system" fn $ours(env: *mut JNIEnv, $($parameter: $type),*) -> $made {
                let before = BEFORE.get().expect("set before this function can be called").$name;
                // SAFETY: native code calls it with this thread's environment, and with arguments for the function that was here.
                unsafe { counted(env, $kind, || before(env, $($parameter),*)) }
            }
        )*
    };
}

functions! {
    AllocObject alloc_object(class: jclass) -> jobject, Kind::Object;
    NewObjectV new_object_v(class: jclass, constructor: jmethodID, arguments: va_list) -> jobject, Kind::Object;
    NewObjectA new_object_a(class: jclass, constructor: jmethodID, arguments: *const jvalue) -> jobject, Kind::Object;
    NewObjectArray new_object_array(length: jsize, class: jclass, element: jobject) -> jarray, Kind::Object;
    NewBooleanArray new_boolean_array(length: jsize) -> jarray, Kind::Array(ArrayCode::BOOLEAN);
    NewByteArray new_byte_array(length: jsize) -> jarray, Kind::Array(ArrayCode::BYTE);
    NewCharArray new_char_array(length: jsize) -> jarray, Kind::Array(ArrayCode::CHAR);
    NewShortArray new_short_array(length: jsize) -> jarray, Kind::Array(ArrayCode::SHORT);
    NewIntArray new_int_array(length: jsize) -> jarray, Kind::Array(ArrayCode::INT);
    NewLongArray new_long_array(length: jsize) -> jarray, Kind::Array(ArrayCode::LONG);
    NewFloatArray new_float_array(length: jsize) -> jarray, Kind::Array(ArrayCode::FLOAT);
    NewDoubleArray new_double_array(length: jsize) -> jarray, Kind::Array(ArrayCode::DOUBLE);
    NewString new_string(units: *const jchar, length: jsize) -> jstring, Kind::String;
    NewStringUTF new_string_utf(text: *const c_char) -> jstring, Kind::String;
}

/// The function for `NewObject`, whose arguments only code for the processor can pass on.
fn our_new_object() -> NewObject {
    // SAFETY: it takes them as a C function with a list of arguments does.
    unsafe { std::mem::transmute(new_object as unsafe extern "C" fn()) }
}

/// From now on what native code makes is counted.
///
/// # Errors
/// What the VM refuses.
pub(super) fn begin(env: Env) -> jvmti::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    let table = env.jni_functions()?;
    // SAFETY: a copy of the VM's table; our functions do what the replaced ones do.
    unsafe {
        let before = Functions::replace_in(table.as_ptr());
        if BEFORE.set(before).is_ok() { env.set_jni_functions(&table) } else { Ok(()) }
    }
}

/// What a function makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An object of any class.
    Object,
    /// An array of primitive values.
    Array(ArrayCode),
    /// A string, and the array of its characters.
    String,
}

/// Counts what a function makes.
///
/// # Safety
/// `env` is this thread's environment, and `make` gives a live reference or null.
#[inline(always)]
unsafe fn counted(env: *mut JNIEnv, kind: Kind, make: impl FnOnce() -> jobject) -> jobject {
    let allocated = |jni: Jni, counts: &Counts| counts.core.jvm.accounting.current_thread_bytes(jni);
    let mut before = None;
    if kind == Kind::String {
        // SAFETY: by the caller's promise.
        unsafe { callback(env, |counts: &Counts, jni, _, _| before = allocated(jni, counts)) };
    }
    let made = make();
    if made.is_null() {
        return made;
    }
    // SAFETY: by the caller's promise; no exception is pending where an object was made.
    unsafe {
        callback(env, |counts: &Counts, jni, thread, state| {
            let together = before.and_then(|before| allocated(jni, counts)?.checked_sub(before));
            let mut here = Here::new(&counts.threads, jni, thread, state);
            if let Err(error) = counts.vm_allocations.native_code_made(&mut here, made, kind, together) {
                counts.core.count_failure("object of native code", error);
            }
        });
    }
    made
}
