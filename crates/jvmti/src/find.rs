//! Finding a class by name as a given loader sees it, which neither JNI nor JVM TI offer.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use jvmti_sys::jni_sys::{JNIEnv, jboolean, jclass, jobject};

use crate::Jni;

type FindClassFromCaller = unsafe extern "system" fn(*mut JNIEnv, *const c_char, jboolean, jobject, jclass) -> jclass;

fn function() -> Option<FindClassFromCaller> {
    static FOUND: OnceLock<usize> = OnceLock::new();
    let address = *FOUND.get_or_init(|| {
        // SAFETY: the name ends with NUL.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_FindClassFromCaller".as_ptr()) as usize }
    });
    // SAFETY: libjvm exports the function with this signature from JDK 8 to 25 (`jvm.h`); it is what `Class.forName` calls.
    (address != 0).then(|| unsafe { std::mem::transmute::<*mut c_void, FindClassFromCaller>(address as *mut c_void) })
}

impl Jni {
    /// The class of that internal name or array descriptor that `loader` (null for the boot loader) has found before, on behalf
    /// of `caller`; it is not initialised. `None` if there is none. A class that the loader has not found yet is loaded, which
    /// runs Java code: ask for what the caller's code has used already.
    ///
    /// # Safety
    ///
    /// `loader` is null or a live loader, `caller` a live class, and no exception is pending.
    pub unsafe fn find_class_from(self, name: &CStr, loader: jobject, caller: jclass) -> Option<jclass> {
        let find = function()?;
        // SAFETY: by the caller's promise.
        let class = unsafe { find(self.as_raw(), name.as_ptr(), false, loader, caller) };
        if self.exception_check() {
            self.exception_clear();
            return None;
        }
        (!class.is_null()).then_some(class)
    }
}
