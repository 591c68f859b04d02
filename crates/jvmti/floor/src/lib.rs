//! The benchmark's floor: an agent that rewrites allocations as Martini does and then does as little as possible.
//!
//! It is written as a careful C programmer would: one Java method that tests a flag, one native method, raw JVM TI
//! calls, a constant tag, no record of anything. `-agentpath:libfloor_agent.so=MODE`, where each `Mode` adds one
//! step to the one before. Seen are `java.lang.Object`'s constructor and the outer array of the three array
//! instructions. With `monitors` it asks for the events of threads that wait instead, and does nothing about them.

mod mode;
mod proxy;
mod sites;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, null_mut};
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use classfile::opcode::{ANEWARRAY, MULTIANEWARRAY, NEW, NEWARRAY};
use jvmti::jni_sys::{JNI_ERR, JNI_OK, JNIEnv, JavaVM, jclass, jint, jlong, jobject, jvalue};
use jvmti::sys::*;
use jvmti::{Env, Jni, Vm, guard};

use mode::Mode;

type AnyError = Box<dyn std::error::Error>;

static MODE: OnceLock<Mode> = OnceLock::new();

/// The environment that the native method tags with.
static ENV: AtomicPtr<jvmtiEnv> = AtomicPtr::new(null_mut());

/// Reads the mode and asks for capabilities and events.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _reserved: *mut c_void) -> jint {
    // SAFETY: the VM passes itself, and null or a text that ends with NUL.
    let (vm, options) = unsafe {
        let options = if options.is_null() { c"" } else { CStr::from_ptr(options) };
        (Vm::from_raw(vm), options)
    };
    let loaded = options.to_string_lossy().parse().map_err(AnyError::from).and_then(|mode| load(vm, mode));
    match loaded {
        Ok(()) => JNI_OK,
        Err(error) => {
            eprintln!("floor agent: {error}");
            JNI_ERR
        }
    }
}

fn load(vm: Vm, mode: Mode) -> Result<(), AnyError> {
    let env = vm.get_env(JVMTI_VERSION_1_2)?;
    if mode == Mode::Monitors {
        return watch_monitors(env);
    }
    let mut capabilities = jvmtiCapabilities::of(&[CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_RETRANSFORM_CLASSES]);
    if mode == Mode::Same {
        capabilities = capabilities.with(CAN_GET_BYTECODES);
    }
    if mode >= Mode::Tag {
        capabilities = capabilities.with(CAN_TAG_OBJECTS);
    }
    if mode >= Mode::Free {
        capabilities = capabilities.with(CAN_GENERATE_OBJECT_FREE_EVENTS);
    }
    env.add_capabilities(capabilities)?;
    let callbacks = jvmtiEventCallbacks {
        VMStart: Some(vm_start),
        VMInit: Some(vm_init),
        ClassFileLoadHook: Some(class_file_load_hook),
        ObjectFree: Some(object_free),
        ..Default::default()
    };
    // SAFETY: these functions are made for it and do not unwind.
    unsafe { env.set_event_callbacks(&callbacks)? };
    env.enable_event(JVMTI_EVENT_VM_START)?;
    env.enable_event(JVMTI_EVENT_VM_INIT)?;
    // No class reaches the hook before VMStart has been sent, and in that phase events cannot be switched on.
    env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
    if mode >= Mode::Free {
        env.enable_event(JVMTI_EVENT_OBJECT_FREE)?;
    }
    let _ = MODE.set(mode);
    ENV.store(env.as_raw(), Ordering::Relaxed);
    Ok(())
}

/// Lets the VM report waits to callbacks that do nothing.
fn watch_monitors(env: Env) -> Result<(), AnyError> {
    env.add_capabilities(jvmtiCapabilities::of(&[CAN_GENERATE_MONITOR_EVENTS]))?;
    let callbacks = jvmtiEventCallbacks {
        MonitorContendedEnter: Some(monitor_event),
        MonitorContendedEntered: Some(monitor_event),
        MonitorWait: Some(monitor_wait),
        MonitorWaited: Some(monitor_waited),
        ..Default::default()
    };
    // SAFETY: these functions are made for it and do not unwind.
    unsafe { env.set_event_callbacks(&callbacks)? };
    for event in [
        JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
        JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
        JVMTI_EVENT_MONITOR_WAIT,
        JVMTI_EVENT_MONITOR_WAITED,
    ] {
        env.enable_event(event)?;
    }
    Ok(())
}

unsafe extern "system" fn monitor_event(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, _: jobject) {}

unsafe extern "system" fn monitor_wait(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, _: jobject, _timeout: jlong) {}

unsafe extern "system" fn monitor_waited(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, _: jobject, _: jboolean) {}

unsafe extern "system" fn vm_start(_env: *mut jvmtiEnv, jni: *mut JNIEnv) {
    // SAFETY: the VM passes a live environment.
    let jni = unsafe { Jni::from_raw(jni) };
    report(|| define_proxy(jni));
}

/// Defines the proxy, before any class is loaded that was rewritten to call it.
fn define_proxy(jni: Jni) -> Result<(), AnyError> {
    let mode = *MODE.get().expect("set when the agent was loaded");
    // SAFETY: the boot loader; the class and its native method are live, and the method takes one reference.
    unsafe {
        let class = jni.define_class(proxy::NAME, null_mut(), &proxy::class_file(mode.native_method()))?;
        // The first call makes the VM search the function, which runs Java code: it must not come from an allocation.
        let native = jni.get_static_method_id(class, mode.native_method(), proxy::DESCRIPTOR)?;
        jni.call_static_void_method(class, native, &[jvalue { l: null_mut() }])?;
    }
    Ok(())
}

unsafe extern "system" fn vm_init(env: *mut jvmtiEnv, jni: *mut JNIEnv, _thread: jthread) {
    // SAFETY: the VM passes live environments.
    let (env, jni) = unsafe { (Env::from_raw(env), Jni::from_raw(jni)) };
    report(|| retransform_all(env, jni));
}

/// Lets the VM redefine what is loaded already, `java.lang.Object` above all, and switches the native call on.
fn retransform_all(env: Env, jni: Jni) -> Result<(), AnyError> {
    let mode = *MODE.get().expect("set when the agent was loaded");
    if mode == Mode::Idle {
        return Ok(());
    }
    let loaded = env.get_loaded_classes()?;
    // SAFETY: all classes are live local references, the field is a static boolean.
    unsafe {
        let is_wanted = |class: &&jclass| {
            env.is_modifiable_class(**class).unwrap_or(false) && (mode != Mode::Same || allocates(env, **class))
        };
        let classes: Vec<jclass> = loaded.iter().filter(is_wanted).copied().collect();
        env.retransform_classes(&classes)?;
        for &class in loaded.iter() {
            jni.delete_local_ref(class);
        }
        let proxy = jni.find_class(proxy::NAME)?;
        let live = jni.get_static_field_id(proxy, c"live", c"Z")?;
        jni.set_static_boolean_field(proxy, live, mode >= Mode::Native);
    }
    Ok(())
}

/// Whether a method of the class has an instruction that allocates.
///
/// # Safety
/// `class` is a live reference.
unsafe fn allocates(env: Env, class: jclass) -> bool {
    // SAFETY: by the caller's promise; the methods are of this class.
    unsafe {
        env.get_class_methods(class).is_ok_and(|methods| {
            // Abstract and native methods have no code, which the VM calls an error.
            methods.iter().filter_map(|&method| env.get_bytecodes(method).ok()).any(|code| {
                classfile::walk(&code).any(|(_, opcode)| [NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY].contains(&opcode))
            })
        })
    }
}

unsafe extern "system" fn class_file_load_hook(
    env: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _class_being_redefined: jclass,
    _loader: jobject,
    _name: *const c_char,
    _protection_domain: jobject,
    len: jint,
    data: *const u8,
    new_len: *mut jint,
    new_data: *mut *mut u8,
) {
    // SAFETY: the VM passes a live environment and the bytes of the class file.
    let (env, bytes) = unsafe { (Env::from_raw(env), slice::from_raw_parts(data, len as usize)) };
    guard(|| {
        if MODE.get() > Some(&Mode::Same)
            && let Some(class) = sites::rewrite(bytes)
            && let Ok(len) = jint::try_from(class.len())
            && let Ok(copy) = env.allocate_copy(&class)
        {
            // SAFETY: the VM takes memory of `Allocate` over through these pointers.
            unsafe {
                ptr::write(new_len, len);
                ptr::write(new_data, copy.into_raw());
            }
        }
    });
}

unsafe extern "system" fn object_free(_env: *mut jvmtiEnv, _tag: jlong) {}

/// The native method of the modes `off` and `native`.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_FloorProxy_nothing(_: *mut JNIEnv, _: jclass, _object: jobject) {}

/// The native method of the modes `tag` and `free`.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_FloorProxy_tag(_: *mut JNIEnv, _: jclass, object: jobject) {
    let env = ENV.load(Ordering::Relaxed);
    // SAFETY: the environment lives as long as the VM, the slot exists from JVM TI 1.0 on, and the VM passes a live
    // object. A refusal has nobody to hear of it.
    unsafe {
        if let Some(set_tag) = (**env).SetTag {
            set_tag(env, object, 1);
        }
    }
}

/// Runs a step of the start; a benchmark whose agent is not complete would measure nothing, so a failure ends the VM.
fn report(step: impl FnOnce() -> Result<(), AnyError>) {
    let outcome = guard(|| Some(step()));
    match outcome {
        Some(Ok(())) => {}
        Some(Err(error)) => {
            eprintln!("floor agent: {error}");
            std::process::exit(1);
        }
        None => std::process::exit(1),
    }
}
