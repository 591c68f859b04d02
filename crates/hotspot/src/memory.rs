//! HotSpot's own threads, and how to read what it keeps in memory.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use jvmti::{Env, Jni};

/// The address of a thread's `JavaThread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JavaThread(pub usize);

impl JavaThread {
    /// The address for the current thread, as `java.lang.Thread.eetop` has it; `None` if there is no such field.
    pub fn current(env: Env, jni: Jni) -> Option<JavaThread> {
        let thread = env.get_current_thread().ok()?;
        // SAFETY: live local references, deleted when they are done with.
        unsafe {
            let class = jni.get_object_class(thread);
            let eetop = jni.get_field_id(class, c"eetop", c"J").inspect_err(|_| jni.exception_clear());
            let address = eetop.map(|eetop| jni.get_long_field(thread, eetop) as usize);
            jni.delete_local_ref(class);
            jni.delete_local_ref(thread);
            address.ok().filter(|&address| address != 0).map(JavaThread)
        }
    }
}

/// Reads a word that other threads may write.
///
/// # Safety
/// The address is mapped and aligned.
pub(crate) unsafe fn load(address: usize) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { AtomicUsize::from_ptr(address as *mut usize) }.load(Ordering::Acquire)
}

/// Reads a half of a word that other threads may write.
///
/// # Safety
/// As for `load`.
pub(crate) unsafe fn load_u32(address: usize) -> u32 {
    // SAFETY: by the caller's promise.
    unsafe { AtomicU32::from_ptr(address as *mut u32) }.load(Ordering::Acquire)
}
