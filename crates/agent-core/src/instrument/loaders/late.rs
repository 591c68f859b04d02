//! Guards in a VM that runs: they come into the classes of loaders first, then all loaders are asked, and only then other classes are
//! rewritten.

use std::ffi::c_void;
use std::ptr::null_mut;

use jvmti::jni_sys::{JNIEnv, jclass};
use jvmti::sys::{JVMTI_CLASS_STATUS_PREPARED, jvmtiEnv};
use jvmti::{Jni, SharedRef, guard};

use super::guards::{is_guarded, is_load_class};
use super::vm::{Asking, is_built_in};
use super::waiting::Group;
use crate::instrument::Instrumentation;
use agent_base::agent_thread;
use agent_base::helpers::is_helper;

/// Loaders whose classes are loaded by such loaders, and so on, so many times over.
const DEEPEST: usize = 16;
/// Where `loadClass` comes from.
const CLASS_LOADER: &[u8] = b"java/lang/ClassLoader";

impl Instrumentation {
    /// Puts guards into the classes of loaders that are linked, and asks all loaders.
    pub(in crate::instrument) fn reach_loaders(&self, jni: Jni) {
        if !self.rewrites_all() {
            return;
        }
        self.find_access(jni);
        let mut tried: Vec<jclass> = Vec::new();
        for _ in 0..DEEPEST {
            self.ask_loaders(jni);
            // SAFETY: live references.
            let is_new = |class| tried.iter().all(|&known| unsafe { !jni.is_same_object(known, class) });
            let wanted = self.choose(jni, |class, name| {
                // SAFETY: a live reference.
                self.lacks_guard(jni, class, name) && is_new(class) && unsafe { self.is_reached(jni, class) }
            });
            if wanted.is_empty() {
                break;
            }
            // SAFETY: live references.
            tried.extend(wanted.iter().map(|&class| unsafe { jni.new_global_ref(class) }));
            let _ = self.retransform_watched(jni, || wanted);
        }
        for class in tried {
            // SAFETY: a global reference, or null, that is not used any more.
            unsafe { jni.delete_global_ref(class) };
        }
    }

    /// Whether the code of a loaded class finds all helper classes.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn is_reached(&self, jni: Jni, class: jclass) -> bool {
        let env = self.core.jvm.env;
        let Some(Some(access)) = self.loaders.access.get() else { return false };
        // SAFETY: by the caller's promise; the loader is a local reference, deleted at once.
        unsafe {
            let Ok(loader) = env.get_class_loader(class) else { return false };
            let has_found = || self.named_helpers().all(|helper| access.has_found(jni, loader, helper));
            let is_reached = loader.is_null() || has_found() || is_built_in(env, jni, loader);
            jni.delete_local_ref(loader);
            is_reached
        }
    }

    /// Finds by what loaders are asked; it takes a loader.
    fn find_access(&self, jni: Jni) {
        let env = self.core.jvm.env;
        let _ = self.core.jvm.classes.each_loaded(jni, |class| {
            // SAFETY: live references; the loader is a local one, deleted at once.
            unsafe {
                if self.loaders.access.get().is_none()
                    && let Ok(loader) = env.get_class_loader(class)
                    && !loader.is_null()
                {
                    let _ = self.loaders.access(env, jni, loader);
                    jni.delete_local_ref(loader);
                }
            }
            Ok(())
        });
    }

    /// Whether a loaded class has a `loadClass` without guard, although it may get one.
    pub(in crate::instrument) fn lacks_guard(&self, jni: Jni, class: jclass, name: &[u8]) -> bool {
        // SAFETY: a live reference.
        self.rewrites_all()
            && !is_helper(name)
            && self.load_class(jni, class, name) == Some(false)
            && unsafe { self.core.jvm.env.is_modifiable_class(class).unwrap_or(false) }
    }

    /// Whether a loaded class has a `loadClass` with guard: it has all hooks, too.
    pub(in crate::instrument) fn has_guard(&self, jni: Jni, class: jclass, name: &[u8]) -> bool {
        self.load_class(jni, class, name) == Some(true)
    }

    /// Whether the `loadClass` of a linked class has a guard, if it has code.
    fn load_class(&self, jni: Jni, class: jclass, name: &[u8]) -> Option<bool> {
        let env = self.core.jvm.env;
        // SAFETY: a live reference; the loader is a local one, deleted at once.
        unsafe {
            match self.loaders.access.get() {
                Some(Some(access)) if !jni.is_assignable_from(class, access.loader.0) => return None,
                Some(Some(_)) => {}
                // The VM starts: but for this one, the boot loader's are asked for nothing.
                _ if name != CLASS_LOADER => {
                    let loader = env.get_class_loader(class).ok().filter(|loader| !loader.is_null())?;
                    jni.delete_local_ref(loader);
                }
                _ => {}
            }
            if env.get_class_status(class).is_ok_and(|status| status & JVMTI_CLASS_STATUS_PREPARED == 0) {
                return None;
            }
            let methods = env.get_class_methods(class).ok()?;
            let method = methods.iter().copied().find(|&method| is_load_class(env, method))?;
            env.get_bytecodes(method).ok()?;
            Some(is_guarded(env, method))
        }
    }

    /// Asks the loaders of all classes for the helper classes, as far as that runs no code of theirs. Those that another thread may have
    /// locked are asked by threads of the agent's own, and waited for no longer than a second.
    fn ask_loaders(&self, jni: Jni) {
        let env = self.core.jvm.env;
        // SAFETY: live references.
        let classes = self.choose(jni, |class, _| unsafe { self.ask_loader(jni, class) } == Asking::MayWait);
        let mut groups: Vec<Group> = Vec::new();
        let mut last = null_mut();
        // The VM lists the classes of a loader together.
        for class in classes {
            // SAFETY: live references; the one to the loader is local, deleted when the next one comes.
            unsafe {
                let loader = env.get_class_loader(class).unwrap_or(null_mut());
                match groups.last_mut().filter(|_| jni.is_same_object(loader, last)) {
                    Some(group) => group.push(SharedRef(class)),
                    None => groups.push(vec![SharedRef(class)]),
                }
                jni.delete_local_ref(std::mem::replace(&mut last, loader));
            }
        }
        if groups.is_empty() {
            return;
        }
        let start = || agent_thread::start(env, jni, c"Martini loaders", ask_waiting).is_ok();
        let left = self.loaders.waiting.ask(groups, start);
        // SAFETY: references that are not used any more.
        unsafe {
            jni.delete_local_ref(last);
            left.into_iter().flatten().for_each(|SharedRef(class)| jni.delete_global_ref(class));
        }
    }

    /// Asks the loader of a class, unless that runs its code or may wait; `MayWait` if somebody else has to.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn ask_loader(&self, jni: Jni, class: jclass) -> Asking {
        let env = self.core.jvm.env;
        let Some(Some(access)) = self.loaders.access.get() else { return Asking::RunsItsCode };
        // SAFETY: by the caller's promise; the loader is a local reference, deleted at once.
        unsafe {
            let Ok(loader) = env.get_class_loader(class) else { return Asking::IsHarmless };
            if loader.is_null() {
                return Asking::IsHarmless;
            }
            let has_found = self.named_helpers().all(|helper| access.has_found(jni, loader, helper));
            let checks = self.checks_domains() && access.is_locked_to_ask(jni, loader);
            let mut asking = Asking::IsHarmless;
            if !has_found || checks {
                asking = access.asking(jni, loader);
            }
            if asking == Asking::IsHarmless && !has_found {
                self.named_helpers().for_each(|helper| access.resolve(jni, loader, helper, null_mut()));
            }
            jni.delete_local_ref(loader);
            asking
        }
    }
}

/// On a thread of the agent's own: asks the loaders of classes, however long others have them locked.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn ask_waiting(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let Some(instrumentation) = Instrumentation::current() else { return };
        let env = instrumentation.core.jvm.env;
        while let Some(classes) = instrumentation.loaders.waiting.take() {
            for SharedRef(class) in classes {
                // SAFETY: a global reference, deleted at the end, and the local one to the class's loader.
                unsafe {
                    if let (Some(Some(access)), Ok(loader)) =
                        (instrumentation.loaders.access.get(), env.get_class_loader(class))
                    {
                        if access.asking(jni, loader) != Asking::RunsItsCode {
                            let helpers = instrumentation.named_helpers();
                            helpers.for_each(|helper| access.resolve(jni, loader, helper, class));
                        }
                        jni.delete_local_ref(loader);
                    }
                    jni.delete_global_ref(class);
                }
            }
            instrumentation.loaders.waiting.done();
        }
    });
}
