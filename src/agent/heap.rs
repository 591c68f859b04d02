//! Allocations: the natives that HeapProxy calls, and the objects that the VM makes itself.

use std::sync::atomic::Ordering;

use jvmti::jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jobject};
use jvmti::sys::{jthread, jvmtiEnv, jvmtiFrameInfo};
use jvmti::{Jni, guard};
use trace::ids::ObjectId;

use super::Agent;
use super::classes::{self, ClassIndex};
use super::clock::Ticks;
use super::event::{Event, Extent};
use super::lives::Mark;
use super::stacks::{StackIndex, Top};
use super::threads::{ThreadContext, with_context};

/// `HeapProxy.classCode`: the code of a class, by its first instance; 0 if it cannot be told yet.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn class_code(jni: *mut JNIEnv, _: jclass, class: jclass, instance: jobject) -> jint {
    guard(|| {
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let Some(agent) = Agent::reporting() else { return 0 };
        // SAFETY: HeapProxy passes an object and its class.
        let code = unsafe {
            agent
                .classes
                .resolve(agent.env, jni, class, agent)
                .and_then(|index| agent.classes.code(agent.env, index, instance))
        };
        code.unwrap_or_else(|error| {
            agent.count_failure("class", error);
            0
        })
    })
}

/// `HeapProxy.objectAllocated`.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn object_allocated(jni: *mut JNIEnv, _: jclass, object: jobject, number: jint) {
    guard(|| {
        let class = classes::from_proxy(number);
        // SAFETY: HeapProxy passes a live object of that class on this thread.
        unsafe { allocated(Jni::from_raw(jni), object, class, Extent::Instance, Top::Constructors) };
    });
}

/// `HeapProxy.arrayAllocated`.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn array_allocated(
    jni: *mut JNIEnv,
    _: jclass,
    array: jobject,
    number: jint,
    length: jint,
) {
    guard(|| {
        let class = classes::from_proxy(number);
        // SAFETY: HeapProxy passes a live array of that class on this thread.
        unsafe { allocated(Jni::from_raw(jni), array, class, Extent::Array(length as u32), Top::Hook) };
    });
}

/// `HeapProxy.objectMade`: a call returned an object that it may have made without any hook.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn object_made(
    jni: *mut JNIEnv,
    _: jclass,
    object: jobject,
    number: jint,
    bare: jboolean,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let now = Ticks::now();
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, now, |context| {
            // SAFETY: HeapProxy passes a live object of that class on this thread.
            unsafe {
                if is_reported(agent, context, object) {
                    return;
                }
                let bytes = match agent.env.get_object_size(object) {
                    Ok(bytes) => bytes,
                    Err(error) => return agent.count_failure("size", error),
                };
                if bare {
                    context.unconstructed.made();
                }
                let extent = Extent::Words((bytes / 8) as u32);
                report(agent, jni, context, object, classes::from_proxy(number), extent, Top::Hook, now);
            }
        });
    });
}

/// Whether an object that the current thread has just been given carries a tag already.
///
/// # Safety
/// `object` is a live reference.
unsafe fn is_reported(agent: &Agent, context: &ThreadContext, object: jobject) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        // A virtual thread may have changed its carrier between the allocation and now.
        context.shard.tag(object).is_ok_and(|tag| tag != 0) || context.is_virtual && agent.tags.anywhere(object)
    }
}

/// # Safety
/// `object` is a live reference to an object of that class, and `jni` belongs to the current thread.
#[inline]
unsafe fn allocated(jni: Jni, object: jobject, class: ClassIndex, extent: Extent, top: Top) {
    let Some(agent) = Agent::reporting() else { return };
    let now = Ticks::now();
    with_context(agent, jni, now, |context| {
        // SAFETY: by the caller's promise.
        unsafe {
            if agent.engine.tells_twice() && is_reported(agent, context, object) {
                return;
            }
            report(agent, jni, context, object, class, extent, top, now);
        }
    });
}

/// Reports an object, and keeps an eye on it if its death is to be reported too.
///
/// # Safety
/// As for `allocated`.
#[allow(clippy::too_many_arguments, reason = "one straight path, inlined into each hook")]
#[inline]
pub(crate) unsafe fn report(
    agent: &'static Agent,
    jni: Jni,
    context: &mut ThreadContext,
    object: jobject,
    class: ClassIndex,
    mut extent: Extent,
    top: Top,
    now: Ticks,
) {
    if top == Top::Constructors && context.unconstructed.expected() {
        // SAFETY: by the caller's promise.
        if unsafe { is_reported(agent, context, object) } {
            return context.unconstructed.constructed();
        }
    }
    let id = context.new_object(agent, now);
    let stack = match &mut context.walker {
        Some(walker) => walker.walk(top, &agent.tables(jni)).unwrap_or_else(|error| {
            agent.count_failure("stack", error);
            StackIndex::default()
        }),
        None => StackIndex::default(),
    };
    if agent.tags_objects() {
        // SAFETY: by the caller's promise.
        if let Err(error) = unsafe { context.shard.set_tag(object, id.0 as jlong) } {
            return agent.count_failure("tag", error);
        }
    }
    // SAFETY: by the caller's promise.
    if agent.follows_lives() && unsafe { context.lives.note(&agent.lives, jni, object, Mark::new(id, stack)) }.is_err()
    {
        return agent.count_lost("no memory for a weak reference", 1);
    }
    if matches!(extent, Extent::Array(_)) && agent.classes.get(class).is_none_or(|c| c.layout.is_none()) {
        // SAFETY: by the caller's promise.
        let bytes = unsafe { agent.env.get_object_size(object) }.unwrap_or(0);
        extent = Extent::Words((bytes / 8) as u32);
    }
    context.push(agent, Event::Alloc { object: id, class, extent, stack }, now);
}

/// JVMTI `VMObjectAlloc`: the VM made an object for JNI, reflection or itself.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn vm_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    object: jobject,
    class: jclass,
    size: jlong,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let now = Ticks::now();
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, now, |context| {
            // SAFETY: the VM passes a live object and its class.
            unsafe {
                // An object whose constructor ran (reflection) has been reported from there.
                if is_reported(agent, context, object) {
                    return;
                }
                let index = match agent.classes.resolve(agent.env, jni, class, agent) {
                    Ok(index) => index,
                    Err(error) => return agent.count_failure("class", error),
                };
                if agent.classes.get(index).is_some_and(|c| c.is_included()) {
                    if is_in_allocate_instance(agent, jni) {
                        context.unconstructed.made();
                    }
                    let extent = Extent::Words((size / 8) as u32);
                    report(agent, jni, context, object, index, extent, Top::Method, now);
                }
            }
        });
    });
}

/// Whether the current thread is in `Unsafe.allocateInstance`.
fn is_in_allocate_instance(agent: &Agent, jni: Jni) -> bool {
    let mut frames = [jvmtiFrameInfo::default()];
    // SAFETY: null is the current thread, and the method id is on its stack, so its class is alive.
    unsafe {
        let Ok(&mut [top]) = agent.env.get_stack_trace(std::ptr::null_mut(), 0, &mut frames) else { return false };
        let method = agent.methods.resolve(agent.env, jni, top.method, &agent.classes, agent);
        method.ok().and_then(|m| agent.methods.get(m)).is_some_and(|m| m.name == "allocateInstance")
    }
}

/// JVMTI `GarbageCollectionStart`.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn gc_start(_: *mut jvmtiEnv) {
    guard(|| {
        if let Some(agent) = Agent::get().filter(|a| !a.pool.is_closed()) {
            agent.gc.start(Ticks::now());
        }
    });
}

/// JVMTI `GarbageCollectionFinish`.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn gc_finish(_: *mut jvmtiEnv) {
    guard(|| {
        if let Some(agent) = Agent::get().filter(|a| !a.pool.is_closed()) {
            agent.gc.finish(Ticks::now(), ObjectId(agent.ids.load(Ordering::Relaxed)));
        }
    });
}
