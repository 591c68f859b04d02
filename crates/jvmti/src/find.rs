//! Finding a class that a given loader has found before, or one of the boot loader, which neither JNI nor JVM TI offer without asking
//! other loaders.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

use jvmti_sys::jni_sys::{JNIEnv, jclass, jobject, jstring};

use crate::{Jni, JniError, exported};

type FindLoadedClass = unsafe extern "system" fn(*mut JNIEnv, jobject, jstring) -> jclass;

fn find_loaded_class() -> Option<FindLoadedClass> {
    static FOUND: OnceLock<Option<FindLoadedClass>> = OnceLock::new();
    // SAFETY: libjvm exports the function with this signature from JDK 8 to 25 (`jvm.h`); it is what
    // `ClassLoader.findLoadedClass` calls.
    let as_function = |address| unsafe { transmute::<NonNull<c_void>, FindLoadedClass>(address) };
    *FOUND.get_or_init(|| exported(c"JVM_FindLoadedClass").map(as_function))
}

type FindBootClass = unsafe extern "system" fn(*mut JNIEnv, *const c_char) -> jclass;

/// What the launcher `java` finds its helper class with: asks the boot loader, and runs no Java code.
pub(crate) fn find_boot_class() -> Option<FindBootClass> {
    static FOUND: OnceLock<Option<FindBootClass>> = OnceLock::new();
    // SAFETY: libjvm exports the function with this signature from JDK 8 to 25 (`jvm.h`).
    let as_function = |address| unsafe { transmute::<NonNull<c_void>, FindBootClass>(address) };
    *FOUND.get_or_init(|| exported(c"JVM_FindClassFromBootLoader").map(as_function))
}

impl Jni {
    /// The class of that internal name or array descriptor that `loader` (null for the boot loader) has defined or found
    /// before, as a local reference; no Java code runs. `None` if there is none.
    ///
    /// # Errors
    ///
    /// There is no memory for a string; no exception is pending any more.
    ///
    /// # Safety
    ///
    /// `loader` is null or a live loader, and no exception is pending.
    pub unsafe fn find_loaded_class(self, name: &CStr, loader: jobject) -> Result<Option<jclass>, JniError> {
        let Some(find) = find_loaded_class() else { return Ok(None) };
        let name = self.new_string_utf(name).inspect_err(|_| self.exception_clear())?;
        // SAFETY: by the caller's promise; the name is a local reference, deleted at once.
        let class = unsafe {
            let class = find(self.as_raw(), loader, name);
            self.delete_local_ref(name);
            class
        };
        if self.exception_check() {
            self.exception_clear();
            return Err(JniError::Exception);
        }
        Ok((!class.is_null()).then_some(class))
    }
}
