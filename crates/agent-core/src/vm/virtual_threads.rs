//! Virtual threads (JDK 21): which thread runs on a carrier, and so has its events.
//!
//! JVMTI's extension events come when a virtual thread is mounted on its carrier and when it leaves it. Without them
//! (JDK 19 and 20, or a VM that does not offer them) the events of a virtual thread are reported as its carrier's.

use jvmti::jni_sys::JNIEnv;
use jvmti::sys::*;
use jvmti::{Env, Jni, guard};

use crate::core::Core;
use crate::core::context::{LocalThread, enter};
use crate::core::lost::Dropped;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::tables::threads::NameStage;

const MOUNT: &[u8] = b"com.sun.hotspot.events.VirtualThreadMount";
const UNMOUNT: &[u8] = b"com.sun.hotspot.events.VirtualThreadUnmount";

type MountEvent = unsafe extern "C" fn(*mut jvmtiEnv, *mut JNIEnv, jthread);

/// Whether this VM has virtual threads.
pub(crate) fn are_offered(env: Env) -> bool {
    env.get_potential_capabilities().is_ok_and(|c| c.has(CAN_SUPPORT_VIRTUAL_THREADS))
}

/// Switches the events on, where there are any.
pub fn enable(env: Env) {
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
        // JVMTI says that setting the callback enables the event; HotSpot asks for this call too.
        let _ = env.enable_event(event.index);
    }
    // Without this event a virtual thread has no end in the trace; nothing else is lost.
    let _ = env.enable_event(JVMTI_EVENT_VIRTUAL_THREAD_END);
}

/// Switches the events off.
pub fn disable(env: Env) {
    for event in env.get_extension_events().unwrap_or_default() {
        if matches!(&*event.id, MOUNT | UNMOUNT) {
            let _ = env.disable_event(event.index);
            // SAFETY: no callback.
            let _ = unsafe { env.set_extension_event_callback(event.index, None) };
        }
    }
    env.disable_events(&[JVMTI_EVENT_VIRTUAL_THREAD_END]);
}

/// # Safety
/// Called by the VM on the carrier.
unsafe extern "C" fn mounted(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: the VM passes this thread's environment and a live thread.
    unsafe {
        on_carrier(jni, |core, jni, local| {
            let now = Ticks::now();
            let index = core.jvm.threads.resolve_own(jni, thread, now, NameStage::Constructed);
            local.mount(jni, thread, index, now);
        });
    }
}

/// # Safety
/// Called by the VM on the carrier.
unsafe extern "C" fn unmounted(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        on_carrier(jni, |_, jni, local| local.switch(jni, local.thread.carrier));
    }
}

/// JVMTI `VirtualThreadEnd`.
///
/// # Safety
/// Called by the VM on the ending thread.
pub unsafe extern "system" fn end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: the VM passes this thread's environment and a live thread.
    unsafe {
        on_carrier(jni, |core, jni, local| {
            let index = core.jvm.threads.resolve_own(jni, thread, Ticks::now(), NameStage::Constructed);
            core.jvm.threads.get(index).inspect(|record| record.set_ended());
            core.features().for_each(|feature| feature.thread_leaves(jni, thread, index));
            if local.thread.admit(1, Dropped::Thread) {
                // As at the end of a platform thread.
                local.thread.push(Event::ThreadEnd(index), Ticks::now());
            }
            // The VM has sent its unmount before. A recording that began in between knows it as mounted, and no other event comes.
            if local.thread.is_virtual {
                local.switch(jni, local.thread.carrier);
            }
        });
    }
}

/// Runs `body` for an event about a virtual thread, with the context of its carrier.
///
/// # Safety
/// `jni` belongs to the current thread.
unsafe fn on_carrier(jni: *mut JNIEnv, body: impl FnOnce(&'static Core, Jni, &mut LocalThread)) {
    guard(|| {
        let Some(core) = Core::reporting() else { return };
        // SAFETY: by the caller's promise.
        let jni = unsafe { Jni::from_raw(jni) };
        enter(core, jni, Ticks::now, |local| body(core, jni, local));
    });
}
