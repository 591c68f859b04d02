//! No loads that may fail: for processors without an implementation.

use libc::c_void;

/// Whether there are such loads for this processor.
pub(super) const IS_SUPPORTED: bool = false;

pub(super) fn word(_: usize) -> Option<usize> {
    None
}

pub(super) fn u32(_: usize) -> Option<u32> {
    None
}

pub(super) fn u16(_: usize) -> Option<u16> {
    None
}

pub(super) fn u8(_: usize) -> Option<u8> {
    None
}

pub(super) unsafe fn skip_load(_: *mut c_void) -> bool {
    false
}
