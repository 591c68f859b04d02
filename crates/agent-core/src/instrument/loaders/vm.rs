//! The methods of the JDK by which the VM is asked for the class that a loader finds.

use std::ffi::CString;

use jvmti::jni_sys::{JNI_ERR, jclass, jfieldID, jmethodID, jobject, jvalue};
use jvmti::{Env, Jni, JniError, SharedRef};

use super::guards::is_guarded;
use agent_base::helpers::{COUNTS, HEAP_PROXY, Helper, LOADERS, REQUESTS};

/// `ACC_SYNCHRONIZED`, of a method.
const SYNCHRONIZED: i32 = 0x20;

/// The helper classes that a program's classes name once they are rewritten.
const NAMED: [&Helper; 4] = [&COUNTS, &HEAP_PROXY, &REQUESTS, &LOADERS];

/// The classes of built-in loaders, which give `java.lang` to the boot loader.
const BUILT_IN: [&[u8]; 2] =
    [b"Ljdk/internal/loader/ClassLoaders$AppClassLoader;", b"Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;"];

/// What is asked, and of what.
pub(super) struct Access {
    env: Env,
    /// `Class`, `ClassLoader`, `Thread`.
    class: SharedRef,
    pub(super) loader: SharedRef,
    thread: SharedRef,
    /// `Class.forName0`: has the VM resolve a name by a loader, as for the code of a class.
    for_name: jmethodID,
    /// `ClassLoader.findLoadedClass0`: what the VM has resolved by a loader. Runs no Java.
    find_loaded: jmethodID,
    /// `ClassLoader.parallelLockMap`: null if the VM locks the loader whenever it asks it.
    parallel: jfieldID,
    /// `Thread.holdsLock`.
    holds_lock: jmethodID,
    /// The names of the helper classes as strings.
    names: [SharedRef; NAMED.len()],
}

// SAFETY: ids and global references of what is never unloaded, which JNI lets every thread use.
unsafe impl Send for Access {}
// SAFETY: as above.
unsafe impl Sync for Access {}

impl Access {
    /// Nothing is looked up by name but members: the VM would ask the loader of whoever runs on this thread.
    ///
    /// # Errors
    /// What the VM refuses; an exception may be pending.
    ///
    /// # Safety
    /// `loader` is a live reference.
    pub(super) unsafe fn of(env: Env, jni: Jni, loader: jobject) -> Result<Access, JniError> {
        // SAFETY: by the caller's promise; all references are live, and the global ones are never deleted. The members are those of every
        // JDK from 11 to 25.
        unsafe {
            let thread = env.get_current_thread().map_err(|_| JniError::Code(JNI_ERR))?;
            let global = |local| SharedRef(jni.new_global_ref(local));
            let loader = below_object(jni, jni.get_object_class(loader));
            let class = jni.get_object_class(loader);
            let thread = below_object(jni, jni.get_object_class(thread));
            let mut names = [const { SharedRef(std::ptr::null_mut()) }; NAMED.len()];
            for (name, helper) in names.iter_mut().zip(NAMED) {
                let dotted = CString::new(helper.dotted_name).unwrap_or_default();
                *name = global(jni.new_string_utf(&dotted)?);
            }
            let for_name = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;Ljava/lang/Class;)Ljava/lang/Class;";
            let map = c"Ljava/util/concurrent/ConcurrentHashMap;";
            Ok(Access {
                env,
                for_name: jni.get_static_method_id(class, c"forName0", for_name)?,
                find_loaded: jni.get_method_id(
                    loader,
                    c"findLoadedClass0",
                    c"(Ljava/lang/String;)Ljava/lang/Class;",
                )?,
                parallel: jni.get_field_id(loader, c"parallelLockMap", map)?,
                holds_lock: jni.get_static_method_id(thread, c"holdsLock", c"(Ljava/lang/Object;)Z")?,
                class: global(class),
                loader: global(loader),
                thread: global(thread),
                names,
            })
        }
    }

    fn name(&self, helper: &'static Helper) -> jobject {
        let at = NAMED.iter().position(|named| std::ptr::eq(*named, helper));
        at.map_or(std::ptr::null_mut(), |at| self.names[at].0)
    }

    /// Whether the VM has resolved the name of a helper class by that loader, and so will not ask it.
    ///
    /// # Safety
    /// `loader` is a live reference.
    pub(super) unsafe fn has_found(&self, jni: Jni, loader: jobject, helper: &'static Helper) -> bool {
        // SAFETY: by the caller's promise; the result is a local reference, deleted at once.
        unsafe {
            let found = jni.call_object_method(loader, self.find_loaded, &[jvalue { l: self.name(helper) }]);
            let found = found.inspect_err(|_| jni.exception_clear()).unwrap_or(std::ptr::null_mut());
            if !found.is_null() {
                jni.delete_local_ref(found);
            }
            !found.is_null()
        }
    }

    /// Has the VM resolve the name of a helper class by that loader, as for code of the class `caller` or null.
    ///
    /// # Safety
    /// The references are live, or null if that is allowed.
    pub(super) unsafe fn resolve(&self, jni: Jni, loader: jobject, helper: &'static Helper, caller: jclass) {
        let arguments =
            [jvalue { l: self.name(helper) }, jvalue { z: false }, jvalue { l: loader }, jvalue { l: caller }];
        // SAFETY: by the caller's promise; the result is a local reference, deleted at once.
        unsafe {
            match jni.call_static_object_method(self.class.0, self.for_name, &arguments) {
                Ok(found) if !found.is_null() => jni.delete_local_ref(found),
                Ok(_) => {}
                Err(_) => jni.exception_clear(),
            }
        }
    }

    /// Whether the VM locks that loader whenever it asks it.
    ///
    /// # Safety
    /// `loader` is a live reference.
    pub(super) unsafe fn is_locked_to_ask(&self, jni: Jni, loader: jobject) -> bool {
        // SAFETY: by the caller's promise; the field's value is a local reference, deleted at once.
        unsafe {
            let map = jni.get_object_field(loader, self.parallel);
            if !map.is_null() {
                jni.delete_local_ref(map);
            }
            map.is_null()
        }
    }

    /// Whether this thread has that loader locked.
    ///
    /// # Safety
    /// `loader` is a live reference.
    pub(super) unsafe fn holds(&self, jni: Jni, loader: jobject) -> bool {
        // SAFETY: by the caller's promise.
        let holds = unsafe { jni.call_static_boolean_method(self.thread.0, self.holds_lock, &[jvalue { l: loader }]) };
        holds.inspect_err(|_| jni.exception_clear()).unwrap_or(false)
    }

    /// What asking that loader would do.
    ///
    /// # Safety
    /// `loader` is a live reference.
    pub(super) unsafe fn asking(&self, jni: Jni, loader: jobject) -> Asking {
        let method = c"loadClass";
        // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
        unsafe {
            let class = jni.get_object_class(loader);
            let method = jni.get_method_id(class, method, c"(Ljava/lang/String;)Ljava/lang/Class;");
            jni.delete_local_ref(class);
            let Ok(method) = method.inspect_err(|_| jni.exception_clear()) else { return Asking::RunsItsCode };
            if !is_guarded(self.env, method) {
                return Asking::RunsItsCode;
            }
            let is_synchronized = self.env.get_method_modifiers(method).is_ok_and(|flags| flags & SYNCHRONIZED != 0);
            let locks = is_synchronized || self.is_locked_to_ask(jni, loader);
            if locks && !self.holds(jni, loader) { Asking::MayWait } else { Asking::IsHarmless }
        }
    }
}

/// What asking a loader for one of the agent's classes would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// It has no guard.
    RunsItsCode,
    /// Another thread may have it locked, for as long as it likes.
    MayWait,
    IsHarmless,
}

/// Whether the loader is one of the VM's own, which find the agent's classes by themselves.
///
/// # Safety
/// `loader` is a live reference.
pub(super) unsafe fn is_built_in(env: Env, jni: Jni, loader: jobject) -> bool {
    // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
    unsafe {
        let class = jni.get_object_class(loader);
        let is_it = env.get_class_signature(class).is_ok_and(|signature| BUILT_IN.contains(&&*signature));
        jni.delete_local_ref(class);
        is_it
    }
}

/// The class above a class, or that class itself, that extends `Object`.
///
/// # Safety
/// `class` is a live reference to a class other than `Object`.
unsafe fn below_object(jni: Jni, mut class: jclass) -> jclass {
    // SAFETY: by the caller's promise; local references of a frame that the caller has made.
    unsafe {
        loop {
            let above = jni.get_superclass(class);
            if above.is_null() || jni.get_superclass(above).is_null() {
                return class;
            }
            class = above;
        }
    }
}
