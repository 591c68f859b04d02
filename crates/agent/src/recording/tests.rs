//! Recordings one after the other, in a JVM that this process makes for itself.
//!
//! The helper classes bind their natives by names that the VM looks for in libraries given as agents, and the test is none: so
//! these recordings are of the kinds that rewrite nothing.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};

use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use jvmti::jni_sys::{JNI_OK, JNI_VERSION_1_6, JNIEnv, JavaVM, JavaVMInitArgs, JavaVMOption, jint, jobject};
use jvmti::{Jni, Vm};
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use super::{Recording, RecordingStart};
use agent_core::core::feature::End;

/// The `libjvm.so` of the first JDK that is found, but for JDK 11: there the VM's event leaves out what its first thread makes
/// in the allocation buffer that it has (`core::source`).
fn libjvm() -> PathBuf {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let listed = std::env::var_os("MARTINI_JDKS");
    let listed = listed.iter().flat_map(std::env::split_paths);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut homes: Vec<PathBuf> = installed.collect();
    homes.sort();
    let is_11 = |home: &PathBuf| {
        std::fs::read_to_string(home.join("release")).is_ok_and(|text| text.contains("JAVA_VERSION=\"11"))
    };
    let homes = named.into_iter().chain(listed).chain(homes).filter(|home| !is_11(home));
    let libraries = homes.map(|home| home.join("lib/server/libjvm.so"));
    { libraries }.find(|library| library.is_file()).expect("a JDK: set JAVA_HOME to one")
}

/// Makes the JVM of this process, with the current thread as its first.
fn make_vm() -> (Vm, Jni) {
    type CreateJavaVm = unsafe extern "system" fn(*mut *mut JavaVM, *mut *mut c_void, *mut c_void) -> jint;
    let path = CString::new(libjvm().into_os_string().into_encoded_bytes()).expect("a path");
    let flag = c"-Xmx64m".to_owned();
    let mut options = [JavaVMOption { optionString: flag.as_ptr().cast_mut(), extraInfo: null_mut() }];
    let mut arguments = JavaVMInitArgs {
        version: JNI_VERSION_1_6,
        nOptions: 1,
        options: options.as_mut_ptr(),
        ignoreUnrecognized: false,
    };
    let (mut vm, mut jni) = (null_mut(), null_mut());
    // SAFETY: libjvm exports the function with this signature, and all arguments live until it returns.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        let create = libc::dlsym(library, c"JNI_CreateJavaVM".as_ptr());
        let create = std::mem::transmute::<*mut c_void, CreateJavaVm>(create);
        assert_eq!(create(&mut vm, &mut jni, (&raw mut arguments).cast()), JNI_OK);
        (Vm::from_raw(vm), Jni::from_raw(jni.cast::<JNIEnv>()))
    }
}

/// What a trace holds: elements by their kinds, and allocated objects by their classes.
#[derive(Default)]
struct Found {
    elements: BTreeMap<&'static str, u32>,
    objects: BTreeMap<String, u32>,
    is_complete: bool,
}

fn read(path: &Path) -> Found {
    let mut found = Found::default();
    let mut classes = BTreeMap::new();
    let mut reader = TraceReader::open(path).expect("a trace");
    while let Some(event) = reader.next_event().expect("a valid trace") {
        let Event::Element { element, .. } = event else { continue };
        let kind = match &element {
            Element::ClassDef(class) => {
                classes.insert(class.class_id, class.name.to_string());
                "classDef"
            }
            Element::ObjAlloc(object) => {
                *found.objects.entry(classes[&object.class].clone()).or_default() += 1;
                "objAlloc"
            }
            Element::MonContendedEnter(_) => "monContendedEnter",
            Element::LiveCount(_) => "liveCount",
            Element::AgentDestroy(_) => {
                found.is_complete = true;
                continue;
            }
            _ => continue,
        };
        *found.elements.entry(kind).or_default() += 1;
    }
    found
}

/// Records while `body` runs, and reads the trace.
fn record(vm: Vm, jni: Jni, options: &str, body: impl FnOnce()) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.trcxml");
    let given = format!("{options},file={}", path.display());
    let recording = Recording::open(vm, agent_options::parse(&given).expect("options"), RecordingStart::WithVm)
        .expect("a recording");
    recording.begin(jni).expect("begun");
    body();
    recording.end(jni, End::Recording);
    let found = read(&path);
    assert!(found.is_complete, "{options}");
    found
}

fn make_arrays(jni: Jni, class: &CStr, number: usize) {
    let class = jni.find_class(class).expect("a class");
    // SAFETY: live local references, deleted at once.
    unsafe {
        for _ in 0..number {
            let array = jni.new_object_array(10, class, null_mut()).expect("an array");
            jni.delete_local_ref(array);
        }
        jni.delete_local_ref(class);
    }
}

/// Holds a monitor until another thread is blocked on it.
fn contend(vm: Vm, jni: Jni) {
    struct Shared(jobject);
    // SAFETY: a global reference.
    unsafe impl Send for Shared {}
    // SAFETY: live references, and the raw table is complete from JNI 1.2 on.
    unsafe {
        let local = jni.new_byte_array(1).expect("an array");
        let lock = jni.new_global_ref(local);
        jni.delete_local_ref(local);
        let monitor = |jni: Jni| ((**jni.as_raw()).v1_6.MonitorEnter, (**jni.as_raw()).v1_6.MonitorExit);
        let (enter, exit) = monitor(jni);
        assert_eq!(enter(jni.as_raw(), lock), JNI_OK);
        let (started, starts) = channel();
        let shared = Shared(lock);
        let other = std::thread::spawn(move || {
            let Shared(lock) = { shared };
            let jni = vm.attach_current_thread_as_daemon(c"contender").expect("attached");
            let (enter, exit) = monitor(jni);
            started.send(()).expect("the first thread waits");
            enter(jni.as_raw(), lock);
            exit(jni.as_raw(), lock);
        });
        starts.recv().expect("the other thread starts");
        // Until it is blocked, which it may not be at once.
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(exit(jni.as_raw(), lock), JNI_OK);
        let begun = Instant::now();
        while !other.is_finished() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        jni.delete_global_ref(lock);
    }
}

/// Each recording has what its own options ask for, and nothing of the one before.
#[test]
fn one_jvm_is_recorded_several_times_with_other_options() {
    let (vm, jni) = make_vm();
    let objects = record(vm, jni, "heap=vm,stack=2", || {
        make_arrays(jni, c"java/lang/String", 300);
        contend(vm, jni);
    });
    assert!(objects.objects["java.lang.String[]"] >= 300, "{:?}", objects.objects);
    assert_eq!(objects.elements.get("monContendedEnter"), None);

    let locks = record(vm, jni, "locks=on", || {
        make_arrays(jni, c"java/lang/String", 300);
        contend(vm, jni);
    });
    assert_eq!(locks.elements.get("monContendedEnter"), Some(&1));
    // Only what threads wait on.
    assert_eq!(locks.objects, BTreeMap::from([("byte[]".to_owned(), 1)]));

    let filtered = record(vm, jni, "heap=vm,include=java.lang.Thread,live=true", || {
        make_arrays(jni, c"java/lang/String", 300);
        make_arrays(jni, c"java/lang/Thread", 7);
    });
    assert_eq!(filtered.objects.get("java.lang.Thread[]"), Some(&7));
    assert_eq!(filtered.objects.get("java.lang.String[]"), None);
    assert!(filtered.elements["liveCount"] > 0);

    let again = record(vm, jni, "heap=vm,locks=on,include=java.lang.String", || {
        make_arrays(jni, c"java/lang/String", 50);
        contend(vm, jni);
    });
    assert_eq!(again.objects.get("java.lang.String[]"), Some(&50));
    assert_eq!(again.objects.get("java.lang.Thread[]"), None);
    assert_eq!(again.elements.get("monContendedEnter"), Some(&1));
}
