//! An agent that calls nearly every function of the crate in a real VM and compares the answers with what is known of any VM.
//! It prints `probe: ok`, or ends the VM at the first wrong answer. `tests/real_vm.rs` runs it.

use std::ffi::{c_char, c_void};
use std::process::exit;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};

use jvmti::jni_sys::{JNI_ERR, JNI_OK, JNIEnv, JavaVM, jclass, jint, jlong, jobject, jvalue};
use jvmti::sys::*;
use jvmti::{Env, Error, Jni, Management, NativeMethod, Vm, caught_panics, guard};

type AnyError = Box<dyn std::error::Error>;

static VM: OnceLock<Vm> = OnceLock::new();
static AGENT_THREADS: AtomicI32 = AtomicI32::new(0);
static OBJECTS_SEEN: AtomicI64 = AtomicI64::new(0);
static FREED: AtomicI64 = AtomicI64::new(0);

const CAPABILITIES: jvmtiCapabilities = jvmtiCapabilities::of(&[
    CAN_TAG_OBJECTS,
    CAN_GET_BYTECODES,
    CAN_GET_LINE_NUMBERS,
    CAN_GET_SOURCE_FILE_NAME,
    CAN_RETRANSFORM_CLASSES,
    CAN_GENERATE_OBJECT_FREE_EVENTS,
    CAN_GENERATE_ALL_CLASS_HOOK_EVENTS,
]);

const MARK: jlong = 0x1234_5678_9ABC;

/// Starts the agent: capabilities, callbacks, VMInit.
///
/// # Safety
///
/// Called by the VM.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, _: *mut c_char, _: *mut c_void) -> jint {
    // SAFETY: the VM passes itself.
    let vm = *VM.get_or_init(|| unsafe { Vm::from_raw(vm) });
    match load(vm) {
        Ok(()) => JNI_OK,
        Err(error) => {
            eprintln!("probe: {error}");
            JNI_ERR
        }
    }
}

fn load(vm: Vm) -> Result<(), AnyError> {
    assert!(vm.get_env(0x7FFF_0000).is_err());
    let env = vm.get_env(JVMTI_VERSION_1_2)?;
    assert_eq!(env.get_phase()?, JVMTI_PHASE_ONLOAD);
    assert_eq!(env.get_loaded_classes().err(), Some(Error::WRONG_PHASE));
    let potential = env.get_potential_capabilities()?;
    assert!(CAPABILITIES.difference(potential).is_empty(), "{potential:?}");
    env.add_capabilities(CAPABILITIES)?;
    assert_eq!(env.get_capabilities()?.intersection(CAPABILITIES), CAPABILITIES);

    let callbacks = jvmtiEventCallbacks {
        VMInit: Some(vm_init),
        ClassFileLoadHook: Some(class_file_load_hook),
        ObjectFree: Some(object_free),
        ..Default::default()
    };
    // SAFETY: the callbacks are made for this and abort instead of unwinding.
    unsafe { env.set_event_callbacks(&callbacks)? };
    env.enable_event(JVMTI_EVENT_VM_INIT)?;
    env.enable_event(JVMTI_EVENT_OBJECT_FREE)?;
    Ok(())
}

unsafe extern "system" fn vm_init(env: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: the VM passes live environments.
    let (env, jni) = unsafe { (Env::from_raw(env), Jni::from_raw(jni)) };
    // An assertion that fails unwinds to here and makes the default, false.
    let ok = guard(|| {
        // SAFETY: the VM passes a live thread.
        let result = unsafe { probe(env, jni, thread) };
        result.map_err(|error| eprintln!("probe: {error}")).is_ok()
    });
    if !ok || caught_panics() > 0 {
        exit(3);
    }
    eprintln!("probe: ok");
}

/// # Safety
///
/// `thread` is the current thread.
unsafe fn probe(env: Env, jni: Jni, thread: jthread) -> Result<(), AnyError> {
    assert_eq!(env.get_phase()?, JVMTI_PHASE_LIVE);
    let version = env.get_version_number()?;
    assert!(version >= JVMTI_VERSION_1_2);
    assert!(!env.get_system_property(c"java.vm.version")?.is_empty());
    assert_eq!(env.get_system_property(c"no.such.property").err(), Some(Error::NOT_AVAILABLE));
    assert_eq!(
        env.set_heap_sampling_interval(0).err(),
        Some(if version >= JVMTI_VERSION_11 { Error::MUST_POSSESS_CAPABILITY } else { Error::NOT_AVAILABLE })
    );
    assert_eq!(&*env.allocate_copy(b"bytes")?, b"bytes");
    assert!(env.allocate_copy(b"")?.into_raw().is_null());
    // SAFETY: every reference below is a live local one, in a frame of its own.
    unsafe {
        jni.push_local_frame(64)?;
        probe_classes(env, jni)?;
        probe_methods(env, jni)?;
        probe_threads(env, jni, thread)?;
        probe_heap(env, jni)?;
        probe_management(env, jni, thread)?;
        probe_jni(jni)?;
        jni.pop_local_frame();
    }
    for event in env.get_extension_events()? {
        assert!(event.id.starts_with(b"com.sun.hotspot.events."), "{:?}", event.id);
    }
    Ok(())
}

unsafe fn probe_classes(env: Env, jni: Jni) -> Result<(), AnyError> {
    let string = jni.find_class(c"java/lang/String")?;
    let array = jni.find_class(c"[Ljava/lang/String;")?;
    let runnable = jni.find_class(c"java/lang/Runnable")?;
    // SAFETY: three live classes.
    unsafe {
        assert_eq!(&*env.get_class_signature(string)?, b"Ljava/lang/String;");
        assert_eq!(&*env.get_class_signature(array)?, b"[Ljava/lang/String;");
        // A runtime image may be stripped of debug information.
        match env.get_source_file_name(string) {
            Err(error) => assert_eq!(error, Error::ABSENT_INFORMATION),
            Ok(name) => assert_eq!(&*name, b"String.java"),
        }
        assert!(env.get_class_loader(string)?.is_null());
        assert_ne!(env.get_class_status(string)? & JVMTI_CLASS_STATUS_INITIALIZED, 0);
        assert_eq!(env.get_class_modifiers(string)? & 0x11, 0x11, "public final");
        assert!(env.is_array_class(array)? && !env.is_array_class(string)?);
        assert!(env.is_modifiable_class(string)? && !env.is_modifiable_class(array)?);
        let loaded = env.get_loaded_classes()?;
        assert!(loaded.iter().any(|&class| jni.is_same_object(class, string)));
        for &class in loaded.iter() {
            jni.delete_local_ref(class);
        }

        env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        env.retransform_classes(&[runnable])?;
        env.disable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)?;
        assert_eq!(env.retransform_classes(&[array]), Err(Error::UNMODIFIABLE_CLASS));
    }
    assert!(CLASS_FILE_SEEN.get().is_some_and(|bytes| bytes.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE])));
    Ok(())
}

static CLASS_FILE_SEEN: OnceLock<Vec<u8>> = OnceLock::new();

unsafe extern "system" fn class_file_load_hook(
    env: *mut jvmtiEnv,
    _: *mut JNIEnv,
    class_being_redefined: jclass,
    _: jobject,
    _: *const c_char,
    _: jobject,
    len: jint,
    data: *const u8,
    new_len: *mut jint,
    new_data: *mut *mut u8,
) {
    if class_being_redefined.is_null() {
        return;
    }
    // SAFETY: the VM passes a live environment and the bytes of the class file.
    let (env, bytes) = unsafe { (Env::from_raw(env), std::slice::from_raw_parts(data, len as usize)) };
    let _ = CLASS_FILE_SEEN.set(bytes.to_vec());
    if let Ok(copy) = env.allocate_copy(bytes) {
        // SAFETY: the VM takes memory of `Allocate` over through these pointers.
        unsafe { (*new_len, *new_data) = (len, copy.into_raw()) };
    }
}

unsafe fn probe_methods(env: Env, jni: Jni) -> Result<(), AnyError> {
    // SAFETY: live classes and methods of theirs.
    unsafe {
        let string = jni.find_class(c"java/lang/String")?;
        let method = jni.get_method_id(string, c"trim", c"()Ljava/lang/String;")?;
        assert!(env.get_class_methods(string)?.contains(&method));
        let name = env.get_method_name(method)?;
        assert_eq!((&*name.name, &*name.signature), (&b"trim"[..], &b"()Ljava/lang/String;"[..]));
        assert!(jni.is_same_object(env.get_method_declaring_class(method)?, string));
        match env.get_line_number_table(method) {
            Err(error) => assert_eq!(error, Error::ABSENT_INFORMATION),
            Ok(table) => assert!(table.iter().any(|entry| entry.line_number > 0)),
        }
        let code = env.get_bytecodes(method)?;
        assert_eq!(code.last(), Some(&0xB0), "areturn");

        let system = jni.find_class(c"java/lang/System")?;
        let native = jni.get_static_method_id(system, c"nanoTime", c"()J")?;
        assert_eq!(env.get_bytecodes(native).err(), Some(Error::NATIVE_METHOD));
        assert!(jni.get_static_method_id(system, c"noSuchMethod", c"()V").is_err());
        assert!(jni.exception_check());
        jni.exception_clear();
        assert!(!jni.exception_check());
    }
    Ok(())
}

unsafe fn probe_threads(env: Env, jni: Jni, thread: jthread) -> Result<(), AnyError> {
    // SAFETY: the current thread and null, which stands for it.
    unsafe {
        assert!(jni.is_same_object(env.get_current_thread()?, thread));
        let info = env.get_thread_info(null_mut())?;
        assert_eq!(info.name.as_deref(), Some(&b"main"[..]));
        assert!(!info.is_daemon && info.priority == 5);
        let group = env.get_thread_group_info(info.thread_group)?;
        assert_eq!(group.name.as_deref(), Some(&b"main"[..]));
        assert!(!group.parent.is_null());
        assert_ne!(env.get_thread_state(thread)? & JVMTI_THREAD_STATE_ALIVE, 0);
        assert!(env.get_all_threads()?.iter().any(|&other| jni.is_same_object(other, thread)));

        let mut frames = [jvmtiFrameInfo::default(); 8];
        assert!(env.get_stack_trace(thread, 0, &mut frames)?.len() <= 8);

        assert!(env.get_thread_local_storage(thread)?.is_null());
        env.set_thread_local_storage(null_mut(), (&raw const frames).cast())?;
        assert_eq!(env.get_thread_local_storage(thread)?, (&raw mut frames).cast());
        env.set_thread_local_storage(thread, null_mut())?;

        let class = jni.find_class(c"java/lang/Thread")?;
        let constructor = jni.get_method_id(class, c"<init>", c"(Ljava/lang/String;)V")?;
        let name = jni.new_string_utf(c"probe agent thread")?;
        let agent_thread = jni.new_object(class, constructor, &[jvalue { l: name }])?;
        env.run_agent_thread(agent_thread, agent_thread_body, (&raw const AGENT_THREADS).cast(), 5)?;
    }
    let vm = *VM.get().expect("set when the agent was loaded");
    assert_eq!(vm.get_jni(), Ok(jni));
    std::thread::spawn(move || assert!(vm.get_jni().is_err())).join().expect("the thread that is not attached");
    while AGENT_THREADS.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    Ok(())
}

unsafe fn probe_management(env: Env, jni: Jni, thread: jthread) -> Result<(), AnyError> {
    let management = Management::find(jni).ok_or("the VM does not account allocations")?;
    let current = || management.current_thread_allocated_bytes(jni).ok_or("nothing is accounted to this thread");
    for length in [0, 1, 1000, 3_000_000] {
        let before = current()?;
        let array = jni.new_byte_array(length)?;
        let allocated = current()? - before;
        // SAFETY: a live local reference.
        assert_eq!(allocated as jlong, unsafe { env.get_object_size(array)? }, "byte[{length}]");
    }
    // SAFETY: live local references, and a field of the object's class.
    let tid = unsafe {
        let class = jni.find_class(c"java/lang/Thread")?;
        jni.get_long_field(thread, jni.get_field_id(class, c"tid", c"J")?)
    };
    assert_eq!(management.thread_allocated_bytes(jni, tid), Some(current()?));
    for nobody in [jlong::MIN, -1, 0, jlong::MAX] {
        assert_eq!(management.thread_allocated_bytes(jni, nobody), None);
    }
    assert!(!jni.exception_check());
    Ok(())
}

unsafe extern "system" fn agent_thread_body(_: *mut jvmtiEnv, _: *mut JNIEnv, argument: *mut c_void) {
    // SAFETY: the argument is the static counter.
    unsafe { &*argument.cast::<AtomicI32>() }.fetch_add(1, Ordering::Release);
}

unsafe fn probe_heap(env: Env, jni: Jni) -> Result<(), AnyError> {
    let array = jni.new_primitive_array(b'J', 1000)?;
    let callbacks = jvmtiHeapCallbacks {
        heap_iteration_callback: Some(count_object),
        heap_reference_callback: Some(count_reference),
        ..Default::default()
    };
    // SAFETY: a live array; the callbacks only count.
    unsafe {
        assert_eq!(jni.get_array_length(array), 1000);
        assert!((8000..8100).contains(&env.get_object_size(array)?));
        assert_eq!(env.get_tag(array)?, 0);
        env.set_tag(array, MARK)?;
        assert_eq!(env.get_tag(array)?, MARK);

        env.iterate_through_heap(JVMTI_HEAP_FILTER_UNTAGGED, null_mut(), &callbacks, null_mut())?;
        assert_eq!(OBJECTS_SEEN.swap(0, Ordering::Relaxed), 1, "tagged objects in the heap");
        env.follow_references(JVMTI_HEAP_FILTER_UNTAGGED, null_mut(), null_mut(), &callbacks, null_mut())?;
        assert_eq!(OBJECTS_SEEN.swap(0, Ordering::Relaxed), 1, "references to tagged objects");

        let weak = jni.new_weak_global_ref(array)?;
        jni.delete_local_ref(array);
        env.force_garbage_collection()?;
        assert!(jni.new_local_ref(weak).is_null());
        jni.delete_weak_global_ref(weak);
    }
    // Some VMs send the event only at a later safepoint.
    while FREED.load(Ordering::Relaxed) == 0 {
        env.force_garbage_collection()?;
    }
    assert_eq!(FREED.load(Ordering::Relaxed), MARK);
    Ok(())
}

unsafe extern "system" fn count_object(_: jlong, _: jlong, _: *mut jlong, _: jint, _: *mut c_void) -> jint {
    OBJECTS_SEEN.fetch_add(1, Ordering::Relaxed);
    JVMTI_VISIT_OBJECTS
}

unsafe extern "system" fn count_reference(
    _: jvmtiHeapReferenceKind,
    _: *const jvmtiHeapReferenceInfo,
    _: jlong,
    _: jlong,
    _: jlong,
    _: *mut jlong,
    _: *mut jlong,
    _: jint,
    _: *mut c_void,
) -> jint {
    OBJECTS_SEEN.fetch_add(1, Ordering::Relaxed);
    JVMTI_VISIT_OBJECTS
}

unsafe extern "system" fn object_free(_: *mut jvmtiEnv, tag: jlong) {
    FREED.store(tag, Ordering::Relaxed);
}

/// A class `java.lang.ProbeProxy` with `static boolean flag`, `static int number`, `static Object object`
/// and `static native void called(int)`, as class-file bytes.
fn proxy_class() -> Vec<u8> {
    let mut class = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 13];
    let names: [&[u8]; 10] = [
        b"java/lang/ProbeProxy",
        b"java/lang/Object",
        b"flag",
        b"Z",
        b"number",
        b"I",
        b"object",
        b"Ljava/lang/Object;",
        b"called",
        b"(I)V",
    ];
    for name in names {
        class.extend([1, 0, name.len() as u8]);
        class.extend(name);
    }
    // Entries 11 and 12: the classes named by entries 1 and 2. Then access, this, super, no interfaces, three fields.
    class.extend([7, 0, 1, 7, 0, 2, 0, 0x21, 0, 11, 0, 12, 0, 0, 0, 3]);
    for name in [3, 5, 7] {
        class.extend([0, 9, 0, name, 0, name + 1, 0, 0]);
    }
    // One method, `public static native`, and no attributes.
    class.extend([0, 1, 1, 9, 0, 9, 0, 10, 0, 0, 0, 0]);
    class
}

unsafe fn probe_jni(jni: Jni) -> Result<(), AnyError> {
    // SAFETY: live classes; fields and methods of the types that they were looked up with.
    unsafe {
        let proxy = jni.define_class(c"java/lang/ProbeProxy", null_mut(), &proxy_class())?;
        assert!(jni.define_class(c"java/lang/Broken", null_mut(), b"no class file").is_err());
        jni.exception_clear();

        let field = jni.get_static_field_id(proxy, c"flag", c"Z")?;
        jni.set_static_boolean_field(proxy, field, true);
        let field = jni.get_static_field_id(proxy, c"number", c"I")?;
        jni.set_static_int_field(proxy, field, -7);
        assert_eq!(jni.get_static_int_field(proxy, field), -7);
        let field = jni.get_static_field_id(proxy, c"object", c"Ljava/lang/Object;")?;
        assert!(jni.get_static_object_field(proxy, field).is_null());

        let native = NativeMethod { name: c"called", signature: c"(I)V", function: called as *const c_void };
        jni.register_natives(proxy, &[native])?;
        let missing = NativeMethod { name: c"missing", ..native };
        assert!(jni.register_natives(proxy, &[missing]).is_err());
        jni.exception_clear();
        let method = jni.get_static_method_id(proxy, c"called", c"(I)V")?;
        jni.call_static_void_method(proxy, method, &[jvalue { i: 41 }])?;
        assert_eq!(AGENT_THREADS.load(Ordering::Relaxed), 42);

        let bytes = jni.new_byte_array(3)?;
        let global = jni.new_global_ref(bytes);
        assert!(jni.is_same_object(global, bytes));
        jni.delete_global_ref(global);
        let class = jni.get_object_class(bytes);
        assert!(jni.get_superclass(jni.get_superclass(class)).is_null());
        let classes = jni.new_object_array(2, jni.find_class(c"java/lang/Class")?, class)?;
        assert_eq!(jni.get_array_length(classes), 2);
        assert_eq!(jni.get_array_length(jni.new_primitive_array(b'I', 5)?), 5);
        assert!(jni.exception_occurred().is_null());
    }
    Ok(())
}

unsafe extern "system" fn called(_: *mut JNIEnv, _: jclass, number: jint) {
    AGENT_THREADS.fetch_add(number, Ordering::Relaxed);
}
