//! The VM's own events for allocations.
//!
//! `SampledObjectAlloc` (JEP 331) with an interval of 0 bytes comes once for every object that the VM accounts to a thread.
//! The VM learns of an allocation only where a thread leaves its allocation buffer (TLAB), so it ends each buffer at the next
//! sample, here at once. A buffer that a thread got before the event was enabled has no such end: what the thread still
//! allocates in it is not reported. For the thread that initialises the VM, which continues to run the program, `close_buffer`
//! ends it. The others that are there by then are the VM's own (finalizer, cleaner, ...); theirs ends when it is full, or with
//! the first collection.
//!
//! `VMObjectAlloc` comes for objects that the VM makes itself: for JNI, reflection and its own needs.

use std::cell::Cell;

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv, jvmtiFrameInfo};

use super::report::{Allocation, is_reported, report};
use super::state::{HeapEvents, HeapEventsThread};
use crate::sampling::note_interval;
use agent_base::clock::Ticks;
use agent_base::events::event::AllocationSize;
use agent_base::ids::ClassIndex;
use agent_core::core::Core;
use agent_core::core::context::{ThreadContext, callback};
use agent_core::stacks::walker::FramesToSkip;

/// Bytes between two events.
pub(crate) const INTERVAL: u32 = 0;

/// The smallest and largest array that `close_buffer` tries. HotSpot makes larger buffers only in heaps of many GiB.
const FIRST_ARRAY: usize = 1 << 10;
const LAST_ARRAY: usize = 32 << 20;

thread_local! {
    /// An event came to this thread before reporting began.
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

/// Ends the current thread's allocation buffer, so that the VM reports what the thread allocates from now on. The event is
/// enabled and reporting has not begun.
///
/// An array that does not fit into what is left of the buffer ends it, whether the VM puts the array into a new buffer or
/// beside it. Trying ever larger ones takes about twice the rest of the buffer. False if the buffer is still open.
pub(crate) fn close_buffer(jni: Jni) -> bool {
    SEEN.set(false);
    let mut bytes = FIRST_ARRAY;
    while !SEEN.get() && bytes <= LAST_ARRAY {
        match jni.new_byte_array(bytes) {
            // SAFETY: a local reference that is not used.
            Ok(array) => unsafe { jni.delete_local_ref(array) },
            Err(_) => {
                jni.exception_clear();
                break;
            }
        }
        bytes *= 2;
    }
    SEEN.get()
}

/// JVMTI `SampledObjectAlloc`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn sampled_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    if Core::reporting().is_none() {
        return SEEN.set(true);
    }
    // For the sampler of a later recording: the VM chooses the next object at once.
    note_interval(1);
    // SAFETY: the VM passes this thread's environment, a live object and its class.
    unsafe {
        callback(jni, |events: &HeapEvents, jni, thread, state: &mut HeapEventsThread| {
            let time = Ticks::now();
            let index = match class_of(events.core, jni, thread, class) {
                Ok(index) => index,
                Err(error) => return events.core.count_failure("class", error),
            };
            if events.core.includes(index) {
                let size = AllocationSize::Words((size / 8) as u32);
                let skip = FramesToSkip::Method;
                report(jni, thread, state, Allocation { object, class: index, size, skip, time });
            }
        });
    }
}

/// # Safety
/// `class` is a live reference to a class.
unsafe fn class_of(core: &Core, jni: Jni, thread: &ThreadContext, class: jclass) -> jvmti::Result<ClassIndex> {
    // SAFETY: by the caller's promise.
    unsafe {
        if let Some(index) = thread.class_tags.class(class)? {
            return Ok(index);
        }
        let index = core.jvm.classes.resolve(jni, class)?;
        thread.class_tags.note_class(class, index)?;
        Ok(index)
    }
}

/// JVMTI `VMObjectAlloc`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn vm_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    // SAFETY: the VM passes this thread's environment, a live object and its class.
    unsafe {
        callback(jni, |events: &HeapEvents, jni, thread, state: &mut HeapEventsThread| {
            let time = Ticks::now();
            // An object whose constructor ran (reflection) has been reported from there.
            if is_reported(thread, object) {
                return;
            }
            let core = events.core;
            let index = match core.jvm.classes.resolve(jni, class) {
                Ok(index) => index,
                Err(error) => return core.count_failure("class", error),
            };
            if core.includes(index) {
                if is_in_allocate_instance(core, jni) {
                    state.unconstructed.made();
                }
                let size = AllocationSize::Words((size / 8) as u32);
                let skip = FramesToSkip::Method;
                report(jni, thread, state, Allocation { object, class: index, size, skip, time });
            }
        });
    }
}

/// Whether the current thread is in `Unsafe.allocateInstance`.
fn is_in_allocate_instance(core: &Core, jni: Jni) -> bool {
    let mut frames = [jvmtiFrameInfo::default()];
    let jvm = core.jvm;
    // SAFETY: null is the current thread, and the method id is on its stack, so its class is alive.
    unsafe {
        let Ok(&mut [top]) = jvm.env.get_stack_trace(std::ptr::null_mut(), 0, &mut frames) else { return false };
        let method = jvm.methods.resolve(jni, top.method, &jvm.classes);
        method.ok().and_then(|method| jvm.methods.get(method)).is_some_and(|record| record.name == "allocateInstance")
    }
}
