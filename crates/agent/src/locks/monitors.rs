//! JVMTI's events of monitors: a thread blocks on one, gets it, waits to be notified, continues.

use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jlong, jobject};
use jvmti::sys::{JVMTI_THREAD_STATE_INTERRUPTED, jboolean, jthread, jvmtiEnv};
use trace::ids::ObjectId;
use trace::model::WaitEnd;

use super::owner::{Owner, owner_of};
use super::recorder::Locks;
use super::state::LockThread;
use agent_base::clock::Ticks;
use agent_base::events::event::{Event, WaitKind};
use agent_base::ids::{StackIndex, ThreadIndex};
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::Core;
use agent_core::core::context::{Reporter, ThreadContext, callback};
use agent_core::core::lost::Dropped;
use agent_core::stacks::walker::FramesToSkip;
use hotspot::monitors::MonitorAddress;

/// Records that the begin of a wait takes: the object, the owner or the limit, the begin. The end needs no room: there is one for
/// each begin.
pub(super) const BEGIN_RECORDS: usize = 3;

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
        callback(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            state.blocked = None;
            if !context.admit(BEGIN_RECORDS, Dropped::Wait) {
                let thread = state.this_thread(locks.core(), jni, thread, Ticks::now());
                return locks.note_begin(thread, WaitState::Blocked, false);
            }
            // Before anything else, since the owner may release the monitor at any time.
            let layout = locks.owners.layout().map(|layout| (layout, layout.current(jni)));
            let word = layout.and_then(|(layout, current)| layout.pending_owner(current));
            let mut owner = match (layout, word) {
                (Some((layout, current)), Some(word)) => owner_of(locks.core(), layout, word, current, object),
                _ => Owner::Unknown,
            };
            let monitor = layout.map_or(MonitorAddress::default(), |(layout, current)| layout.pending_monitor(current));
            let Some(id) = locks.ids.object(jni, context, state, monitor, object) else { return };
            // After the object was announced, which another thread may have done just now.
            let now = Ticks::now();
            let thread = state.this_thread(locks.core(), jni, thread, now);
            let from_memory = layout.filter(|_| owner != Owner::Unknown);
            if owner == Owner::Unknown {
                owner = locks.owners.ask(jni, object, now);
            }
            // A thread that has ended by now has released the monitor.
            let has_ended = |thread| locks.core().jvm.threads.get(thread).is_some_and(|record| record.has_ended());
            if owner == Owner::Unknown || matches!(owner, Owner::Thread(owner) if has_ended(owner)) {
                locks.owners.count_unknown();
            } else if let Owner::Thread(owner) = owner {
                let reference = || locks.owners.reference(jni, owner);
                let stack = locks.owners.stack(jni, state, now, reference, || match layout {
                    Some((layout, current)) => layout.pending_owner(current) == word,
                    None => locks.owners.owns(jni, owner, object) == Some(true),
                });
                context.push(Event::Owner { thread: owner, stack }, now);
            }
            let stack = state.own_stack(locks.core(), jni, FramesToSkip::Method);
            context.push(Event::Enter { object: id, thread, stack, kind: WaitKind::Monitor }, now);
            locks.note_begin(thread, WaitState::Blocked, true);
            state.blocked = Some((thread, id));
            // After the events: meanwhile the owner may end, and could not be named any more.
            if let (Some((layout, current)), Owner::Thread(_)) = (from_memory, owner)
                && layout.begin_comparison()
            {
                layout.end_comparison(locks.owners.compare(jni, layout, current, object));
            }
        });
    }
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
        // The thread owns the monitor, so the other threads wait as long as this takes.
        callback(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            let now = Ticks::now();
            let thread = state.this_thread(locks.core(), jni, thread, now);
            let blocked = state.blocked.take().filter(|(blocked, _)| *blocked == thread);
            if locks.note_end(thread, WaitState::Blocked) == Beginning::Dropped {
                return;
            }
            // An object without an id has no beginning in the trace, so it needs no end.
            if let Some(object) = blocked.map(|(_, object)| object).or_else(|| locks.core().tags.find(object)) {
                context.push(Event::Entered { object, thread }, now);
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
        callback(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            if !context.admit(BEGIN_RECORDS, Dropped::Wait) {
                let thread = state.this_thread(locks.core(), jni, thread, Ticks::now());
                return locks.note_begin(thread, WaitState::Waiting, false);
            }
            let unknown = MonitorAddress::default();
            let Some(object) = locks.ids.object(jni, context, state, unknown, object) else { return };
            let now = Ticks::now();
            let thread = state.this_thread(locks.core(), jni, thread, now);
            let stack = state.own_stack(locks.core(), jni, FramesToSkip::Wait);
            let wait = BeginWait { object, thread, stack, millis: timeout.max(0) as u64, park_nanos: None };
            begin_wait(context, wait, now);
            locks.note_begin(thread, WaitState::Waiting, true);
        });
    }
}

/// A thread that begins to wait.
pub(super) struct BeginWait {
    pub(super) object: ObjectId,
    pub(super) thread: ThreadIndex,
    pub(super) stack: StackIndex,
    /// The limit of the wait; 0 if there is none.
    pub(super) millis: u64,
    /// The same of a park; `None` for a monitor.
    pub(super) park_nanos: Option<u64>,
}

/// Reports that a thread begins to wait.
pub(super) fn begin_wait(context: &mut ThreadContext, wait: BeginWait, now: Ticks) {
    let BeginWait { object, thread, stack, millis, park_nanos } = wait;
    if millis > 0 {
        context.push(Event::Limit { millis, nanos: park_nanos.unwrap_or(0) }, now);
    }
    let kind = if park_nanos.is_some() { WaitKind::Park } else { WaitKind::Monitor };
    context.push(Event::Wait { object, thread, stack, kind }, now);
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
        callback(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            let core = locks.core();
            let now = Ticks::now();
            let index = state.this_thread(locks.core(), jni, thread, now);
            match locks.note_end(index, WaitState::Waiting) {
                Beginning::Dropped => return,
                Beginning::Unseen if is_array(core, jni, object) => {
                    locks.count_initialization();
                    return;
                }
                Beginning::Unseen | Beginning::Shown => {}
            }
            let Some(object) = core.tags.find(object) else { return };
            // The VM clears the state after the event, when it throws.
            let is_interrupted =
                || core.jvm.env.get_thread_state(thread).is_ok_and(|state| state & JVMTI_THREAD_STATE_INTERRUPTED != 0);
            let reason = match timed_out != 0 {
                true => WaitEnd::TimedOut,
                false if is_interrupted() => WaitEnd::Interrupted,
                false => WaitEnd::Notified,
            };
            context.push(Event::Waited { object, thread: index, reason }, now);
        });
    }
}

/// Whether the object is an array, as the VM locks one while it initialises a class. For a thread that waits for that, HotSpot
/// sends only the end (`MonitorWait` comes from `Object.wait`, `MonitorWaited` from the monitor).
///
/// # Safety
/// `object` is a live reference.
unsafe fn is_array(core: &Core, jni: Jni, object: jobject) -> bool {
    // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
    unsafe {
        let class = jni.get_object_class(object);
        let is_array = core.jvm.env.is_array_class(class).unwrap_or(false);
        jni.delete_local_ref(class);
        is_array
    }
}
