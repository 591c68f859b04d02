//! Native memory whose address compiled Java code contains: it is never unmapped, and the system provides only the pages that are used.

use std::ptr::null_mut;

/// So many zeros; `None` if the system has no room.
///
/// # Safety
/// Zeros are a valid `T`.
pub(super) unsafe fn zeros<T>(len: usize) -> Option<&'static [T]> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh private mapping, which is never unmapped; its zeros are valid by the caller's promise.
    unsafe {
        let start = libc::mmap(null_mut(), len * size_of::<T>(), libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        (start != libc::MAP_FAILED).then(|| std::slice::from_raw_parts(start.cast::<T>(), len))
    }
}
