//! Who else may redefine classes: agents written in Java, and debuggers.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// The JDK's libraries that redefine classes for others.
const LIBRARIES: [&[u8]; 2] = [b"libinstrument.so", b"libjdwp.so"];

/// What is looked for in the list of loaded libraries.
struct Search {
    /// Libraries ever loaded when the list was read last.
    before: u64,
    now: u64,
    is_found: bool,
}

/// Libraries ever loaded into this process when the list was read last.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Whether one of them is in the list of loaded libraries, which is read only if it has grown since the last call.
pub(super) fn have_come() -> bool {
    let mut search = Search { before: SEEN.load(Ordering::Relaxed), now: 0, is_found: false };
    // SAFETY: `visit` gets what it expects, during the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    SEEN.store(search.now, Ordering::Relaxed);
    search.is_found
}

/// # Safety
/// Called by `dl_iterate_phdr` with a `Search`.
unsafe extern "C" fn visit(library: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: by the caller's promise; a name ends with NUL.
    let (library, search) = unsafe { (&*library, &mut *search.cast::<Search>()) };
    search.now = library.dlpi_adds;
    if search.now == search.before {
        return 1;
    }
    if !library.dlpi_name.is_null() {
        // SAFETY: as above.
        let path = unsafe { CStr::from_ptr(library.dlpi_name) }.to_bytes();
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        search.is_found |= LIBRARIES.contains(&name);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_to_its_end() {
        assert!(!have_come());
        assert!(SEEN.load(Ordering::Relaxed) > 0);
        assert!(!have_come());
    }
}
