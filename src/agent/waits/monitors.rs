//! JVMTI's events of monitors: a thread blocks on one, gets it, waits to be notified, goes on.

use jvmti::jni_sys::{JNIEnv, jlong, jobject};
use jvmti::sys::{JVMTI_THREAD_STATE_INTERRUPTED, jboolean, jthread, jvmtiEnv};
use jvmti::{Jni, guard};
use std::sync::atomic::Ordering;
use trace::model::WaitEnd;

use super::super::Agent;
use super::super::clock::Ticks;
use super::super::event::{Event, Way};
use super::super::stacks::{StackIndex, Top};
use super::super::threads::{ThreadContext, ThreadIndex, in_context};
use super::owner::Owner;
use super::recent::MonitorAddress;
use super::{Waits, id_of};

/// Runs `body` with what all these events need.
///
/// # Safety
/// `jni` belongs to the current thread.
unsafe fn report(jni: *mut JNIEnv, body: impl FnOnce(&'static Agent, &'static Waits, Jni, &mut ThreadContext)) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some(waits) = &agent.waits else { return };
        // SAFETY: by the caller's promise.
        let jni = unsafe { Jni::from_raw(jni) };
        in_context(agent, jni, Ticks::now, |context| body(agent, waits, jni, context));
    });
}

/// JVMTI `MonitorContendedEnter`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn contended_enter(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
) {
    // SAFETY: the VM passes this thread's environment, and live references to the thread and the object.
    unsafe {
        report(jni, |agent, waits, jni, context| {
            // First of all, while it is true.
            let layout = waits.layout().map(|layout| (layout, layout.current(jni)));
            let word = layout.and_then(|(layout, current)| layout.pending_owner(current));
            let mut owner = match (layout, word) {
                (Some((layout, current)), Some(word)) => layout.whose(word, current, object, &waits.roster),
                _ => Owner::Unknown,
            };
            context.recent.blocked = None;
            let monitor = layout.map_or(MonitorAddress::default(), |(layout, current)| layout.pending_monitor(current));
            let Some(id) = id_of(agent, waits, jni, context, monitor, object) else { return };
            // Not before the object was announced, which another thread may have done just now.
            let now = Ticks::now();
            let thread = waits.this_thread(agent, jni, &mut context.recent, thread, now);
            if owner == Owner::Unknown {
                owner = ask(agent, waits, jni, object, now);
                if owner == Owner::Unknown {
                    waits.unknown_owners.fetch_add(1, Ordering::Relaxed);
                }
            }
            // Who has ended by that time has let go before.
            let has_ended = |thread| agent.threads.get(thread).is_some_and(|record| record.has_ended());
            if let Owner::Thread(owner) = owner
                && !has_ended(owner)
            {
                let reference = || waits.roster.reference(jni, owner);
                let stack = waits.owner_stack(agent, jni, context, now, reference, || match layout {
                    Some((layout, current)) => layout.pending_owner(current) == word,
                    None => ask(agent, waits, jni, object, Ticks::now()) == Owner::Thread(owner),
                });
                context.push(agent, Event::Owner { thread: owner, stack }, now);
            }
            let stack = stack(agent, jni, context, Top::Method);
            context.push(agent, Event::Enter { object: id, thread, stack, way: Way::Monitor }, now);
            context.recent.blocked = Some((thread, id));
        });
    }
}

/// Asks JVMTI for the owner, if that has not cost too much lately.
///
/// # Safety
/// `object` is a live reference.
unsafe fn ask(agent: &'static Agent, waits: &Waits, jni: Jni, object: jobject, now: Ticks) -> Owner {
    // SAFETY: by the caller's promise.
    let usage = waits.asking.spend(now, || unsafe { agent.env.get_object_monitor_usage(object) });
    let Some(Ok(usage)) = usage else { return Owner::Unknown };
    waits.asked_owners.fetch_add(1, Ordering::Relaxed);
    let mut owner = Owner::Nobody;
    // SAFETY: live local references, each deleted when it is done with.
    unsafe {
        if !usage.owner.is_null() {
            owner = Owner::Thread(agent.threads.resolve(agent, jni, usage.owner, now));
        }
        for &thread in [usage.owner].iter().chain(usage.waiters.iter()).chain(usage.notify_waiters.iter()) {
            jni.delete_local_ref(thread);
        }
    }
    owner
}

/// The stack of the current thread, if stacks are wanted.
pub(super) fn stack(agent: &'static Agent, jni: Jni, context: &mut ThreadContext, top: Top) -> StackIndex {
    let Some(walker) = &mut context.wait_walker else { return StackIndex::default() };
    walker.walk(top, &agent.tables(jni)).unwrap_or_else(|error| {
        agent.count_failure("stack", error);
        StackIndex::default()
    })
}

/// JVMTI `MonitorContendedEntered`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn contended_entered(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
) {
    // SAFETY: the VM passes this thread's environment, and live references to the thread and the object.
    unsafe {
        // The thread owns the monitor: every moment here is one that the others wait.
        report(jni, |agent, waits, jni, context| {
            let now = Ticks::now();
            let thread = waits.this_thread(agent, jni, &mut context.recent, thread, now);
            let blocked = context.recent.blocked.take().filter(|(blocked, _)| *blocked == thread);
            // What was not announced was not entered either, as far as the trace knows.
            if let Some(object) = blocked.map(|(_, object)| object).or_else(|| agent.tags.find(object)) {
                context.push(agent, Event::Entered { object, thread }, now);
            }
        });
    }
}

/// JVMTI `MonitorWait`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn wait(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    timeout: jlong,
) {
    // SAFETY: the VM passes this thread's environment, and live references to the thread and the object.
    unsafe {
        report(jni, |agent, waits, jni, context| {
            let Some(object) = id_of(agent, waits, jni, context, MonitorAddress::default(), object) else { return };
            let now = Ticks::now();
            let thread = waits.this_thread(agent, jni, &mut context.recent, thread, now);
            let stack = stack(agent, jni, context, Top::Wait);
            context.recent.is_waiting = true;
            begin_wait(agent, context, now, object, thread, stack, timeout.max(0) as u64, None);
        });
    }
}

/// Reports that a thread begins to wait.
#[allow(clippy::too_many_arguments, reason = "what an event has")]
pub(super) fn begin_wait(
    agent: &'static Agent,
    context: &mut ThreadContext,
    now: Ticks,
    object: trace::ids::ObjectId,
    thread: ThreadIndex,
    stack: StackIndex,
    millis: u64,
    park_nanos: Option<u64>,
) {
    if millis > 0 {
        context.push(agent, Event::Limit { millis, nanos: park_nanos.unwrap_or(0) }, now);
    }
    let way = if park_nanos.is_some() { Way::Park } else { Way::Monitor };
    context.push(agent, Event::Wait { object, thread, stack, way }, now);
}

/// JVMTI `MonitorWaited`.
///
/// # Safety
/// Called by the VM.
pub(super) unsafe extern "system" fn waited(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    timed_out: jboolean,
) {
    // SAFETY: the VM passes this thread's environment, and live references to the thread and the object.
    unsafe {
        report(jni, |agent, waits, jni, context| {
            let now = Ticks::now();
            let was_waiting = std::mem::take(&mut context.recent.is_waiting);
            if !was_waiting && !context.is_virtual && is_array(agent, jni, object) {
                waits.initializations.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let Some(object) = agent.tags.find(object) else { return };
            // The VM clears the state after the event, when it throws.
            let is_interrupted =
                || agent.env.get_thread_state(thread).is_ok_and(|state| state & JVMTI_THREAD_STATE_INTERRUPTED != 0);
            let reason = match timed_out != 0 {
                true => WaitEnd::TimedOut,
                false if is_interrupted() => WaitEnd::Interrupted,
                false => WaitEnd::Notified,
            };
            let thread = waits.this_thread(agent, jni, &mut context.recent, thread, now);
            context.push(agent, Event::Waited { object, thread, reason }, now);
        });
    }
}

/// Whether the object is an array, such as the VM locks while it initialises a class: of a thread that waits for this HotSpot
/// tells the end alone (`MonitorWait` is sent by `Object.wait`, `MonitorWaited` by the monitor).
///
/// # Safety
/// `object` is a live reference.
unsafe fn is_array(agent: &Agent, jni: Jni, object: jobject) -> bool {
    // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
    unsafe {
        let class = jni.get_object_class(object);
        let is_array = agent.env.is_array_class(class).unwrap_or(false);
        jni.delete_local_ref(class);
        is_array
    }
}
