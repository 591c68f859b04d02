//! The VM's own event for allocations, `SampledObjectAlloc` (JEP 331), with an interval of 0 bytes: one event for every
//! object that the VM accounts to a thread.
//!
//! The VM learns of an allocation only where a thread leaves its allocation buffer (TLAB), so it ends each buffer at the next
//! sample, here at once. A buffer that a thread got before the event was switched on has no such end: what the thread still
//! allocates in it goes unseen. For the thread that initialises the VM, which goes on to run the program, `close_buffer` ends
//! it. The others that are there by then are the VM's own (finalizer, cleaner, ...); theirs ends when it is full, or with the
//! first collection.

use std::cell::Cell;

use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv};
use jvmti::{Jni, guard};

use super::Agent;
use super::classes::ClassIndex;
use super::clock::Ticks;
use super::event::Extent;
use super::heap::report;
use super::stacks::Top;
use super::threads::{ThreadContext, with_context};

/// Bytes between two events.
pub(crate) const INTERVAL: u32 = 0;

/// The smallest and largest array that `close_buffer` tries. HotSpot makes larger buffers only in heaps of many GiB.
const FIRST_ARRAY: usize = 1 << 10;
const LAST_ARRAY: usize = 32 << 20;

thread_local! {
    /// An event came before reporting began.
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

/// Ends the current thread's allocation buffer, so that the VM tells of what the thread allocates from now on. The event is
/// switched on and reporting has not begun.
///
/// An array that does not fit into what is left of the buffer ends it, whether the VM puts the array into a new buffer or
/// beside it. Trying ever larger ones takes about twice the rest of the buffer. False if the thread cannot be helped.
pub(crate) fn close_buffer(jni: Jni) -> bool {
    SEEN.set(false);
    let mut bytes = FIRST_ARRAY;
    while !SEEN.get() && bytes <= LAST_ARRAY {
        match jni.new_byte_array(bytes) {
            // SAFETY: a local reference that nobody uses.
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
pub(crate) unsafe extern "system" fn sampled_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return SEEN.set(true) };
        let now = Ticks::now();
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, now, |context| {
            // SAFETY: the VM passes a live object and its class.
            unsafe {
                let index = match class_of(agent, jni, context, class) {
                    Ok(index) => index,
                    Err(error) => return agent.count_failure("class", error),
                };
                if agent.classes.get(index).is_some_and(|c| c.is_included()) {
                    let extent = Extent::Words((size / 8) as u32);
                    report(agent, jni, context, object, index, extent, Top::Method, now);
                }
            }
        });
    });
}

/// # Safety
/// `class` is a live reference to a class.
unsafe fn class_of(agent: &Agent, jni: Jni, context: &ThreadContext, class: jclass) -> jvmti::Result<ClassIndex> {
    // SAFETY: by the caller's promise.
    unsafe {
        if let Some(index) = context.class_shard.class(class)? {
            return Ok(index);
        }
        let index = agent.classes.resolve(agent.env, jni, class, agent)?;
        context.class_shard.note_class(class, index)?;
        Ok(index)
    }
}
