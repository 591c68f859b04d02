//! MartiniCounts' native methods.

use jvmti::jni_sys::{JNIEnv, jclass, jint, jlong};
use jvmti::{Jni, guard};

use super::slots::CounterIndex;
use crate::agent::Agent;
use crate::agent::classes::{self, Surroundings};
use crate::agent::clock::Ticks;
use crate::agent::threads::with_context;

/// `MartiniCounts.layout`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn layout(_: *mut JNIEnv, _: jclass, element: u16) -> jint {
    guard(|| {
        let descriptor = if element == u16::from(b'L') {
            "[Ljava/lang/Object;".into()
        } else {
            format!("[{}", element as u8 as char)
        };
        let layout = Agent::get().and_then(|agent| agent.layout(trace::names::array_code(&descriptor)));
        layout.and_then(|layout| layout.packed()).unwrap_or(0)
    })
}

/// `MartiniCounts.count`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count(jni: *mut JNIEnv, _: jclass, counter: jint, thread: jlong, bytes: jlong) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some(counts) = &agent.counts else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let counter = CounterIndex(counter as u32);
        with_context(agent, jni, Ticks::now(), |context| {
            counts.resolve(agent, jni, counter);
            let carrier = context.carrier;
            let own = context.counts.get_or_insert_with(|| counts.begin(carrier));
            counts.add(jni, own, thread, counter, bytes as u64, &agent.classes);
        });
    });
}

/// `MartiniCounts.counters`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn counters(jni: *mut JNIEnv, _: jclass, site: jint, number: jint) -> jlong {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return 0 };
        let Some(counts) = &agent.counts else { return 0 };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let mut made = None;
        with_context(agent, jni, Ticks::now(), |_| {
            made = counts.seen_at(agent, jni, CounterIndex(site as u32), classes::from_proxy(number));
        });
        // Counter 0 is never one of these: it stands for none.
        made.map_or(0, |counter| jlong::from(counter.0))
    })
}
