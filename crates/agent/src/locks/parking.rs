//! Waits in `java.util.concurrent` (`juc=on`). All of them call `LockSupport.park*`; these methods are rewritten to call
//! MartiniParking, a Java class like HeapProxy, when they begin and end.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use classfile::{Op, StaticMethod};
use jvmti::jni_sys::{JNIEnv, jboolean, jclass, jfieldID, jlong, jmethodID, jobject};
use jvmti::{Jni, JniError};
use trace::ids::ObjectId;

use super::Locks;
use super::hooks::Hooked;
use super::monitors::{BEGIN_RECORDS, BeginWait, begin_wait, stack};
use super::state::LockThread;
use agent_base::clock::Ticks;
use agent_base::events::event::{Event, WaitKind};
use agent_base::helpers::{Natives, PARKING, native};
use agent_base::ids::ClassIndex;
use agent_base::tables::classes::BlockerKind;
use agent_base::tables::threads::{Beginning, WaitState};
use agent_core::core::Core;
use agent_core::core::context::{ThreadContext, callback};
use agent_core::core::lost::Dropped;
use agent_core::stacks::walker::FramesToSkip;
use hotspot::monitors::MonitorAddress;

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: PARKING.internal_name, name, descriptor }
}

/// The methods that park.
pub(super) static PARKS: Hooked = Hooked {
    class: b"java/util/concurrent/locks/LockSupport",
    begins: &[
        (method("park", "(Ljava/lang/Object;)V"), &[Op::Aload0]),
        (method("parkNanos", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
        (method("parkUntil", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
        (method("park", "()V"), &[]),
        (method("parkNanos", "(J)V"), &[Op::Lload(0)]),
        (method("parkUntil", "(J)V"), &[Op::Lload(0)]),
    ],
    end: method("parked", "()V"),
};

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
// SAFETY: the functions fit their descriptors and do not unwind.
pub static NATIVES: Natives = unsafe {
    Natives::new(&[
        native(c"begin", c"(Ljava/lang/Thread;Ljava/lang/Object;J)V", begin as *const c_void),
        native(c"end", c"(Z)V", end as *const c_void),
    ])
};

/// What identifies a lock and its owner.
pub(crate) struct Fields {
    /// `AbstractOwnableSynchronizer`, a global reference.
    ownable: jclass,
    /// Its field `exclusiveOwnerThread`.
    owner: jfieldID,
    stamped: jclass,
    /// `isHeldExclusively` of the abstract classes, which throws: a class that does not override it has no single owner.
    undecided: [jmethodID; 2],
    /// `Thread.parkBlocker`.
    blocker: jfieldID,
}

// SAFETY: ids and global references of classes that are never unloaded, which JNI lets every thread use.
unsafe impl Send for Fields {}
// SAFETY: as above.
unsafe impl Sync for Fields {}

impl Fields {
    /// # Errors
    /// What the VM refuses; an exception is pending then.
    pub(super) fn find(jni: Jni) -> Result<Fields, JniError> {
        let class = |name| {
            let local = jni.find_class(name)?;
            // SAFETY: a live local reference, deleted at once.
            unsafe {
                let global = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                Ok::<jclass, JniError>(global)
            }
        };
        let ownable = class(c"java/util/concurrent/locks/AbstractOwnableSynchronizer")?;
        let queued = class(c"java/util/concurrent/locks/AbstractQueuedSynchronizer")?;
        let queued_long = class(c"java/util/concurrent/locks/AbstractQueuedLongSynchronizer")?;
        let held = |class| {
            // SAFETY: a global reference.
            unsafe { jni.get_method_id(class, c"isHeldExclusively", c"()Z") }
        };
        // SAFETY: global references.
        unsafe {
            Ok(Fields {
                ownable,
                owner: jni.get_field_id(ownable, c"exclusiveOwnerThread", c"Ljava/lang/Thread;")?,
                stamped: class(c"java/util/concurrent/locks/StampedLock")?,
                undecided: [held(queued)?, held(queued_long)?],
                blocker: jni.get_field_id(class(c"java/lang/Thread")?, c"parkBlocker", c"Ljava/lang/Object;")?,
            })
        }
    }

    /// What that object is to a thread that parks.
    ///
    /// # Safety
    /// `blocker` is a live reference to an object.
    unsafe fn blocker_kind(&self, core: &Core, jni: Jni, blocker: jobject) -> BlockerKind {
        // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
        unsafe {
            let class = jni.get_object_class(blocker);
            let kind = match core.jvm.classes.resolve(jni, class) {
                Ok(index) => self.kind_of_class(core, jni, index, class, blocker),
                Err(_) => BlockerKind::Other,
            };
            jni.delete_local_ref(class);
            kind
        }
    }

    /// What objects of that class are to a thread that parks.
    ///
    /// # Safety
    /// `blocker` is a live reference to an object of that class.
    unsafe fn kind_of_class(
        &self,
        core: &Core,
        jni: Jni,
        index: ClassIndex,
        class: jclass,
        blocker: jobject,
    ) -> BlockerKind {
        let Some(record) = core.jvm.classes.get(index) else { return BlockerKind::Other };
        if let Some(known) = record.blocker_kind() {
            return known;
        }
        // SAFETY: by the caller's promise.
        let kind = unsafe {
            if jni.is_instance_of(blocker, self.stamped) {
                BlockerKind::Lock
            } else if jni.is_instance_of(blocker, self.ownable) {
                // A synchronizer that one thread can own overrides this; semaphores and latches do not.
                match jni.get_method_id(class, c"isHeldExclusively", c"()Z") {
                    Ok(method) if !self.undecided.contains(&method) => BlockerKind::OwnableLock,
                    Ok(_) => BlockerKind::Other,
                    Err(_) => {
                        jni.exception_clear();
                        BlockerKind::OwnableLock
                    }
                }
            } else {
                BlockerKind::Other
            }
        };
        record.set_blocker_kind(kind);
        kind
    }

    /// The thread that owns a lock, as a new local reference, or null.
    ///
    /// # Safety
    /// `lock` is a live reference to an `AbstractOwnableSynchronizer`.
    unsafe fn owner(&self, jni: Jni, lock: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni.get_object_field(lock, self.owner) }
    }
}

impl Locks {
    /// The object with which a thread is parked, and the thread that owns it: new local references; the owner may be null.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(super) unsafe fn parked_on(&self, jni: Jni, thread: jobject) -> Option<(jobject, jobject)> {
        let fields = self.fields.get()?;
        // SAFETY: by the caller's promise.
        unsafe {
            let blocker = jni.get_object_field(thread, fields.blocker);
            if blocker.is_null() {
                return None;
            }
            let is_ownable = jni.is_instance_of(blocker, fields.ownable);
            let owner = if is_ownable { fields.owner(jni, blocker) } else { null_mut() };
            Some((blocker, owner))
        }
    }
}

/// `MartiniParking.begin`: the current thread is about to park.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn begin(jni: *mut JNIEnv, _: jclass, thread: jobject, blocker: jobject, nanos: jlong) {
    // SAFETY: the VM passes this thread's environment, MartiniParking the current thread, and a live object or null.
    unsafe {
        callback(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            let Some(fields) = locks.fields.get() else { return };
            let is_shown = context.admit(BEGIN_RECORDS, Dropped::Wait);
            locks.note_begin(context.current, WaitState::Parked, is_shown);
            if !is_shown {
                return;
            }
            let noted = if blocker.is_null() { jni.get_object_field(thread, fields.blocker) } else { null_mut() };
            let blocker = [blocker, noted, thread].into_iter().find(|object| !object.is_null()).unwrap_or(thread);
            let Some(object) = locks.object(jni, context, state, MonitorAddress::default(), blocker) else { return };
            let kind = match state.parked {
                Some((last, kind)) if last == object => kind,
                _ => fields.blocker_kind(locks.core, jni, blocker),
            };
            state.parked = Some((object, kind));
            let now = Ticks::now();
            if kind == BlockerKind::Other {
                let stack = stack(locks.core, jni, state, FramesToSkip::Park);
                let nanos = nanos.max(0) as u64;
                let millis = nanos.div_ceil(1_000_000);
                let wait = BeginWait { object, thread: context.current, stack, millis, park_nanos: Some(nanos) };
                begin_wait(context, wait, now);
            } else {
                begin_lock_park(locks, fields, jni, context, state, LockPark { now, object, lock: blocker, kind });
            }
        });
    }
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
    fields: &Fields,
    jni: Jni,
    context: &mut ThreadContext,
    state: &mut LockThread,
    park: LockPark,
) {
    let LockPark { now, object, lock, kind } = park;
    // SAFETY: by the caller's promise; local references, deleted when they are done with.
    unsafe {
        let owner = if kind == BlockerKind::OwnableLock { fields.owner(jni, lock) } else { null_mut() };
        if !owner.is_null() {
            let index = locks.core.jvm.threads.resolve(jni, owner, now);
            let stack = locks.owner_stack(
                jni,
                state,
                now,
                || jni.new_local_ref(owner),
                || {
                    let then = fields.owner(jni, lock);
                    let same = jni.is_same_object(owner, then);
                    jni.delete_local_ref(then);
                    same
                },
            );
            context.push(Event::Owner { thread: index, stack }, now);
            jni.delete_local_ref(owner);
        } else if kind == BlockerKind::OwnableLock {
            // Readers hold it, or it has just been released.
            locks.unknown_owners.fetch_add(1, Ordering::Relaxed);
        }
        let stack = stack(locks.core, jni, state, FramesToSkip::Park);
        context.push(Event::Enter { object, thread: context.current, stack, kind: WaitKind::Park }, now);
    }
}

/// `MartiniParking.end`: the current thread has parked.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn end(jni: *mut JNIEnv, _: jclass, interrupted: jboolean) {
    // SAFETY: the VM passes this thread's environment.
    unsafe {
        callback(jni, |locks: &Locks, _, context, _: &mut LockThread| {
            if locks.note_end(context.current, WaitState::Parked) == Beginning::Shown {
                context.push(Event::Unparked { thread: context.current, interrupted }, Ticks::now());
            }
        });
    }
}
