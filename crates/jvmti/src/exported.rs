//! What libjvm exports beyond JNI and JVM TI.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The address of the function or variable that libjvm exports by this name; `None` if it exports none.
pub fn exported(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with NUL.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}
