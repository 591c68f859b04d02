//! The phases of a VM that starts with the agent, and what is enabled in which.

use std::ffi::{CStr, c_char};
use std::time::Duration;

use jvmti::jni_sys::{JNIEnv, JavaVM};
use jvmti::sys::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_START, jthread,
    jvmtiEnv,
};
use jvmti::{Jni, Vm, guard};

use super::refusal::Refusal;
use super::running::{self, NoTurn, Turn};
use super::{Recording, RecordingStart, copies};
use agent_base::message::message;
use agent_core::core::feature::End;
use hotspot::flags::ArchiveWish;

/// The end of the VM waits so long for a request that is being served.
const LONGEST_REQUEST: Duration = Duration::from_secs(10);
/// It has waited in vain.
const NO_END: &str = "the JVM exited during a request; the trace may be incomplete";

/// The JVM starts with the agent. True, after a message, if it must not start.
///
/// # Safety
/// Called by the JVM with its VM and a NUL-terminated or null option string.
pub unsafe fn stops_on_load(vm: *mut JavaVM, given: *const c_char) -> bool {
    if agent_options::is_switched_off() {
        return false;
    }
    // SAFETY: by the caller's promise.
    let (vm, given) = unsafe {
        let given = if given.is_null() { String::new() } else { CStr::from_ptr(given).to_string_lossy().into_owned() };
        (Vm::from_raw(vm), given)
    };
    load(vm, &given).is_err_and(|refusal| refusal.stops(&given))
}

fn load(vm: Vm, given: &str) -> Result<(), Refusal> {
    let options = agent_options::parse(given).map_err(|error| Refusal::Options(error.to_string()))?;
    let turn = Turn::take().map_err(|untaken| untaken.to_string())?;
    if turn.running().is_some() {
        return Err(Refusal::Twice);
    }
    if copies::is_another_loaded() {
        return Err(Refusal::Circumstances("another copy of the agent is already loaded".into()));
    }
    let recording = Recording::open(vm, options, RecordingStart::WithVm)?;
    turn.set_running(Some(recording));
    // The hook cannot be enabled at VMStart, only here or from VMInit on. Unless classes are rewritten early it does nothing
    // until the classes that rewritten code calls are defined. With it the VM refuses an AOT cache, so where the command line
    // names an archive the classes from VMStart to VMInit are rewritten once they are loaded, as those before are.
    let mut events = vec![JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH];
    let core = recording.core;
    let needs_archive = || core.hotspot.is_some_and(|hotspot| hotspot.archive_wish() == ArchiveWish::Needed);
    // What only entry points of requests are rewritten for is not loaded before VMInit.
    if recording.instrumentation.rewrites_all() && core.source.rewrites() && (core.rewrites_early || !needs_archive()) {
        events.push(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    }
    let env = core.jvm.env;
    Ok(env.enable_events(&events).map_err(|e| e.to_string())?)
}

/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn vm_start(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guard(|| {
        let Some(recording) = running::running() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        match recording.counts.filter(|_| recording.core.rewrites_early) {
            Some(counts) => {
                let defined = counts
                    .define(jni)
                    .map_err(|error| format!("cannot define MartiniCounts, which rewritten classes need: {error}"));
                if let Err(error) = defined.and_then(|()| recording.instrumentation.define_guards(jni)) {
                    message(&error);
                }
            }
            // It says so once more at VMInit.
            None => drop(recording.prepare(jni)),
        }
    });
}

/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guard(|| {
        let Some(recording) = running::running() else { return };
        // SAFETY: the VM passes this thread's environment.
        if let Err(problem) = recording.begin(unsafe { Jni::from_raw(jni) }) {
            message(&problem);
        }
    });
}

/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    // SAFETY: the VM passes this thread's environment.
    guard(|| end_with_vm(unsafe { Jni::from_raw(jni) }));
}

/// The VM ends, or the process does: nobody begins or ends a recording after this.
pub(super) fn end_with_vm(jni: Jni) {
    // Nobody gets the turn after this.
    let turn = Turn::last(LONGEST_REQUEST, |recording| recording.waits_in_vain(jni));
    let recording = match &turn {
        Ok(turn) => turn.running(),
        Err(NoTurn::Stuck(recording)) => Some(*recording),
        Err(NoTurn::Late) => {
            if running::running().is_some() {
                message(NO_END);
            }
            None
        }
    };
    if let Some(recording) = recording {
        recording.end(jni, End::Vm);
    }
}
