//! The natives that HeapProxy calls with what rewritten code made.

use jvmti::Jni;
use jvmti::jni_sys::{jboolean, jclass, jint, jobject};

use super::class_codes::code_of;
use super::proxy::{begin_change, end_change};
use super::report::{Allocation, is_reported, report};
use super::state::{HeapEvents, HeapEventsThread};
use agent_base::clock::Ticks;
use agent_base::events::event::AllocationSize;
use agent_base::helpers::Natives;
use agent_base::ids::ClassIndex;
use agent_base::natives;
use agent_core::core::Core;
use agent_core::core::context::enter_for;
use agent_core::stacks::walker::FramesToSkip;

/// All of them. HeapProxy passes live objects that the current thread has made, each with the number of its class.
pub static NATIVES: Natives = natives! {
    class_code(class: jclass, instance: jobject) -> jint, c"classCode", c"(Ljava/lang/Class;Ljava/lang/Object;)I";
    object_allocated(object: jobject, number: jint), c"objectAllocated", c"(Ljava/lang/Object;I)V";
    array_allocated(array: jobject, number: jint, length: jint), c"arrayAllocated", c"(Ljava/lang/Object;II)V";
    object_made(object: jobject, number: jint, bare: jboolean), c"objectMade", c"(Ljava/lang/Object;IZ)V";
    try_change() -> jboolean, c"beginChange", c"()Z";
    changed(), c"endChange", c"()V";
};

/// The class that a number of HeapProxy means.
fn class_of(number: jint) -> ClassIndex {
    ClassIndex((number - 1) as u32)
}

/// The code of a class (explained in MartiniHeapProxy.java), by its first instance or null; 0 if it is not known yet.
fn class_code(jni: Jni, class: jclass, instance: jobject) -> jint {
    let Some(core) = Core::reporting() else { return 0 };
    // SAFETY: the helper classes pass a class, and an object of it or null.
    let code = unsafe { code_of(core, jni, class, instance) };
    code.unwrap_or_else(|error| {
        core.count_failure("class", error);
        0
    })
}

fn try_change(_: Jni) -> jboolean {
    begin_change()
}

fn changed(_: Jni) {
    end_change();
}

#[inline]
fn object_allocated(jni: Jni, object: jobject, number: jint) {
    allocated(jni, object, class_of(number), AllocationSize::Instance, FramesToSkip::Constructors);
}

#[inline]
fn array_allocated(jni: Jni, array: jobject, number: jint, length: jint) {
    allocated(jni, array, class_of(number), AllocationSize::Array(length as u32), FramesToSkip::Hook);
}

#[inline]
fn allocated(jni: Jni, object: jobject, class: ClassIndex, size: AllocationSize, skip: FramesToSkip) {
    enter_for(jni, |events: &HeapEvents, jni, thread, state: &mut HeapEventsThread| {
        let time = Ticks::now();
        // SAFETY: HeapProxy passes a live object of that class.
        unsafe {
            if !(events.core.source.may_report_twice() && is_reported(thread, object)) {
                report(jni, thread, state, Allocation { object, class, size, skip, time });
            }
        }
    });
}

/// A call returned an object that it may have made without any hook.
fn object_made(jni: Jni, object: jobject, number: jint, bare: jboolean) {
    enter_for(jni, |events: &HeapEvents, jni, thread, state: &mut HeapEventsThread| {
        let time = Ticks::now();
        // SAFETY: HeapProxy passes a live object of that class.
        unsafe {
            if is_reported(thread, object) {
                return;
            }
            let bytes = match events.core.jvm.env.get_object_size(object) {
                Ok(bytes) => bytes,
                Err(error) => return events.core.count_failure("size", error),
            };
            if bare {
                state.unconstructed.made();
            }
            let (size, skip) = (AllocationSize::Words((bytes / 8) as u32), FramesToSkip::Hook);
            report(jni, thread, state, Allocation { object, class: class_of(number), size, skip, time });
        }
    });
}
