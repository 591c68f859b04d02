//! The agent's environments in the VM, and what each may do.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use agent_options::Options;

use jvmti::sys::*;
use jvmti::{Env, Vm, VmError};

use super::virtual_threads;
use crate::core::Jvm;
use crate::core::source::AllocationSource;
use agent_base::objects::tags::Tags;
use hotspot::Hotspot;
use hotspot::flags::ArchiveWish;

const CLASSES: jvmtiCapabilities =
    jvmtiCapabilities::of(&[CAN_TAG_OBJECTS, CAN_GET_BYTECODES, CAN_GET_LINE_NUMBERS, CAN_GET_SOURCE_FILE_NAME]);
/// What rewriting needs.
pub const REWRITING: [Capability; 3] =
    [CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_RETRANSFORM_CLASSES, CAN_GET_CONSTANT_POOL];
/// The first release that looks at the `Thread` of each thread to find who owns a monitor.
pub const FIRST_BY_THREADS: u32 = 23;

/// What the events of monitors need.
pub const LOCKS: [Capability; 2] = [CAN_GENERATE_MONITOR_EVENTS, CAN_GET_MONITOR_INFO];
const TAGS: jvmtiCapabilities = jvmtiCapabilities::of(&[CAN_TAG_OBJECTS]);

/// The first feature release that verifies each class that an agent changes as it is loaded (JDK-8351654), and loads others for
/// that.
const FIRST_TO_VERIFY: u32 = 25;

/// Whether every class is to be rewritten as it is loaded, from the first on: to redefine at VMInit what was loaded earlier
/// takes many times as long. The VM then cannot use its CDS archive, which costs less than the redefinition unless the VM also
/// verifies the classes (JDK 25). It is not done if the user asked for an archive, nor with `juc=on`, whose helper class needs
/// more of the JDK than is loaded at that time.
pub fn rewrites_early(jvm: &Jvm, hotspot: Option<&Hotspot>, source: AllocationSource, options: &Options) -> bool {
    // In safe mode nothing shows whether the user asked for an archive.
    let is_cheaper = || match hotspot.map_or(ArchiveWish::Needed, Hotspot::archive_wish) {
        ArchiveWish::Needed => false,
        ArchiveWish::Unwanted => true,
        ArchiveWish::Default => jvm.java < FIRST_TO_VERIFY || !has_archive(jvm.env),
    };
    source.counts() && !options.locks.as_ref().is_some_and(|locks| locks.juc) && is_cheaper()
}

/// Whether the JDK comes with a CDS archive.
fn has_archive(env: Env) -> bool {
    let home = env.get_system_property(c"java.home").ok();
    let folder = home.map(|home| Path::new(OsStr::from_bytes(&home)).join("lib/server"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    entries.into_iter().flatten().flatten().any(|entry| entry.path().extension() == Some(OsStr::new("jsa")))
}

/// Why a JVM gives no environment.
#[derive(Debug, PartialEq, Eq)]
pub enum NoEnvironment {
    /// It is just starting, or about to end.
    NotNow,
    /// One sentence.
    Unsupported(String),
}

impl fmt::Display for NoEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEnvironment::NotNow => f.write_str("the JVM is starting or exiting; try again in a moment"),
            NoEnvironment::Unsupported(sentence) => f.write_str(sentence),
        }
    }
}

/// One environment.
///
/// # Errors
/// The JVM is in the wrong phase, older than those that are supported, or of another make.
pub fn make(vm: Vm) -> Result<Env, NoEnvironment> {
    let made = vm.get_env(JVMTI_VERSION_11);
    if made.is_err_and(VmError::is_detached) {
        return Err(NoEnvironment::NotNow);
    }
    // An older one has an older interface.
    let Ok(asked) = made.or_else(|_| vm.get_env(JVMTI_VERSION_1)) else { return Err(unsupported("this JVM")) };
    let property = |name| asked.get_system_property(name).map(|text| String::from_utf8_lossy(&text).into_owned());
    let name = property(c"java.vm.name").unwrap_or_else(|_| "this JVM".into());
    match made {
        Ok(env) if is_hotspot(&name) => Ok(env),
        _ => Err(unsupported(&format!("{name} {}", property(c"java.vm.version").unwrap_or_default()))),
    }
}

fn unsupported(jvm: &str) -> NoEnvironment {
    NoEnvironment::Unsupported(format!("{jvm} is not supported; Martini needs OpenJDK HotSpot, JDK 11 to 25"))
}

/// Whether a JVM is HotSpot, by the names under which it is built.
fn is_hotspot(name: &str) -> bool {
    ["OpenJDK", "HotSpot", "Dynamic Code Evolution"].iter().any(|part| name.contains(part))
}

/// The environments for tags of a recording, with the capabilities of all that it needs. The VM samples allocations if the
/// bytes between two samples are given, and shows even its first classes if classes are rewritten `early`.
///
/// # Errors
/// What the VM refuses: one sentence.
pub fn prepare(
    jvm: &Jvm,
    hotspot: Option<&Hotspot>,
    options: &Options,
    source: AllocationSource,
    early: bool,
    interval_bytes: Option<u32>,
) -> Result<Tags, String> {
    let locks = options.locks.as_ref();
    let identifies = source.identifies(locks.is_some());
    let tags =
        jvm.tag_envs(Tags::wanted(source.tracks_objects(), identifies), || make(jvm.vm).map_err(|e| e.to_string()))?;
    let mut classes = CLASSES;
    for capability in REWRITING.into_iter().filter(|_| source.rewrites() || options.requests.any()) {
        classes = classes.with(capability);
    }
    if early {
        classes = classes.with(CAN_GENERATE_EARLY_VMSTART).with(CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS);
    }
    if let Some(locks) = locks {
        for capability in LOCKS {
            classes = classes.with(capability);
        }
        // Data requests show it; a VM that runs already does not grant it.
        if jvm.env.get_potential_capabilities().is_ok_and(|c| c.has(CAN_GET_CURRENT_CONTENDED_MONITOR)) {
            classes = classes.with(CAN_GET_CURRENT_CONTENDED_MONITOR);
        }
        // The JIT of earlier VMs would leave objects alone that it removes else. A VM that runs already does not grant it.
        if jvm.java >= FIRST_BY_THREADS
            && jvm.env.get_potential_capabilities().is_ok_and(|c| c.has(CAN_GET_OWNED_MONITOR_INFO))
        {
            classes = classes.with(CAN_GET_OWNED_MONITOR_INFO);
        }
        if locks.juc || virtual_threads::are_offered(jvm.env) {
            classes = classes.with(CAN_RETRANSFORM_CLASSES);
        }
    }
    // A VM on a system without such clocks does not offer it.
    let looks_at_threads = locks.is_some() || options.samples.threads();
    if looks_at_threads && jvm.env.get_potential_capabilities().is_ok_and(|c| c.has(CAN_GET_THREAD_CPU_TIME)) {
        classes = classes.with(CAN_GET_THREAD_CPU_TIME);
    }
    if source.follows_threads(options) && virtual_threads::are_offered(jvm.env) {
        classes = classes.with(CAN_SUPPORT_VIRTUAL_THREADS);
    }
    if options.dump.when.out_of_memory || hotspot.is_some_and(Hotspot::exits_on_out_of_memory) {
        classes = classes.with(CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS);
    }
    let mut heap = jvmtiCapabilities::of(&[CAN_GENERATE_GARBAGE_COLLECTION_EVENTS]);
    if interval_bytes.is_some() {
        heap = heap.with(CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS);
    }
    if source.has_hooks() || source.counts() {
        heap = heap.with(CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS);
    }
    let add = |env: Env, wanted| {
        env.add_capabilities(wanted).map_err(|e| format!("this JVM lacks a capability that Martini needs: {e}"))
    };
    let added = add(jvm.env, classes)
        .and_then(|()| add(tags[0], heap))
        .and_then(|()| tags.iter().try_for_each(|&tagging| add(tagging, TAGS)));
    if added.is_err() {
        // A JVM that is not profiled is to be as fast as without agent.
        for env in tags.iter().copied().chain([jvm.env]) {
            let _ = env.get_capabilities().and_then(|granted| env.relinquish_capabilities(granted));
        }
    }
    added?;
    let tags = Tags::new(tags, identifies, jvm.ids.peek());
    if let Some(bytes) = interval_bytes {
        // Each thread takes the interval over when it is made, the first one soon after this.
        tags.set_sampling_interval(bytes).map_err(|e| e.to_string())?;
    }
    Ok(tags)
}

/// Does something that needs the lines of code, whether a recording runs, which has them, or not.
pub fn with_lines<T>(env: Env, act: impl FnOnce() -> T) -> T {
    let lines = jvmtiCapabilities::of(&[CAN_GET_LINE_NUMBERS]);
    let is_new = !env.get_capabilities().is_ok_and(|granted| granted.has(CAN_GET_LINE_NUMBERS));
    let is_added = is_new && env.add_capabilities(lines).is_ok();
    let done = act();
    if is_added {
        let _ = env.relinquish_capabilities(lines);
    }
    done
}

/// Lets an environment set breakpoints, which one agent of a JVM may have.
///
/// # Errors
/// Why it may not: a part of a sentence.
pub fn take_breakpoints(env: Env, has_debugger: bool) -> Result<(), String> {
    if env.get_phase() != Ok(JVMTI_PHASE_ONLOAD) {
        return Err("the agent must be loaded at JVM start".into());
    }
    // One that comes later would not find what it needs, and end the JVM.
    if has_debugger {
        return Err("only one agent can use breakpoints, and the debugger needs them".into());
    }
    let breakpoints = jvmtiCapabilities::of(&[CAN_GENERATE_BREAKPOINT_EVENTS]);
    env.add_capabilities(breakpoints).map_err(|_| "only one agent can use breakpoints, and another has them".into())
}

/// Bytes between two samples of the VM, unless somebody asks for another number.
pub const DEFAULT_SAMPLING_INTERVAL: u32 = 512 << 10;

/// The recording has ended, and the VM goes on: gives back what costs it something, or what another agent cannot have meanwhile.
pub fn give_back(env: Env, tags: &Tags) {
    let keep = |env: Env, kept: jvmtiCapabilities| {
        let granted = env.get_capabilities().unwrap_or(jvmtiCapabilities::NONE);
        if granted.has(CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS) {
            let _ = tags.set_sampling_interval(DEFAULT_SAMPLING_INTERVAL);
        }
        let _ = env.relinquish_capabilities(granted.difference(kept));
    };
    // Classes that wait to be linked are retransformed later.
    keep(env, CLASSES.with(CAN_RETRANSFORM_CLASSES).with(CAN_GET_CONSTANT_POOL));
    tags.envs().iter().for_each(|&env| keep(env, TAGS));
}

/// Has the VM sample an object per so many bytes on average, beside what `prepare` has asked for.
///
/// # Errors
/// Why this VM does not sample: only one agent can have it do so.
pub fn sample_allocations(tags: &Tags, interval_bytes: u32) -> Result<(), String> {
    tags.envs()[0]
        .add_capabilities(jvmtiCapabilities::of(&[CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS]))
        .map_err(|e| format!("the JVM's sampler is not available; another agent may have it ({e})"))?;
    tags.set_sampling_interval(interval_bytes).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ffi::{CStr, c_char, c_void};
    use std::ptr::{from_mut, null_mut};

    use jvmti::jni_sys::{JNI_EVERSION, JNI_OK, JavaVM, jint};

    use super::*;

    thread_local! {
        /// Of the JVM that is made: its newest interface, its name and its version.
        static MADE: Cell<(jint, &'static CStr, &'static CStr)> = const { Cell::new((0, c"", c"")) };
        static ENVIRONMENT: Cell<*mut jvmtiEnv> = const { Cell::new(null_mut()) };
    }

    unsafe extern "system" fn get_env(_: *mut JavaVM, environment: *mut *mut c_void, version: jint) -> jint {
        if version > MADE.get().0 {
            return JNI_EVERSION;
        }
        // SAFETY: the caller's variable.
        unsafe { environment.write(ENVIRONMENT.get().cast()) };
        JNI_OK
    }

    unsafe extern "system" fn get_system_property(
        _: *mut jvmtiEnv,
        name: *const c_char,
        value: *mut *mut c_char,
    ) -> jvmtiError {
        let (_, vm, version) = MADE.get();
        // SAFETY: the caller's text and variable.
        unsafe { value.write(if CStr::from_ptr(name) == c"java.vm.name" { vm } else { version }.as_ptr().cast_mut()) };
        JVMTI_ERROR_NONE
    }

    unsafe extern "system" fn deallocate(_: *mut jvmtiEnv, _: *mut u8) -> jvmtiError {
        JVMTI_ERROR_NONE
    }

    /// What is said to a JVM that has an interface and two properties.
    fn answer(newest: jint, name: &'static CStr, version: &'static CStr) -> Option<String> {
        MADE.set((newest, name, version));
        // SAFETY: the slots are optional functions and unused pointers.
        let mut functions: jvmtiInterface_1_ = unsafe { std::mem::zeroed() };
        functions.GetSystemProperty = Some(get_system_property);
        functions.Deallocate = Some(deallocate);
        let mut environment: jvmtiEnv = &raw const functions;
        ENVIRONMENT.set(from_mut(&mut environment));
        // Only `GetEnv` is called.
        let table = [get_env as *const c_void; 8];
        let mut vm: JavaVM = table.as_ptr().cast();
        // SAFETY: what is called of it is there.
        make(unsafe { Vm::from_raw(&mut vm) }).err().map(|error| error.to_string())
    }

    #[test]
    fn a_jvm_of_another_kind_is_named() {
        let jdk8 = answer(JVMTI_VERSION_1_2, c"OpenJDK 64-Bit Server VM", c"25.402-b06");
        let sentence = "OpenJDK 64-Bit Server VM 25.402-b06 is not supported; Martini needs OpenJDK HotSpot, JDK 11 to \
                        25";
        assert_eq!(jdk8.as_deref(), Some(sentence));
        let openj9 = answer(JVMTI_VERSION_11, c"Eclipse OpenJ9 VM", c"openj9-0.43.0");
        let sentence = "Eclipse OpenJ9 VM openj9-0.43.0 is not supported; Martini needs OpenJDK HotSpot, JDK 11 to 25";
        assert_eq!(openj9.as_deref(), Some(sentence));
        assert!(answer(0, c"", c"").is_some_and(|sentence| sentence.starts_with("this JVM is not supported")));
        for name in [c"OpenJDK 64-Bit Server VM", c"Java HotSpot(TM) 64-Bit Server VM"] {
            assert_eq!(answer(JVMTI_VERSION_11, name, c"17.0.9+9"), None);
        }
    }
}
