//! The table of JNI functions that native code calls.

use jvmti_sys::jni_sys::JNINativeInterface_;

use super::{Env, call};
use crate::{Allocated, Result};

/// A copy of the table of JNI functions, in the VM's memory: as long as the VM's own table, which may be shorter than the type.
pub struct JniFunctions(Allocated<u8>);

impl JniFunctions {
    /// Its first byte. Only functions that the VM has may be read.
    pub fn as_ptr(&self) -> *mut JNINativeInterface_ {
        self.0.as_ptr().cast_mut().cast()
    }
}

impl Env {
    /// The functions that JNI calls reach now.
    ///
    /// # Errors
    ///
    /// `OUT_OF_MEMORY`; `WRONG_PHASE`.
    pub fn jni_functions(self) -> Result<JniFunctions> {
        let mut table = std::ptr::null_mut();
        // SAFETY: the VM writes the address of a copy, which is then ours. Of its length only the first byte is promised here.
        unsafe {
            call!(self, GetJNIFunctionTable, &mut table)?;
            Ok(JniFunctions(Allocated::from_raw(self, table.cast(), 1)))
        }
    }

    /// From now on JNI calls of all threads reach these functions. The VM stops for a moment, and copies the table.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE`.
    ///
    /// # Safety
    ///
    /// Each function does what the one did in whose place it stands.
    pub unsafe fn set_jni_functions(self, functions: &JniFunctions) -> Result<()> {
        // SAFETY: the table is as long as the VM's own; for the functions the caller vouches.
        unsafe { call!(self, SetJNIFunctionTable, functions.as_ptr()) }
    }
}
