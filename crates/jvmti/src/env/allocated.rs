//! Memory that the VM allocated and that must go back to it.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use super::Env;

/// A slice in memory of JVM TI's `Allocate`; dropping it calls `Deallocate`.
///
/// Texts are `Allocated<u8>`: modified UTF-8 without the NUL that ends them in C.
pub struct Allocated<T> {
    env: Env,
    memory: NonNull<T>,
    len: usize,
}

// SAFETY: JVM TI memory may be read and deallocated on every thread, so the slice is as movable as its elements.
unsafe impl<T: Send> Send for Allocated<T> {}
// SAFETY: shared access only reads the elements.
unsafe impl<T: Sync> Sync for Allocated<T> {}

impl<T> Allocated<T> {
    /// Takes over what the VM returned; null stands for an empty slice.
    ///
    /// # Safety
    ///
    /// `memory` is null or `Allocate`d by `env`, owned by nobody else, and begins with `len` valid elements.
    pub(crate) unsafe fn from_raw(env: Env, memory: *mut T, len: usize) -> Self {
        match NonNull::new(memory) {
            Some(memory) => Self { env, memory, len },
            None => Self { env, memory: NonNull::dangling(), len: 0 },
        }
    }

    /// Gives the memory away, to the VM for example; null if the slice is empty.
    pub fn into_raw(self) -> *mut T {
        if self.len == 0 {
            return std::ptr::null_mut();
        }
        let memory = self.memory.as_ptr();
        std::mem::forget(self);
        memory
    }
}

impl Allocated<u8> {
    /// Takes over a C string; `None` for null.
    ///
    /// # Safety
    ///
    /// `text` is null or a NUL-terminated string `Allocate`d by `env` and owned by nobody else.
    pub(crate) unsafe fn from_c_string(env: Env, text: *mut c_char) -> Option<Self> {
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, and NUL-terminated by this function's contract.
        let len = unsafe { CStr::from_ptr(text) }.count_bytes();
        // SAFETY: owned and `len` bytes long at least. An empty text keeps its memory, which `drop` must free.
        Some(unsafe { Self::from_raw(env, text.cast(), len) })
    }
}

impl<T> Drop for Allocated<T> {
    fn drop(&mut self) {
        if self.memory != NonNull::dangling() {
            // SAFETY: `from_raw` was given memory of `Allocate` that nobody else owns.
            unsafe { self.env.deallocate(self.memory.as_ptr().cast()) };
        }
    }
}

impl<T> Deref for Allocated<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `from_raw` was given this many valid elements, or a dangling pointer and none.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Allocated<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the memory is owned, so nobody else reads it.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Allocated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
