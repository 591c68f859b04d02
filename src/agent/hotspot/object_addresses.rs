//! Where objects lie while nothing moves: what joins the VM's dump, which names objects by their addresses, to what the agent
//! knows of them.
//!
//! In HotSpot a reference of JNI is the address of a place that holds the address of the object. A collector that moves objects
//! while the program runs may hold something else in the place of a weak one, but the place of a local one has what the VM itself
//! goes on with.
//!
//! Classes and threads have tags. JVMTI gives no addresses, but HotSpot hands a heap callback a pointer to the tag inside this
//! struct of its own, on its stack (`CallbackWrapper` in jvmtiTagMap.cpp, the same from JDK 8 to 25; tried on 11.0.13, 17.0.9,
//! 17.0.15, 21.0.8, 25.0.2, 25.0.3):
//!
//! ```text
//! oop o; jlong size; jlong tag; jlong class_tag;
//! ```
//!
//! Size and class's tag are arguments of the callback too. If they are not where they should be, for any object at all, or an
//! address is none, nothing that was found is used. Whoever uses it checks that the classes in the dump lie where they were
//! found here.

use std::ffi::c_void;
use std::ptr::null_mut;

use jvmti::jni_sys::{jint, jlong, jweak};
use jvmti::sys::{JVMTI_VISIT_OBJECTS, jvmtiHeapCallbacks};
use jvmti::{Env, Jni};

/// An object with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    pub(crate) address: u64,
    pub(crate) tag: jlong,
    pub(crate) bytes: u64,
}

/// What a walk has found.
#[derive(Default)]
pub(crate) struct HeapWalk {
    pub(crate) tagged: Vec<Tagged>,
    /// By the tag of the class: bytes of an instance that is no array.
    pub(crate) instance_bytes: Vec<u32>,
    /// The lowest address of an object.
    pub(crate) lowest: u64,
    is_wrong: bool,
}

/// Tagged objects, and what the classes that are tagged need for an instance.
pub(crate) fn tagged_objects(env: Env) -> jvmti::Result<Option<HeapWalk>> {
    let mut found = HeapWalk { lowest: u64::MAX, ..HeapWalk::default() };
    let callbacks = jvmtiHeapCallbacks { heap_iteration_callback: Some(visit), ..jvmtiHeapCallbacks::default() };
    // SAFETY: the callback fits, does not unwind, calls nothing, and gets a pointer to what weak_refs until the walk is over.
    unsafe { env.iterate_through_heap(0, null_mut(), &callbacks, (&raw mut found).cast::<c_void>().cast_const()) }?;
    Ok((!found.is_wrong).then_some(found))
}

/// Bits of a reference that show what kind it is.
const KIND: usize = 3;

/// 0 if the object is dead.
///
/// # Safety
/// The weak reference has not been given up.
#[inline]
pub(crate) unsafe fn address(jni: Jni, weak: jweak, moves: bool) -> u64 {
    if !moves {
        // SAFETY: the place is there as long as the reference is, and collections write it as a whole.
        return unsafe { weak.map_addr(|place| place & !KIND).cast::<u64>().read_volatile() };
    }
    // SAFETY: by the caller's promise; a local reference of this thread, deleted at once, is an aligned place.
    unsafe {
        let local = jni.new_local_ref(weak);
        if local.is_null() {
            return 0;
        }
        let address = local.map_addr(|place| place & !KIND).cast::<u64>().read_volatile();
        jni.delete_local_ref(local);
        address
    }
}

/// A class has a number below this.
const MOST_CLASSES: jlong = 1 << 24;

/// # Safety
/// Called by the VM with the pointer that `tagged_objects` gave.
unsafe extern "system" fn visit(
    class_tag: jlong,
    size: jlong,
    tag: *mut jlong,
    length: jint,
    user: *mut c_void,
) -> jint {
    // SAFETY: by the caller's promise; the walk calls back on one thread, while `tagged_objects` waits. What lies beside the tag is the
    // VM's stack, whatever it means.
    let (found, [address, own_size, own_tag, own_class_tag]) =
        unsafe { (&mut *user.cast::<HeapWalk>(), tag.sub(2).cast::<[jlong; 4]>().read()) };
    let address = address as u64;
    if own_size != size || own_class_tag != class_tag || address == 0 || !address.is_multiple_of(8) {
        found.is_wrong = true;
        return jvmti::sys::JVMTI_VISIT_ABORT as jint;
    }
    found.lowest = found.lowest.min(address);
    if own_tag != 0 {
        found.tagged.push(Tagged { address, tag: own_tag, bytes: size as u64 });
    }
    // -1 is "no array". Classes differ in size, and are among the tagged.
    if length < 0 && (1..MOST_CLASSES).contains(&class_tag) {
        let class = class_tag as usize;
        if found.instance_bytes.len() <= class {
            found.instance_bytes.resize((class + 1).next_power_of_two(), 0);
        }
        found.instance_bytes[class] = size as u32;
    }
    JVMTI_VISIT_OBJECTS as jint
}
