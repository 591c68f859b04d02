//! Compares the stack walker of the agent with what the VM says: `-agentpath:libwalker_agent.so=PERIOD,FILE`.
//!
//! A thread sends a signal to each thread of Java every PERIOD microseconds; its handler walks the stack, and has
//! `AsyncGetCallTrace` walk it. Each object of so many bytes is a callback of JVMTI, in which both walk too. What came of it is written
//! to FILE at the end.

mod compared;
mod sender;

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::jni_sys::{JNI_ERR, JNI_OK, JNIEnv, JavaVM, jclass, jint, jlong, jobject};
use jvmti::sys::*;
use jvmti::{Env, Jni, Vm, guard};

use agent_base::signals::SafeLoads;
use hotspot::memory::JavaThread;
use hotspot::walk::Walker;

/// Bytes between the objects whose stacks are compared.
const INTERVAL: jint = 16 << 10;

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static WALKER: OnceLock<Result<Walker, String>> = OnceLock::new();
/// Comparisons are made.
static IS_ON: AtomicBool = AtomicBool::new(false);

struct Settings {
    period_micros: u64,
    file: String,
}

/// The walker, once comparisons are made.
fn walker() -> Option<&'static Walker> {
    WALKER.get().filter(|_| IS_ON.load(Ordering::Acquire))?.as_ref().ok()
}

/// `MartiniWalk.compare`.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_MartiniWalk_compare(jni: *mut JNIEnv, class: jclass) {
    // SAFETY: the VM passes this thread's environment and the class.
    unsafe { hotspot::walk::compare_in_self_test(jni, class) };
}

/// Reads the settings, and asks for events.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _: *mut c_void) -> jint {
    // SAFETY: the VM passes itself, and null or a text that ends with NUL.
    let (vm, options) = unsafe {
        let options = if options.is_null() { c"" } else { CStr::from_ptr(options) };
        (Vm::from_raw(vm), options.to_string_lossy())
    };
    let (period, file) = options.split_once(',').unwrap_or(("500", &options));
    let settings = Settings { period_micros: period.parse().unwrap_or(500), file: file.to_owned() };
    let _ = SETTINGS.set(settings);
    if load(vm).is_ok() { JNI_OK } else { JNI_ERR }
}

fn load(vm: Vm) -> Result<(), Box<dyn std::error::Error>> {
    let env = vm.get_env(JVMTI_VERSION_1_2)?;
    env.add_capabilities(jvmtiCapabilities::of(&[CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, CAN_GET_LINE_NUMBERS]))?;
    let callbacks = jvmtiEventCallbacks {
        VMInit: Some(vm_init),
        VMDeath: Some(vm_death),
        ThreadStart: Some(thread_start),
        ThreadEnd: Some(thread_end),
        ClassLoad: Some(class_load),
        ClassPrepare: Some(class_prepare),
        SampledObjectAlloc: Some(sampled),
        ..Default::default()
    };
    // SAFETY: these functions are made for it and do not unwind.
    unsafe { env.set_event_callbacks(&callbacks)? };
    env.enable_events(&[
        JVMTI_EVENT_VM_INIT,
        JVMTI_EVENT_VM_DEATH,
        JVMTI_EVENT_CLASS_LOAD,
        JVMTI_EVENT_CLASS_PREPARE,
        JVMTI_EVENT_THREAD_START,
        JVMTI_EVENT_THREAD_END,
    ])?;
    env.set_heap_sampling_interval(INTERVAL)?;
    Ok(())
}

unsafe extern "system" fn vm_init(env: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    // SAFETY: the VM passes live environments.
    let (env, jni) = unsafe { (Env::from_raw(env), Jni::from_raw(jni)) };
    let begun = guard(|| Some(begin(env, jni)));
    if let Some(Err(reason)) = begun {
        eprintln!("walker agent: {reason}");
        std::process::exit(3);
    }
}

fn begin(env: Env, jni: Jni) -> Result<(), String> {
    let loads = SafeLoads::install(false)?;
    let java = env.get_system_property(c"java.vm.specification.version").map_err(|error| error.to_string())?;
    let java = String::from_utf8_lossy(&java).trim_end_matches('\0').parse().map_err(|_| "no feature release")?;
    let current = JavaThread::current(env, jni).ok_or("Thread has no field eetop")?;
    let walker = WALKER.get_or_init(|| Walker::find(loads, java));
    walker.as_ref().map_err(Clone::clone)?.self_test(env, jni, current)?;
    for &class in env.get_loaded_classes().map_err(|error| error.to_string())?.iter() {
        // SAFETY: a live local reference.
        let _ = unsafe { env.get_class_methods(class) };
    }
    compared::find()?;
    IS_ON.store(true, Ordering::Release);
    sender::begin(SETTINGS.get().map_or(500, |settings| settings.period_micros))?;
    sender::add(current, jni);
    env.enable_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC).map_err(|error| error.to_string())
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    let walker = walker();
    IS_ON.store(false, Ordering::Release);
    sender::end();
    guard(|| {
        let Some((settings, walker)) = SETTINGS.get().zip(walker) else { return };
        let text = compared::report(walker);
        if std::fs::write(&settings.file, text).is_err() {
            eprintln!("walker agent: {} cannot be written", settings.file);
        }
    });
}

unsafe extern "system" fn thread_start(env: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    if IS_ON.load(Ordering::Acquire) {
        // SAFETY: the VM passes live environments.
        let (env, jni) = unsafe { (Env::from_raw(env), Jni::from_raw(jni)) };
        guard(|| {
            if let Some(thread) = JavaThread::current(env, jni) {
                sender::add(thread, jni);
            }
        });
    }
}

unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread) {
    sender::remove();
}

/// `AsyncGetCallTrace` needs this event.
unsafe extern "system" fn class_load(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, _: jclass) {}

/// `AsyncGetCallTrace` needs the ids of all methods.
unsafe extern "system" fn class_prepare(env: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, class: jclass) {
    // SAFETY: the VM passes a live environment and class.
    let _ = unsafe { Env::from_raw(env).get_class_methods(class) };
}

unsafe extern "system" fn sampled(env: *mut jvmtiEnv, _: *mut JNIEnv, _: jthread, _: jobject, _: jclass, _: jlong) {
    let Some(walker) = walker() else { return };
    // SAFETY: the VM passes a live environment.
    let env = unsafe { Env::from_raw(env) };
    guard(|| compared::with_jvmti(walker, env));
}
