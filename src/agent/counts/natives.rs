//! MartiniCounts' native methods.

use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use jvmti::jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong, jobject};
use jvmti::{Jni, guard};

use super::constants::ConstantIndex;
use super::instrument::{Moment, Subject};
use super::rewritings::Origin;
use super::sites::Seen;
use super::slots::CounterIndex;
use super::{by_the_vm, upcalls};
use crate::agent::Agent;
use crate::agent::classes;
use crate::agent::clock::Ticks;
use crate::agent::threads::{ThreadContext, with_context};
use crate::agent::transform;

/// Runs `body` with the current thread's context while the agent reports, unless the thread is inside the agent already.
///
/// # Safety
/// `jni` is the current thread's environment.
unsafe fn in_context(jni: *mut JNIEnv, body: impl FnOnce(&'static Agent, Jni, &mut ThreadContext)) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        // SAFETY: by the caller's promise.
        let jni = unsafe { Jni::from_raw(jni) };
        with_context(agent, jni, Ticks::now(), |context| body(agent, jni, context));
    });
}

/// `MartiniCounts.count`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count(jni: *mut JNIEnv, _: jclass, counter: jint, thread: jlong, bytes: jlong) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        in_context(jni, |agent, jni, context| count_in(agent, jni, context, counter, thread, bytes as u64));
    }
}

/// `MartiniCounts.countLarge`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count_large(
    jni: *mut JNIEnv,
    _: jclass,
    counter: jint,
    thread: jlong,
    bytes: jlong,
) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        in_context(jni, |agent, jni, context| {
            count_in(agent, jni, context, counter, thread, bytes as u64);
            if let Some(counts) = &agent.counts {
                counts.begin_large(agent, jni, counts.share(context), counter, bytes as u64);
            }
        });
    }
}

fn count_in(
    agent: &'static Agent,
    jni: Jni,
    context: &mut ThreadContext,
    counter: CounterIndex,
    thread: jlong,
    bytes: u64,
) {
    let Some(counts) = &agent.counts else { return };
    let own = counts.share(context);
    counts.count(agent, jni, own, thread, counter, bytes);
}

/// `MartiniCounts.useConstant`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn use_constant(jni: *mut JNIEnv, _: jclass, number: jint) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        in_context(jni, |agent, jni, context| {
            if let Some(counts) = &agent.counts {
                counts.use_constant(agent, jni, context, ConstantIndex(number as u32));
            }
        });
    }
}

/// `MartiniCounts.rewritten`: null if there is nothing to rewrite.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn rewritten(jni: *mut JNIEnv, _: jclass, class: jbyteArray) -> jbyteArray {
    let mut array = null_mut();
    guard(|| {
        let is_on = |agent: &&Agent| agent.transform.direct.load(Ordering::Acquire) && !agent.pool.is_closed();
        let Some(agent) = Agent::get().filter(is_on) else { return };
        // SAFETY: the VM passes this thread's environment and a live array.
        let (jni, class) = unsafe { (Jni::from_raw(jni), Jni::from_raw(jni).get_bytes(class)) };
        let Ok(parsed) = classfile::ClassFile::parse(&class) else { return };
        let subject = Subject { agent, jni, origin: Origin::Nameless, moment: Moment::Loading };
        // SAFETY: there is no reference in it.
        if let Some(bytes) = unsafe { transform::rewrite(parsed.name(), &parsed, true, subject) } {
            with_context(agent, jni, Ticks::now(), |context| {
                agent.exclude(jni, context.carrier, || match jni.new_bytes(&bytes) {
                    Ok(copy) => array = copy,
                    Err(_) => {
                        jni.exception_clear();
                        agent.transform.refuse("class: no memory for it".into());
                    }
                });
            });
        }
    });
    array
}

/// `MartiniCounts.noteCall`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn note_call(_: *mut JNIEnv, _: jclass) {
    guard(by_the_vm::note_call);
}

/// `MartiniCounts.countGiven`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn count_given(jni: *mut JNIEnv, _: jclass, object: jobject) {
    // SAFETY: the VM passes this thread's environment and a live reference.
    unsafe {
        in_context(jni, |agent, jni, context| upcalls::given(agent, jni, context, object));
    }
}

/// `MartiniCounts.accountBegins`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn account_begins(jni: *mut JNIEnv, _: jclass) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        in_context(jni, |agent, jni, context| context.account = agent.accounting.current_thread_bytes(jni));
    }
}

/// `MartiniCounts.accountEnds`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn account_ends(jni: *mut JNIEnv, _: jclass, counter: jint, thread: jlong) {
    let counter = CounterIndex(counter as u32);
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        in_context(jni, |agent, jni, context| {
            let now = agent.accounting.current_thread_bytes(jni);
            let bytes = context.account.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
            if let Some(bytes) = bytes.filter(|&bytes| bytes > 0) {
                count_in(agent, jni, context, counter, thread, bytes);
            }
        });
    }
}

/// `MartiniCounts.counters`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn counters(
    jni: *mut JNIEnv,
    _: jclass,
    site: jint,
    number: jint,
    class: jclass,
) -> jlong {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return 0 };
        let Some(counts) = &agent.counts else { return 0 };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let mut made = None;
        with_context(agent, jni, Ticks::now(), |_| {
            // SAFETY: the VM passes a live reference.
            made = unsafe { counts.seen_at(agent, jni, CounterIndex(site as u32), classes::from_proxy(number), class) };
        });
        match made {
            Some(Seen::Counters(counter)) => jlong::from(counter.0),
            Some(Seen::MadeElsewhere) => -1,
            // Counter 0 is never one of these.
            None => 0,
        }
    })
}
