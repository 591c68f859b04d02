//! JVMTI's events of platform threads and classes that every recording needs.

use std::ptr::null_mut;

use jvmti::jni_sys::{JNIEnv, jclass};
use jvmti::sys::{jthread, jvmtiEnv};
use jvmti::{Jni, guard};

use crate::core::Core;
use crate::core::accounting;
use crate::core::context::{Entry, enter};
use crate::instrument::Instrumentation;
use agent_base::agent_thread;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::tables::threads::NameStage;

/// JVMTI `ThreadStart`.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn thread_start(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guard(|| {
        // Also while nothing is reported yet: a thread may start before VMInit is over.
        let Some(core) = Core::open() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: the VM passes a live reference to the thread.
        if agent_thread::is_attached() || unsafe { agent_thread::is_own(jni, thread) } {
            return Entry::stay();
        }
        // The recording, which is about to begin, finds it among the living.
        if core.is_late && !core.is_reporting() {
            return;
        }
        let now = Ticks::now();
        Entry::begin_again();
        enter(
            core,
            jni,
            || now,
            |local| {
                // SAFETY: the VM passes a live reference to the thread.
                unsafe { core.jvm.threads.note_number(jni, thread, local.thread.carrier) };
                // The recording has found it among the living: the main thread starts after VMInit.
                if !core.jvm.threads.announce(local.thread.carrier, core.number) {
                    return;
                }
                core.living.starts(jni, local.thread.carrier);
                // SAFETY: the VM passes a live reference to the thread.
                unsafe {
                    core.jvm.threads.name(local.thread.carrier, jni, thread, NameStage::Constructed);
                    core.features().for_each(|feature| feature.thread_start(jni, local, thread));
                }
                // Without it the first event that names the thread defines it.
                if local.thread.make_room(1) {
                    local.thread.push(Event::ThreadStart(local.thread.carrier), now);
                }
            },
        );
    });
}

/// JVMTI `ThreadEnd`: the thread's last event; its context is dropped.
///
/// The VM sends it also of a thread that halts the VM. That one is in the middle of Java code, with all the monitors that it has
/// entered, and nobody sees it leave them: in the trace it lives as long as the VM.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guard(|| {
        let Some(core) = Core::current() else { return };
        // SAFETY: null is the current thread.
        if unsafe { core.jvm.env.get_frame_count(null_mut()) }.is_ok_and(|frames| frames > 0) {
            return;
        }
        // SAFETY: the VM passes this thread's environment, and a live reference to the thread.
        let jni = unsafe {
            let jni = Jni::from_raw(jni);
            // Others may have found it, and it has not reported anything itself.
            let threads = &core.jvm.threads;
            let found = threads.find_current().or_else(|| threads.find(jni, thread));
            // Who finds it from now on, while a recording begins, knows that it ends.
            let found = found.or_else(|| core.is_late.then(|| threads.resolve(jni, thread, Ticks::now())));
            let record = found.and_then(|index| threads.get(index));
            record.inspect(|record| record.set_ended());
            core.living.leave(jni);
            if core.is_late && !record.is_some_and(|record| record.is_announced(core.number)) {
                return Entry::end(jni);
            }
            if let Some(index) = found {
                core.features().for_each(|feature| feature.thread_leaves(jni, thread, index));
            }
            jni
        };
        // Later than every event of another thread that names this thread as an owner.
        let now = Ticks::now();
        if !core.pool.is_closed() {
            enter(
                core,
                jni,
                || now,
                |local| {
                    local.thread.begin_end();
                    core.features().for_each(|feature| feature.thread_end(jni, local, now));
                    if core.records_allocations() {
                        accounting::thread_ends(core, jni, local, now);
                    }
                    let carrier = local.thread.carrier;
                    local.thread.push(Event::ThreadEnd(carrier), now);
                },
            );
        }
        Entry::end(jni);
    });
}

/// JVMTI `ClassPrepare`: notes when the class was loaded, which is reported if an event refers to the class.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn class_prepare(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, class: jclass) {
    guard(|| {
        let Some(core) = Core::current() else { return };
        // SAFETY: the VM passes this thread's environment and a live reference. A load time that cannot be noted is replaced by
        // the agent's start.
        unsafe {
            let jni = Jni::from_raw(jni);
            Instrumentation::current().inspect(|instrumentation| instrumentation.class_linked(jni, class));
            if core.pool.is_closed() {
                return;
            }
            core.jvm.methods.redefined.class_loaded();
            Instrumentation::current().inspect(|instrumentation| instrumentation.watch_others());
            core.features().for_each(|feature| feature.class_prepared(jni, class));
            let _ = core.jvm.classes.note_load(class, Ticks::now());
        }
    });
}
