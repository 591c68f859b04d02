//! The VM as a whole.

use std::ffi::CStr;

use jvmti_sys::jni_sys::jint;
use jvmti_sys::jvmtiPhase;

use super::{Env, call};
use crate::{Allocated, Error, Result};

impl Env {
    /// The VM's phase, a `JVMTI_PHASE_*` constant.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment.
    pub fn get_phase(self) -> Result<jvmtiPhase> {
        let mut phase = 0;
        // SAFETY: the VM writes the number.
        unsafe { call!(self, GetPhase, &mut phase) }?;
        Ok(phase)
    }

    /// The JVM TI version of the VM, to compare with the `JVMTI_VERSION_*` constants.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment.
    pub fn get_version_number(self) -> Result<jint> {
        let mut version = 0;
        // SAFETY: the VM writes the number.
        unsafe { call!(self, GetVersionNumber, &mut version) }?;
        Ok(version)
    }

    /// The value of a system property, in modified UTF-8. Before VMInit the VM knows only some of them.
    ///
    /// # Errors
    ///
    /// `NOT_AVAILABLE` for an unknown property.
    pub fn get_system_property(self, name: &CStr) -> Result<Allocated<u8>> {
        let mut value = std::ptr::null_mut();
        // SAFETY: the name ends with NUL; the VM writes a string, which is then ours.
        unsafe {
            call!(self, GetSystemProperty, name.as_ptr(), &mut value)?;
            Allocated::from_c_string(self, value).ok_or(Error::INTERNAL)
        }
    }
}
