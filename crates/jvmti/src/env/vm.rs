//! The VM as a whole.

use std::ffi::CStr;

use jvmti_sys::jni_sys::jint;
use jvmti_sys::jvmtiPhase;

use super::{Env, get};
use crate::{Allocated, Error, Result};

impl Env {
    /// The VM's phase, a `JVMTI_PHASE_*` constant.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment.
    pub fn get_phase(self) -> Result<jvmtiPhase> {
        // SAFETY: the VM writes the number.
        unsafe { get!(self, GetPhase) }
    }

    /// The JVM TI version of the VM, to compare with the `JVMTI_VERSION_*` constants.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment.
    pub fn get_version_number(self) -> Result<jint> {
        // SAFETY: the VM writes the number.
        unsafe { get!(self, GetVersionNumber) }
    }

    /// The value of a system property, in modified UTF-8. Before VMInit the VM knows only some of them.
    ///
    /// # Errors
    ///
    /// `NOT_AVAILABLE` for an unknown property.
    pub fn get_system_property(self, name: &CStr) -> Result<Allocated<u8>> {
        // SAFETY: the name ends with NUL; the VM writes a string, which is then ours.
        unsafe {
            let value = get!(self, GetSystemProperty, name.as_ptr())?;
            Allocated::from_c_string(self, value).ok_or(Error::INTERNAL)
        }
    }
}
