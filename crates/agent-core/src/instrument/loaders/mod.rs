//! How the code of a class finds the agent's classes, which it names once it is rewritten.
//!
//! The VM resolves each name in a class by `loadClass` of the class's loader: Java code, which may hand out a list of classes and no others,
//! print what it is asked, count, throw, or hang. So each `loadClass` is rewritten to begin with a guard ([`guards`]) that answers for the
//! agent's classes before the loader's own code runs. And the VM is not left to ask when such code first runs, since it locks most loaders
//! to do so: a class is rewritten once its loader has been asked, while the class is loaded. The VM keeps the answer in the loader's table
//! of classes, where it looks first, without a lock and without running any Java.

mod guards;
mod late;
mod vm;
mod waiting;

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use classfile::{ClassFile, Rewritten};
use jvmti::jni_sys::{jclass, jobject};
use jvmti::sys::JVMTI_PHASE_LIVE;
use jvmti::{Env, Jni};

use super::Instrumentation;
use crate::core::Core;
use agent_base::helpers::{COUNTS, HEAP_PROXY, Helper, LOADERS, REQUESTS};
use guards::Guards;
use trace::modified_utf8;
use trace::names::class_name;
use vm::{Access, Asking, is_built_in};
use waiting::Waiting;

/// The first feature release whose VM does not look, before it uses an entry in the table of a loader, whether the protection domain of
/// the class has been checked for it; if not, it locks the loader.
const FIRST_WITHOUT_DOMAINS: u32 = 18;

/// What is known of loaders; the same in all recordings.
#[derive(Default)]
pub(super) struct Loaders {
    access: OnceLock<Option<Access>>,
    /// Those that are asked by threads that may wait for them.
    waiting: Waiting,
}

impl Loaders {
    /// # Safety
    /// `loader` is a live reference.
    unsafe fn access(&self, env: Env, jni: Jni, loader: jobject) -> Option<&Access> {
        let find = || {
            jni.push_local_frame(16).inspect_err(|_| jni.exception_clear()).ok()?;
            // SAFETY: by the caller's promise; the frame from above, none of whose references is used any more.
            unsafe {
                let access = Access::of(env, jni, loader).inspect_err(|_| jni.exception_clear());
                jni.pop_local_frame();
                access.ok()
            }
        };
        self.access.get_or_init(find).as_ref()
    }
}

impl Instrumentation {
    /// Defines the class that guards call, if classes of loaders are rewritten. Works from the early VMStart on.
    ///
    /// # Errors
    /// What the VM refuses: one sentence.
    pub fn define_guards(&self, jni: Jni) -> Result<(), String> {
        let defined = if self.rewrites_all() { self.core.jvm.helpers.define(jni, &LOADERS).map(drop) } else { Ok(()) };
        defined.map_err(|error| format!("cannot define MartiniLoaders, which rewritten classes need: {error}"))
    }

    /// Whether loaders can be asked: from the VM's live phase on, which may begin before this agent hears of it.
    fn can_ask(&self, jni: Jni) -> bool {
        let is_live = self.is_initialised() || self.core.jvm.env.get_phase() == Ok(JVMTI_PHASE_LIVE);
        if is_live && !self.has_guards.load(Ordering::Acquire) {
            self.begin_guards(jni);
        }
        is_live
    }

    /// Lets the guards answer for the classes that are defined.
    pub(super) fn begin_guards(&self, jni: Jni) {
        let helpers = &self.core.jvm.helpers;
        if let Some(guards) = helpers.known(&LOADERS) {
            guards.set_boolean(jni, c"counts", helpers.known(&COUNTS).is_some());
            guards.set_boolean(jni, c"proxy", helpers.known(&HEAP_PROXY).is_some());
            guards.set_boolean(jni, c"requests", helpers.known(&REQUESTS).is_some());
        }
        self.has_guards.store(true, Ordering::Release);
    }

    /// Whether code that the VM links by that loader finds a helper class; if not, that is counted.
    ///
    /// # Safety
    /// `loader` is a live reference or null.
    pub(super) unsafe fn finds(&self, jni: Jni, loader: jobject, helper: &'static Helper) -> bool {
        if loader.is_null() {
            return true;
        }
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        unsafe {
            let finds =
                if self.can_ask(jni) { self.has_found(jni, loader, helper) } else { is_built_in(env, jni, loader) };
            if !finds {
                refuse(self.core, jni, loader);
            }
            finds
        }
    }

    /// # Safety
    /// `loader` is a live reference.
    unsafe fn has_found(&self, jni: Jni, loader: jobject, helper: &'static Helper) -> bool {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        unsafe {
            let Some(access) = self.loaders.access(env, jni, loader) else { return is_built_in(env, jni, loader) };
            if access.has_found(jni, loader, helper) {
                return true;
            }
            if access.asking(jni, loader) != Asking::IsHarmless {
                return is_built_in(env, jni, loader);
            }
            access.resolve(jni, loader, helper, std::ptr::null_mut());
            access.has_found(jni, loader, helper)
        }
    }

    /// The VM has made a class on the current thread, which has its loader locked if the VM locks that to ask it: has the VM check what
    /// it would otherwise check, and lock the loader for, when the code of the class runs.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn check_domain(&self, jni: Jni, class: jclass) {
        let env = self.core.jvm.env;
        if !self.checks_domains() || !self.can_ask(jni) {
            return;
        }
        // SAFETY: by the caller's promise; the loader is a local reference, deleted at once.
        unsafe {
            let Ok(loader) = env.get_class_loader(class) else { return };
            if loader.is_null() {
                return;
            }
            if let Some(access) = self.loaders.access(env, jni, loader)
                && access.is_locked_to_ask(jni, loader)
                && access.holds(jni, loader)
            {
                self.check_domain_of(access, jni, loader, class);
            }
            jni.delete_local_ref(loader);
        }
    }

    /// # Safety
    /// The references are live.
    unsafe fn check_domain_of(&self, access: &Access, jni: Jni, loader: jobject, class: jclass) {
        for helper in self.named_helpers() {
            // SAFETY: by the caller's promise.
            unsafe {
                if access.has_found(jni, loader, helper) {
                    access.resolve(jni, loader, helper, class);
                }
            }
        }
    }

    /// Whether the VM looks at protection domains before it uses what a loader has found.
    pub(super) fn checks_domains(&self) -> bool {
        self.rewrites_all() && self.core.jvm.java < FIRST_WITHOUT_DOMAINS
    }

    /// The helper classes that a program's classes may name.
    fn named_helpers(&self) -> impl Iterator<Item = &'static Helper> {
        let hooks = self.rewriters.iter().filter_map(|rewriter| rewriter.helper());
        hooks.chain(self.rewrites_all().then_some(&LOADERS))
    }

    /// The class with a guard in its `loadClass`; `None` if it has none.
    ///
    /// # Safety
    /// `loader` is a live reference or null.
    pub(super) unsafe fn guard<'c>(&self, class: &ClassFile<'c>, jni: Jni, loader: jobject) -> Option<Rewritten<'c>> {
        // SAFETY: by the caller's promise.
        if !self.rewrites_all() || !guards::has_method(class) || !unsafe { self.finds(jni, loader, &LOADERS) } {
            return None;
        }
        Some(classfile::rewrite_class(class, &mut Guards))
    }
}

/// Counts a class that is left as it is, by the class of its loader.
///
/// # Safety
/// `loader` is a live reference.
unsafe fn refuse(core: &Core, jni: Jni, loader: jobject) {
    // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
    let signature = unsafe {
        let class = jni.get_object_class(loader);
        let signature = core.jvm.env.get_class_signature(class);
        jni.delete_local_ref(class);
        signature
    };
    let name = signature.map_or_else(|_| "?".into(), |name| class_name(&modified_utf8::decode(&name)));
    core.rewriting.refuse(&format!("class: its loader {name} cannot be asked for the agent's classes"));
}
