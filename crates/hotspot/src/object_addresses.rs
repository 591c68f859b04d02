//! Addresses of objects while nothing moves: what joins the VM's dump, which names objects by their addresses, to what the
//! agent knows of them.
//!
//! In HotSpot a reference of JNI is the address of a word that holds the address of the object. A collector that moves objects
//! while the program runs may hold an old address in the word of a weak reference, but that of a local reference has the one
//! that the VM itself uses from then on. The dump is tested against the addresses of classes that are found here.

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};

/// Bits of a reference that show what kind it is.
const KIND: usize = 3;
/// Lower bits of a word in which a collector may mark it.
const COLOR_BITS: u32 = 16;

/// The address of the object of a local reference.
///
/// # Safety
/// A local reference of the current thread.
pub unsafe fn of_local(local: jobject) -> u64 {
    // SAFETY: by the caller's promise it is the address of an aligned word.
    unsafe { local.map_addr(|word| word & !KIND).cast::<u64>().read_volatile() }
}

/// Whether a weak reference may have been cleared: its word has no address. Unlike JNI with `-Xcheck:jni` this keeps no object.
///
/// # Safety
/// The weak reference has not been deleted.
pub unsafe fn may_be_cleared(weak: jweak) -> bool {
    // SAFETY: the word is mapped as long as the reference is there, and collections write it as a whole.
    let word = unsafe { weak.map_addr(|word| word & !KIND).cast::<u64>().read_volatile() };
    // Generational ZGC marks null too, in the lower bits, and no object lies below them.
    word >> COLOR_BITS == 0
}

/// The address of the object of a weak reference; 0 if it is dead. `moves` if the collector moves objects while the program
/// runs.
///
/// # Safety
/// The weak reference has not been deleted.
#[inline]
pub unsafe fn of_weak(jni: Jni, weak: jweak, moves: bool) -> u64 {
    if !moves {
        // SAFETY: the word is mapped as long as the reference is there, and collections write it as a whole.
        return unsafe { weak.map_addr(|word| word & !KIND).cast::<u64>().read_volatile() };
    }
    // SAFETY: by the caller's promise; a local reference of this thread, deleted at once.
    unsafe {
        let local = jni.new_local_ref(weak);
        if local.is_null() {
            return 0;
        }
        let address = of_local(local);
        jni.delete_local_ref(local);
        address
    }
}
