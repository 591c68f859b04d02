//! Free memory of the C library, which keeps what was freed for those who ask next.
//!
//! What a recording needs is taken by threads that come and go, so it lies between what others have taken, in several arenas: without this
//! some twenty MiB of it stay.

/// Gives back to the system what is free.
#[cfg(target_env = "gnu")]
pub(super) fn give_back() {
    // SAFETY: it changes free memory only, under the locks of its arenas.
    unsafe { libc::malloc_trim(0) };
}

/// Gives back to the system what is free: this C library does so by itself.
#[cfg(not(target_env = "gnu"))]
pub(super) fn give_back() {}
