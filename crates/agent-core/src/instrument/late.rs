//! The rewriting of a recording that begins, or ends, while the program runs.
//!
//! Classes that the program has linked are retransformed at once, the others when they are linked (`unlinked`). Frames that run
//! meanwhile keep their code until they return. At the end every class that calls one of our helper classes gets its own code back,
//! but for hidden ones, which the VM does not retransform: their hooks find that nothing is recorded.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use jvmti::jni_sys::{JNIEnv, jclass};
use jvmti::sys::{
    CAN_GET_CONSTANT_POOL, CAN_RETRANSFORM_CLASSES, JVMTI_CLASS_STATUS_PREPARED, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE, jvmtiCapabilities, jvmtiEnv, jvmtiEvent,
};
use jvmti::{Jni, guard};

use super::Instrumentation;
use super::retransform::{RetransformSubset, is_own, names_one};
use agent_base::agent_thread;
use agent_base::helpers::{self, is_helper};

/// By what the gate sees classes being made.
const GATE_EVENTS: [jvmtiEvent; 2] = [JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_LOAD];

impl Instrumentation {
    /// The recording begins in a VM that runs: retransforms the classes that are linked and have something to rewrite.
    ///
    /// # Errors
    /// What the VM refuses: one sentence.
    pub(super) fn begin_late(&self, jni: Jni) -> Result<(), String> {
        let env = self.core.jvm.env;
        self.start_up.keep();
        self.unlinked.clear(jni);
        if self.rewriters.is_empty() {
            self.watch_others();
            return Ok(());
        }
        // For those that are linked meanwhile.
        self.start_thread(jni).map_err(|error| format!("cannot start the thread that rewrites classes: {error}"))?;
        env.enable_event(JVMTI_EVENT_CLASS_PREPARE).map_err(|e| e.to_string())?;
        self.reach_loaders(jni);
        self.retransform_watched(jni, || {
            let all = RetransformSubset::All;
            let needs =
                |class, name: &[u8]| self.needs_rewriting(class, name, all) && !self.has_guard(jni, class, name);
            let wanted = self.choose_linked(jni, needs);
            self.swapping.store(true, Ordering::Release);
            wanted
        })?;
        self.core.jvm.methods.redefined.add_own();
        if !self.rewrites_all() {
            self.watch_others();
        }
        Ok(())
    }

    /// The recording has ended, and the VM goes on: gives classes their own code back.
    pub fn restore(&self, jni: Jni) {
        if self.rewriters.is_empty() {
            return;
        }
        let env = self.core.jvm.env;
        self.unlinked.clear(jni);
        // One that is being rewritten yet would stay so.
        self.linked.wait_for_all();
        // Without it classes that are not linked yet keep calls to helper classes, as hidden ones do.
        let _ = self.start_thread(jni);
        // Each VM grants both at any time; without them nothing was rewritten.
        let _ = env.add_capabilities(jvmtiCapabilities::of(&[CAN_RETRANSFORM_CLASSES, CAN_GET_CONSTANT_POOL]));
        // First, so that no class is linked unseen between the look at it and the event.
        let _ = env.enable_event(JVMTI_EVENT_CLASS_PREPARE);
        let wanted = || self.choose_linked(jni, |class, name| self.is_rewritten(class, name));
        let _ = self.retransform_watched(jni, wanted);
        self.core.jvm.methods.redefined.add_own();
        if self.unlinked.is_empty() {
            env.disable_events(&[JVMTI_EVENT_CLASS_PREPARE]);
        }
        self.linked.release();
    }

    /// The wanted classes that are linked, as global references; the others are noted.
    fn choose_linked(&self, jni: Jni, is_wanted: impl Fn(jclass, &[u8]) -> bool) -> Vec<jclass> {
        let env = self.core.jvm.env;
        let is_linked = |class| {
            // SAFETY: a live reference.
            let status = unsafe { env.get_class_status(class) };
            status.is_ok_and(|status| status & JVMTI_CLASS_STATUS_PREPARED != 0)
        };
        self.choose(jni, |class, name| {
            if is_linked(class) {
                return is_wanted(class, name);
            }
            if is_wanted(class, name) {
                // SAFETY: a live reference.
                unsafe { self.unlinked.add(jni, name, class) };
                // Linked in between, it had its event before it was noted.
                // SAFETY: as above.
                return is_linked(class) && unsafe { self.unlinked.take(env, jni, class) };
            }
            false
        })
    }

    /// Whether a class calls one of our helper classes: then its constant pool has the name.
    fn is_rewritten(&self, class: jclass, name: &[u8]) -> bool {
        let env = self.core.jvm.env;
        // SAFETY: a live reference.
        unsafe {
            !is_helper(name)
                && env.is_modifiable_class(class).unwrap_or(false)
                && names_one(env, class, &helpers::internal_names())
        }
    }

    /// A class has been linked on the current thread: if it waited for that it is retransformed, for this recording, or to get its
    /// own code back.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(crate) unsafe fn class_linked(&self, jni: Jni, class: jclass) {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        if self.unlinked.is_empty() || !unsafe { self.unlinked.take(env, jni, class) } {
            return;
        }
        // SAFETY: by the caller's promise.
        let Some(ticket) = (unsafe { self.linked.add(jni, class) }) else { return };
        // What was linked in order to verify others does not run yet, and the others' request would be waited for.
        if !is_own() {
            self.gate.aside(|| self.linked.wait(ticket));
        }
    }

    /// Starts the thread for classes that are linked, if there is none. Not on a thread of the program's: the VM runs Java code meanwhile,
    /// and the new thread inherits from the one that makes it.
    fn start_thread(&self, jni: Jni) -> Result<(), String> {
        if !self.linked.need() {
            return Ok(());
        }
        let started = agent_thread::start(self.core.jvm.env, jni, c"Martini linked classes", rewrite_linked);
        started.inspect_err(|_| self.linked.has_no_thread())
    }

    /// Retransforms the classes that `choose` gives, while others that are made are noted, and deletes the global references.
    ///
    /// # Errors
    /// The VM refuses to report which classes are made: one sentence. They are retransformed even so.
    pub(super) fn retransform_watched(&self, jni: Jni, choose: impl FnOnce() -> Vec<jclass>) -> Result<(), String> {
        let env = self.core.jvm.env;
        let _watch = self.gate.watch();
        let enabled = env.enable_events(&GATE_EVENTS).map_err(|error| error.to_string());
        self.retransform_late(jni, choose());
        // Those that nobody else needs cost every class that is loaded a little.
        let is_on = self.is_ready.load(Ordering::Acquire);
        if !is_on || !self.is_hooked.load(Ordering::Acquire) {
            env.disable_events(&[JVMTI_EVENT_CLASS_FILE_LOAD_HOOK]);
        }
        if !is_on || !self.core.source.counts() && !self.checks_domains() {
            env.disable_events(&[JVMTI_EVENT_CLASS_LOAD]);
        }
        enabled
    }
}

/// On a thread of the agent's own: retransforms classes that were linked, as long as there are some.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn rewrite_linked(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let Some(Instrumentation { linked, unlinked, .. }) = Instrumentation::current() else { return };
        while let Some((classes, last)) = linked.take(|| unlinked.is_empty()) {
            // Whoever asks, it is for the recording that runs by now.
            if let Some(current) = Instrumentation::current() {
                let _ = current.retransform_watched(jni, || classes);
            }
            linked.done(last);
        }
    });
}
