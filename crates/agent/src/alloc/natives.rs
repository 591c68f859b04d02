//! The natives that HeapProxy calls with what rewritten code made.

use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::jni_sys::{JNIEnv, jboolean, jclass, jint, jobject};
use jvmti::{Jni, guard};

use super::report::{Allocation, is_reported, report};
use super::{Alloc, AllocThread};
use agent_base::clock::Ticks;
use agent_base::events::event::AllocationSize;
use agent_base::ids::ClassIndex;
use agent_core::core::context::callback;
use agent_core::core::{Core, context};
use agent_core::stacks::walker::FramesToSkip;

/// The class that a number of HeapProxy means.
fn class_of(number: jint) -> ClassIndex {
    ClassIndex((number - 1) as u32)
}

/// `HeapProxy.classCode`: the code of a class (explained in MartiniHeapProxy.java), by its first instance; 0 if it is not known yet.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn class_code(jni: *mut JNIEnv, _: jclass, class: jclass, instance: jobject) -> jint {
    guard(|| {
        let Some(core) = Core::reporting() else { return 0 };
        // SAFETY: the VM passes this thread's environment; HeapProxy passes an object and its class.
        let code = unsafe { code_of(core, Jni::from_raw(jni), class, instance) };
        code.unwrap_or_else(|error| {
            core.count_failure("class", error);
            0
        })
    })
}

/// # Safety
/// `instance` is a live reference to an object of exactly that class.
pub(super) unsafe fn code_of(core: &Core, jni: Jni, class: jclass, instance: jobject) -> jvmti::Result<i32> {
    let classes = &core.jvm.classes;
    // SAFETY: by the caller's promise.
    let index = unsafe {
        let index = classes.resolve(jni, class)?;
        classes.note_size(index, instance)?;
        index
    };
    let Some(record) = classes.get(index) else { return Ok(0) };
    let number = if core.includes(index) { index.0 as i32 + 1 } else { -1 };
    Ok(number << 1 | i32::from(record.is_unloadable()))
}

/// A thread changes a table of the helper classes. Another that would do the same does not wait.
static CHANGING: AtomicBool = AtomicBool::new(false);

/// Whether the caller may change a table of the helper classes.
pub(super) fn begin_change() -> bool {
    !CHANGING.swap(true, Ordering::Acquire)
}

/// The change is over.
pub(super) fn end_change() {
    CHANGING.store(false, Ordering::Release);
}

/// `HeapProxy.beginChange`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn try_change(_: *mut JNIEnv, _: jclass) -> jboolean {
    begin_change()
}

/// `HeapProxy.endChange`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn changed(_: *mut JNIEnv, _: jclass) {
    end_change();
}

/// `HeapProxy.objectAllocated`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn object_allocated(jni: *mut JNIEnv, _: jclass, object: jobject, number: jint) {
    let class = class_of(number);
    // SAFETY: the VM passes this thread's environment, HeapProxy a live object of that class on this thread.
    unsafe { allocated(jni, object, class, AllocationSize::Instance, FramesToSkip::Constructors) }
}

/// `HeapProxy.arrayAllocated`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn array_allocated(
    jni: *mut JNIEnv,
    _: jclass,
    array: jobject,
    number: jint,
    length: jint,
) {
    let size = AllocationSize::Array(length as u32);
    // SAFETY: the VM passes this thread's environment, HeapProxy a live array of that class on this thread.
    unsafe { allocated(jni, array, class_of(number), size, FramesToSkip::Hook) }
}

/// # Safety
/// `object` is a live reference to an object of that class, and `jni` belongs to the current thread.
#[inline]
unsafe fn allocated(jni: *mut JNIEnv, object: jobject, class: ClassIndex, size: AllocationSize, skip: FramesToSkip) {
    // SAFETY: by the caller's promise.
    unsafe {
        callback(jni, |alloc: &Alloc, jni, thread, state: &mut AllocThread| {
            let time = Ticks::now();
            if alloc.core.source.may_report_twice() && is_reported(thread, object) {
                return;
            }
            report(jni, thread, state, Allocation { object, class, size, skip, time });
        });
    }
}

/// `HeapProxy.objectMade`: a call returned an object that it may have made without any hook.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn object_made(
    jni: *mut JNIEnv,
    _: jclass,
    object: jobject,
    number: jint,
    bare: jboolean,
) {
    // SAFETY: the VM passes this thread's environment, HeapProxy a live object of that class on this thread.
    unsafe {
        callback(jni, |alloc: &Alloc, jni, thread: &mut context::ThreadContext, state: &mut AllocThread| {
            let time = Ticks::now();
            if is_reported(thread, object) {
                return;
            }
            let bytes = match alloc.core.jvm.env.get_object_size(object) {
                Ok(bytes) => bytes,
                Err(error) => return alloc.core.count_failure("size", error),
            };
            if bare {
                state.unconstructed.made();
            }
            let size = AllocationSize::Words((bytes / 8) as u32);
            report(
                jni,
                thread,
                state,
                Allocation { object, class: class_of(number), size, skip: FramesToSkip::Hook, time },
            );
        });
    }
}
