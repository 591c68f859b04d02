//! Which optional functions the environment may use.

use jvmti_sys::jvmtiCapabilities;

use super::{Env, call, get};
use crate::Result;

impl Env {
    /// The capabilities that the VM could still grant.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment or of a phase that does not allow the call.
    pub fn get_potential_capabilities(self) -> Result<jvmtiCapabilities> {
        // SAFETY: the VM writes the structure only.
        unsafe { get!(self, GetPotentialCapabilities) }
    }

    /// The capabilities that the environment has.
    ///
    /// # Errors
    ///
    /// Only those of a disposed environment.
    pub fn get_capabilities(self) -> Result<jvmtiCapabilities> {
        // SAFETY: the VM writes the structure only.
        unsafe { get!(self, GetCapabilities) }
    }

    /// Adds all of these capabilities, or none: one that the VM does not know makes the call fail.
    ///
    /// # Errors
    ///
    /// `NOT_AVAILABLE` if the VM cannot grant one of them, now or ever.
    pub fn add_capabilities(self, capabilities: jvmtiCapabilities) -> Result<()> {
        // SAFETY: the VM reads the structure only.
        unsafe { call!(self, AddCapabilities, &capabilities) }
    }

    /// Gives these capabilities back, so that the VM may run faster.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before the agent is loaded or after VMDeath.
    pub fn relinquish_capabilities(self, capabilities: jvmtiCapabilities) -> Result<()> {
        // SAFETY: the VM reads the structure only.
        unsafe { call!(self, RelinquishCapabilities, &capabilities) }
    }
}
