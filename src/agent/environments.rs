//! The agent's environments in the VM, and what each may do.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jvmti::sys::*;
use jvmti::{ArchiveWish, Env, Vm as JavaVirtualMachine};

use super::engine::Engine;
use super::tags::Tags;
use super::{virtual_threads, waits};
use agent_options::{DumpWhen, LockOptions};

const CLASSES: jvmtiCapabilities =
    jvmtiCapabilities::of(&[CAN_TAG_OBJECTS, CAN_GET_BYTECODES, CAN_GET_LINE_NUMBERS, CAN_GET_SOURCE_FILE_NAME]);
const REWRITING: [Capability; 3] = [CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_RETRANSFORM_CLASSES, CAN_GET_CONSTANT_POOL];
const TAGS: jvmtiCapabilities = jvmtiCapabilities::of(&[CAN_TAG_OBJECTS]);

/// The first feature release that verifies each class that an agent changes as it is loaded (JDK-8351654), and loads others for that.
const FIRST_TO_VERIFY: u32 = 25;

/// Whether every class is to be rewritten as it is loaded, from the first on: redefining at VMInit what was loaded before takes many
/// times as long. The VM then does without its CDS archive, which costs less than that, where it does not verify the classes too; but
/// not if one was asked for. And not with `juc=on`, whose class needs more of the JDK than is there in the beginning.
pub(crate) fn rewrites_early(env: Env, java: u32, engine: Engine, threads: Option<&LockOptions>) -> bool {
    let is_cheaper = || match jvmti::archive_wish() {
        ArchiveWish::Needed => false,
        ArchiveWish::Unwanted => true,
        ArchiveWish::IfThere => java < FIRST_TO_VERIFY || !has_archive(env),
    };
    engine == Engine::Counts && !threads.is_some_and(|threads| threads.juc) && is_cheaper()
}

/// Whether the JDK comes with a CDS archive.
fn has_archive(env: Env) -> bool {
    let home = env.get_system_property(c"java.home").ok();
    let folder = home.map(|home| Path::new(OsStr::from_bytes(&home)).join("lib/server"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    entries.into_iter().flatten().flatten().any(|entry| entry.path().extension() == Some(OsStr::new("jsa")))
}

/// All environments.
pub(crate) struct Environments {
    /// Tags of classes, thread-local storage, and all events that are not about objects or collections.
    pub(crate) env: Env,
    /// Tags of objects; the first has the events about allocations and collections.
    pub(crate) tags: Tags,
}

/// One environment.
pub(crate) fn make(vm: JavaVirtualMachine) -> Result<Env, String> {
    vm.get_env(JVMTI_VERSION_11).map_err(|e| format!("this JVM is not supported, JDK 11 to 25 are: {e}"))
}

impl Environments {
    /// The others beside `env`, and the capabilities of all that the engine needs. The VM samples allocations if the bytes
    /// between two samples are given, and shows even its first classes if that is wanted.
    ///
    /// # Errors
    /// What the VM refuses: one sentence.
    pub(crate) fn make(
        vm: JavaVirtualMachine,
        env: Env,
        engine: Engine,
        early: bool,
        interval_bytes: Option<u32>,
        threads: Option<&LockOptions>,
        dumps: DumpWhen,
    ) -> Result<Environments, String> {
        let identifies = engine.identifies(threads.is_some());
        let tags: Box<[Env]> = (0..Tags::wanted(engine, identifies)).map(|_| make(vm)).collect::<Result<_, _>>()?;
        let mut classes = CLASSES;
        for capability in REWRITING.into_iter().filter(|_| engine.rewrites()) {
            classes = classes.with(capability);
        }
        if early {
            classes = classes.with(CAN_GENERATE_EARLY_VMSTART).with(CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS);
        }
        if let Some(threads) = threads {
            for capability in waits::CAPABILITIES {
                classes = classes.with(capability);
            }
            if threads.juc {
                classes = classes.with(CAN_RETRANSFORM_CLASSES);
            }
        }
        // Counters belong to platform threads.
        if (engine.follows() || threads.is_some()) && virtual_threads::are_offered(env) {
            classes = classes.with(CAN_SUPPORT_VIRTUAL_THREADS);
        }
        if dumps.out_of_memory {
            classes = classes.with(CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS);
        }
        let mut heap = jvmtiCapabilities::of(&[CAN_GENERATE_GARBAGE_COLLECTION_EVENTS]);
        if interval_bytes.is_some() {
            heap = heap.with(CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS);
        }
        if engine.has_hooks() || engine == Engine::Counts {
            heap = heap.with(CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS);
        }
        let add = |env: Env, wanted| {
            env.add_capabilities(wanted).map_err(|e| format!("this JVM lacks what the profiler needs: {e}"))
        };
        add(env, classes)?;
        add(tags[0], heap)?;
        for &tagging in &tags {
            add(tagging, TAGS)?;
        }
        if let Some(bytes) = interval_bytes {
            // Each thread takes the interval over when it is made, the first one soon after this.
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            tags[0].set_heap_sampling_interval(bytes).map_err(|e| e.to_string())?;
        }
        Ok(Environments { env, tags: Tags::new(tags, identifies) })
    }
}
