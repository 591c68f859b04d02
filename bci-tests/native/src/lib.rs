//! Native methods of test programs: of `natives.Main` each way of JNI to make an object, of `endings.Main` the ways to end a process. As an
//! agent it is told of classes as they are loaded, from the first on, and does nothing with them.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};

use jni_sys::{JNIEnv, JavaVM, jclass, jint, jobject, jvalue};
use jvmti::Vm;
use jvmti::sys::{
    CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    JVMTI_VERSION_11, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks,
};

/// The library in the folder of a profile, such as `target/debug`.
pub fn library(profile: &Path) -> PathBuf {
    profile.join("deps/libnative_code.so")
}

/// Has the VM tell it of each class that is loaded, for which the VM gives up its archives of classes.
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, _: *const c_char, _: *mut c_void) -> jint {
    // SAFETY: the VM passes itself.
    let vm = unsafe { Vm::from_raw(vm) };
    let early = [CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS];
    let callbacks = jvmtiEventCallbacks { ClassFileLoadHook: Some(class_file), ..jvmtiEventCallbacks::default() };
    let is_told = vm.get_env(JVMTI_VERSION_11).is_ok_and(|env| {
        // SAFETY: the callback does nothing.
        let has_callback = unsafe { env.set_event_callbacks(&callbacks) }.is_ok();
        has_callback
            && env.add_capabilities(jvmtiCapabilities::of(&early)).is_ok()
            && env.enable_events(&[JVMTI_EVENT_CLASS_FILE_LOAD_HOOK]).is_ok()
    });
    jint::from(!is_told)
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn class_file(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    _: jclass,
    _: jobject,
    _: *const c_char,
    _: jobject,
    _: jint,
    _: *const u8,
    _: *mut jint,
    _: *mut *mut u8,
) {
}

/// Calls a function of the JNI table.
macro_rules! jni {
    ($env:ident, $function:ident $(, $argument:expr)*) => { ((**$env).v1_6.$function)($env $(, $argument)*) };
}

/// The constructor of the class that takes more arguments than fit into registers.
const CONSTRUCTOR: &CStr = c"(IDFJLjava/lang/String;BSCZDDDDDDDI)V";

/// `static native Object object(Class<?> of, int how)`
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_natives_Main_object(
    env: *mut JNIEnv,
    _: jclass,
    class: jclass,
    how: jint,
) -> jobject {
    // SAFETY: the VM passes its environment and a live class, which has that constructor unless none is called.
    unsafe {
        if how == 0 {
            return jni!(env, AllocObject, class);
        }
        let constructor = jni!(env, GetMethodID, class, c"<init>".as_ptr(), CONSTRUCTOR.as_ptr());
        let text = jni!(env, NewStringUTF, c"\u{e4}".as_ptr());
        if how == 1 {
            let (int, small) = (7, 3);
            return jni!(
                env,
                NewObject,
                class,
                constructor,
                int,
                1.5_f64,
                2.5_f64,
                123_456_789_012_i64,
                text,
                small,
                4,
                120,
                1,
                1.0_f64,
                2.0_f64,
                3.0_f64,
                4.0_f64,
                5.0_f64,
                6.0_f64,
                7.0_f64,
                100
            );
        }
        let mut arguments = vec![
            jvalue { i: 7 },
            jvalue { d: 1.5 },
            jvalue { f: 2.5 },
            jvalue { j: 123_456_789_012 },
            jvalue { l: text },
            jvalue { b: 3 },
            jvalue { s: 4 },
            jvalue { c: 120 },
            jvalue { z: true },
        ];
        arguments.extend((1..=7).map(|number| jvalue { d: f64::from(number) }));
        arguments.push(jvalue { i: 100 });
        jni!(env, NewObjectA, class, constructor, arguments.as_ptr())
    }
}

/// `static native String string(int how)`
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_natives_Main_string(env: *mut JNIEnv, _: jclass, how: jint) -> jobject {
    const WIDE: [u16; 3] = [97, 0x4e00, 98];
    // SAFETY: the VM passes its environment; the texts are long enough.
    unsafe {
        match how {
            0 => jni!(env, NewStringUTF, c"abc".as_ptr()),
            1 => jni!(env, NewString, WIDE.as_ptr(), 3),
            _ => jni!(env, NewString, WIDE.as_ptr(), 1),
        }
    }
}

/// `static native Object array(int of, int length)`
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_natives_Main_array(
    env: *mut JNIEnv,
    class: jclass,
    of: jint,
    length: jint,
) -> jobject {
    // SAFETY: the VM passes its environment and a live class.
    unsafe {
        match of {
            0 => jni!(env, NewBooleanArray, length),
            1 => jni!(env, NewByteArray, length),
            2 => jni!(env, NewCharArray, length),
            3 => jni!(env, NewShortArray, length),
            4 => jni!(env, NewIntArray, length),
            5 => jni!(env, NewLongArray, length),
            6 => jni!(env, NewFloatArray, length),
            7 => jni!(env, NewDoubleArray, length),
            _ => jni!(env, NewObjectArray, length, class, std::ptr::null_mut()),
        }
    }
}

/// `static native void nativeEnd(int way)` of `endings.Main`
///
/// # Safety
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_endings_Main_nativeEnd(_: *mut JNIEnv, _: jclass, way: jint) {
    // SAFETY: functions of the C library; the forked process calls nothing but `exit`.
    unsafe {
        match way {
            0 => libc::exit(5),
            1 => libc::_exit(6),
            2 => libc::abort(),
            _ => {
                let child = libc::fork();
                if child == 0 {
                    libc::exit(0);
                }
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
        }
    }
}
