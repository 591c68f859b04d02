//! The VM's native memory.

use jvmti_sys::jni_sys::jlong;

use super::{Env, call, get};
use crate::{Allocated, Error, Result};

impl Env {
    /// Memory of this many bytes, not initialized; null for 0 bytes. Allowed in every callback.
    ///
    /// # Errors
    ///
    /// `OUT_OF_MEMORY`.
    pub fn allocate(self, len: usize) -> Result<*mut u8> {
        let len = jlong::try_from(len).map_err(|_| Error::ILLEGAL_ARGUMENT)?;
        // SAFETY: the VM writes the pointer.
        unsafe { get!(self, Allocate, len) }
    }

    /// A copy of the bytes in the VM's memory, such as a `ClassFileLoadHook` hands out with [`Allocated::into_raw`].
    ///
    /// # Errors
    ///
    /// `OUT_OF_MEMORY`.
    pub fn allocate_copy(self, bytes: &[u8]) -> Result<Allocated<u8>> {
        let memory = self.allocate(bytes.len())?;
        if !memory.is_null() {
            // SAFETY: the new memory is `bytes.len()` long and overlaps nothing.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        }
        // SAFETY: ours, and every byte is written.
        Ok(unsafe { Allocated::from_raw(self, memory, bytes.len()) })
    }

    /// Gives memory back.
    ///
    /// # Safety
    ///
    /// `memory` is null or comes from [`allocate`](Self::allocate) or another JVM TI call that allocates, and nobody uses
    /// it any more.
    pub unsafe fn deallocate(self, memory: *mut u8) {
        // SAFETY: by the caller's promise. The VM has no reason left to refuse.
        let _ = unsafe { call!(self, Deallocate, memory) };
    }
}
