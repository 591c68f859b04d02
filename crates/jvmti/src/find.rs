//! Finding a class that a given loader has found before, which neither JNI nor JVM TI offer.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use jvmti_sys::jni_sys::{JNIEnv, jclass, jobject, jstring};

use crate::Jni;

type FindLoadedClass = unsafe extern "system" fn(*mut JNIEnv, jobject, jstring) -> jclass;

fn function() -> Option<FindLoadedClass> {
    static FOUND: OnceLock<usize> = OnceLock::new();
    let address = *FOUND.get_or_init(|| {
        // SAFETY: the name ends with NUL.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_FindLoadedClass".as_ptr()) as usize }
    });
    // SAFETY: libjvm exports the function with this signature from JDK 8 to 25 (`jvm.h`); it is what
    // `ClassLoader.findLoadedClass` calls.
    (address != 0).then(|| unsafe { std::mem::transmute::<*mut c_void, FindLoadedClass>(address as *mut c_void) })
}

impl Jni {
    /// The class of that internal name or array descriptor that `loader` (null for the boot loader) has defined or found
    /// before, as a local reference; no Java code runs. `None` if there is none.
    ///
    /// # Safety
    ///
    /// `loader` is null or a live loader, and no exception is pending.
    pub unsafe fn find_loaded_class(self, name: &CStr, loader: jobject) -> Option<jclass> {
        let find = function()?;
        let name = self.new_string_utf(name).inspect_err(|_| self.exception_clear()).ok()?;
        // SAFETY: by the caller's promise; the name is a local reference, deleted at once.
        let class = unsafe {
            let class = find(self.as_raw(), loader, name);
            self.delete_local_ref(name);
            class
        };
        if self.exception_check() {
            self.exception_clear();
            return None;
        }
        (!class.is_null()).then_some(class)
    }
}
