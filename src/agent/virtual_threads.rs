//! Virtual threads (JDK 21): whose events a carrier thread's are at each moment.
//!
//! JVMTI's extension events tell when a virtual thread is mounted on its carrier and when it leaves it. Without them
//! (JDK 19 and 20, or a VM that does not offer them) a virtual thread's events count for its carrier.

use jvmti::jni_sys::JNIEnv;
use jvmti::sys::*;
use jvmti::{Env, Jni, guard};

use super::Agent;
use super::clock::Ticks;
use super::event::Event;
use super::threads::{ThreadContext, ThreadIndex, with_context};
use std::sync::atomic::Ordering;

const MOUNT: &[u8] = b"com.sun.hotspot.events.VirtualThreadMount";
const UNMOUNT: &[u8] = b"com.sun.hotspot.events.VirtualThreadUnmount";

type MountEvent = unsafe extern "C" fn(*mut jvmtiEnv, *mut JNIEnv, jthread);

/// Whether this VM has virtual threads.
pub(crate) fn are_offered(env: Env) -> bool {
    env.get_potential_capabilities().is_ok_and(|c| c.has(CAN_SUPPORT_VIRTUAL_THREADS))
}

/// Switches the events on, where there are any.
pub(crate) fn enable(env: Env) {
    if !env.get_capabilities().is_ok_and(|c| c.has(CAN_SUPPORT_VIRTUAL_THREADS)) {
        return;
    }
    for event in env.get_extension_events().unwrap_or_default() {
        let callback: MountEvent = match &*event.id {
            MOUNT => mounted,
            UNMOUNT => unmounted,
            _ => continue,
        };
        // SAFETY: HotSpot passes the environments and the thread to these two events. A function of three pointers is called
        // alike whether it was declared with them or as variadic, on every ABI that HotSpot has.
        let _ = unsafe {
            let callback = std::mem::transmute::<MountEvent, jvmtiExtensionEvent>(callback);
            env.set_extension_event_callback(event.index, Some(callback))
        };
        // JVMTI says that setting the callback enables the event; HotSpot wants to be told.
        let _ = env.enable_event(event.index);
    }
    // Without the event a virtual thread has no end in the trace, which is no more than that.
    let _ = env.enable_event(JVMTI_EVENT_VIRTUAL_THREAD_END);
}

/// # Safety
/// Called by the VM on the carrier.
unsafe extern "C" fn mounted(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: the VM passes this thread's environment and a live thread.
    guard(|| unsafe {
        report(jni, thread, |agent, jni, context, index, now| {
            if let Some(waits) = &agent.waits
                && let Some(record) = agent.threads.get(index)
                && !record.is_on_roster.swap(true, Ordering::Relaxed)
            {
                waits.enter(jni, thread, index);
            }
            context.switch(agent, jni, index, now);
        });
    });
}

/// # Safety
/// Called by the VM on the carrier.
unsafe extern "C" fn unmounted(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let now = Ticks::now();
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, now, |context| context.switch(agent, jni, context.carrier, now));
    });
}

/// JVMTI `VirtualThreadEnd`.
///
/// # Safety
/// Called by the VM on the ending thread.
pub(crate) unsafe extern "system" fn end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: the VM passes this thread's environment and a live thread.
    guard(|| unsafe {
        report(jni, thread, |agent, jni, context, index, _| {
            if let Some(waits) = &agent.waits {
                agent.threads.get(index).inspect(|record| record.ends());
                waits.leave(jni, thread, index);
            }
            // As at the end of a platform thread.
            context.push(agent, Event::ThreadEnd(index), Ticks::now());
        });
    });
}

/// Reports an event about a virtual thread on its carrier.
///
/// # Safety
/// `jni` belongs to the current thread, and `thread` is a live reference.
unsafe fn report(
    jni: *mut JNIEnv,
    thread: jthread,
    body: impl FnOnce(&'static Agent, Jni, &mut ThreadContext, ThreadIndex, Ticks),
) {
    let Some(agent) = Agent::reporting() else { return };
    let now = Ticks::now();
    // SAFETY: by the caller's promise.
    unsafe {
        let jni = Jni::from_raw(jni);
        with_context(agent, jni, now, |context| {
            let index = agent.threads.resolve(agent, jni, thread, now);
            body(agent, jni, context, index, now);
        });
    }
}
