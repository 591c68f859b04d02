//! Waits in `java.util.concurrent` (`juc=on`). All of them call `LockSupport.park*`; these methods are rewritten to call
//! MartiniParking, a Java class like HeapProxy, when they begin and end.

use jvmti::jni_sys::{jboolean, jlong, jobject};
use jvmti::{Jni, JniError};
use trace::ids::ObjectId;

use super::blockers::Blockers;
use super::monitors::{BEGIN_RECORDS, BeginWait, begin_wait};
use super::recorder::Locks;
use super::state::LockThread;
use agent_base::clock::Ticks;
use agent_base::events::event::{Event, WaitKind};
use agent_base::helpers::Natives;
use agent_base::natives;
use agent_base::tables::classes::BlockerKind;
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::context::{Reporter, ThreadContext, enter_for};
use agent_core::core::lost::Dropped;
use agent_core::stacks::walker::FramesToSkip;
use hotspot::monitors::MonitorAddress;

/// Loads LockSupport, unless it is loaded already.
///
/// # Errors
/// What the VM refuses; an exception is pending then.
pub(super) fn load_lock_support(jni: Jni) -> Result<(), JniError> {
    let class = jni.find_class(c"java/util/concurrent/locks/LockSupport")?;
    // SAFETY: a local reference that is not used.
    unsafe { jni.delete_local_ref(class) };
    Ok(())
}

/// Those of MartiniParking.
pub static NATIVES: Natives = natives! {
    begin(thread: jobject, blocker: jobject, nanos: jlong), c"begin", c"(Ljava/lang/Thread;Ljava/lang/Object;J)V";
    end(interrupted: jboolean), c"end", c"(Z)V";
};

/// The current thread is about to park.
fn begin(jni: Jni, thread: jobject, blocker: jobject, nanos: jlong) {
    // SAFETY: MartiniParking passes the current thread, and a live object or null.
    enter_for(jni, |locks: &Locks, jni, context, state: &mut LockThread| unsafe {
        let Some(blockers) = locks.blockers() else { return };
        let is_shown = context.admit(BEGIN_RECORDS, Dropped::Wait);
        locks.note_begin(context.current, WaitState::Parked, is_shown);
        if !is_shown {
            return;
        }
        let blocker = blockers.of_park(jni, thread, blocker);
        let Some(object) = locks.ids.object(jni, context, state, MonitorAddress::default(), blocker) else {
            return;
        };
        let kind = match state.parked {
            Some((last, kind)) if last == object => kind,
            _ => blockers.kind_of(locks.core(), jni, blocker),
        };
        state.parked = Some((object, kind));
        let now = Ticks::now();
        if kind == BlockerKind::Other {
            let stack = state.own_stack(locks.core(), jni, FramesToSkip::Park);
            let nanos = nanos.max(0) as u64;
            let millis = nanos.div_ceil(1_000_000);
            let wait = BeginWait { object, thread: context.current, stack, millis, park_nanos: Some(nanos) };
            begin_wait(context, wait, now);
        } else {
            begin_lock_park(locks, blockers, jni, context, state, LockPark { now, object, lock: blocker, kind });
        }
    });
}

/// A thread that is about to park for a lock.
struct LockPark {
    now: Ticks,
    object: ObjectId,
    /// A live reference to the lock, which is of that kind.
    lock: jobject,
    kind: BlockerKind,
}

/// Reports that a thread parks for a lock.
///
/// # Safety
/// As `LockPark` says.
unsafe fn begin_lock_park(
    locks: &Locks,
    blockers: &Blockers,
    jni: Jni,
    context: &mut ThreadContext,
    state: &mut LockThread,
    park: LockPark,
) {
    let LockPark { now, object, lock, kind } = park;
    // SAFETY: by the caller's promise.
    unsafe { report_owner(locks, blockers, jni, context, state, (lock, kind), now) };
    let stack = state.own_stack(locks.core(), jni, FramesToSkip::Park);
    context.push(Event::Enter { object, thread: context.current, stack, kind: WaitKind::Park }, now);
}

/// Reports who owns a lock of that kind, for which a thread is parked or about to park.
///
/// # Safety
/// A live reference to such a lock.
pub(super) unsafe fn report_owner(
    locks: &Locks,
    blockers: &Blockers,
    jni: Jni,
    context: &mut ThreadContext,
    state: &mut LockThread,
    (lock, kind): (jobject, BlockerKind),
    now: Ticks,
) {
    if kind != BlockerKind::OwnableLock {
        return;
    }
    // SAFETY: by the caller's promise; local references, deleted when they are done with.
    unsafe {
        let owner = blockers.owner(jni, lock);
        if owner.is_null() {
            // Readers hold it, or it has just been released.
            return locks.owners.count_unknown();
        }
        let index = locks.core().jvm.threads.resolve(jni, owner, now);
        let stack = locks.owners.stack(
            jni,
            state,
            now,
            || jni.new_local_ref(owner),
            || {
                let then = blockers.owner(jni, lock);
                let same = jni.is_same_object(owner, then);
                jni.delete_local_ref(then);
                same
            },
        );
        context.push(Event::Owner { thread: index, stack }, now);
        jni.delete_local_ref(owner);
    }
}

/// The current thread has parked.
fn end(jni: Jni, interrupted: jboolean) {
    enter_for(jni, |locks: &Locks, _, context, _: &mut LockThread| {
        if locks.note_end(context.current, WaitState::Parked) == Beginning::Shown {
            context.push(Event::Unparked { thread: context.current, interrupted }, Ticks::now());
        }
    });
}
