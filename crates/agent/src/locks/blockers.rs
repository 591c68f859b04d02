//! What threads park for: which objects are locks, and who owns them.

use std::ptr::null_mut;
use std::sync::OnceLock;

use jvmti::jni_sys::{jclass, jfieldID, jmethodID, jobject};
use jvmti::{Jni, JniError};

use agent_base::ids::ClassIndex;
use agent_base::tables::classes::BlockerKind;
use agent_core::core::Core;

/// What identifies a lock and its owner.
pub(crate) struct Blockers {
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
unsafe impl Send for Blockers {}
// SAFETY: as above.
unsafe impl Sync for Blockers {}

impl Blockers {
    /// What is to be known of the class library, from VMInit on. It is the same in all recordings.
    ///
    /// # Errors
    /// What the VM refuses; an exception is pending then.
    pub(crate) fn of(core: &Core, jni: Jni) -> Result<&'static Blockers, JniError> {
        let known: &'static OnceLock<Blockers> = core.jvm.keep(OnceLock::new);
        match known.get() {
            Some(known) => Ok(known),
            None => {
                let found = Blockers::find(jni)?;
                Ok(known.get_or_init(|| found))
            }
        }
    }

    fn find(jni: Jni) -> Result<Blockers, JniError> {
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
            Ok(Blockers {
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
    pub(super) unsafe fn kind_of(&self, core: &Core, jni: Jni, blocker: jobject) -> BlockerKind {
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
    pub(super) unsafe fn owner(&self, jni: Jni, lock: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni.get_object_field(lock, self.owner) }
    }

    /// The object with which a thread is parked, and the thread that owns it: new local references; the owner may be null.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(crate) unsafe fn parked_on(&self, jni: Jni, thread: jobject) -> Option<(jobject, jobject)> {
        // SAFETY: by the caller's promise.
        unsafe {
            let blocker = jni.get_object_field(thread, self.blocker);
            if blocker.is_null() {
                return None;
            }
            let is_ownable = jni.is_instance_of(blocker, self.ownable);
            let owner = if is_ownable { self.owner(jni, blocker) } else { null_mut() };
            Some((blocker, owner))
        }
    }

    /// The lock for which a thread is parked, as a new local reference, and what it is; `None` for anything else.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(super) unsafe fn lock_of(&self, core: &Core, jni: Jni, thread: jobject) -> Option<(jobject, BlockerKind)> {
        // SAFETY: by the caller's promise; the reference is deleted if it is not returned.
        unsafe {
            let blocker = jni.get_object_field(thread, self.blocker);
            if blocker.is_null() {
                return None;
            }
            let may_be_lock = jni.is_instance_of(blocker, self.ownable) || jni.is_instance_of(blocker, self.stamped);
            let kind = if may_be_lock { self.kind_of(core, jni, blocker) } else { BlockerKind::Other };
            if kind == BlockerKind::Other {
                jni.delete_local_ref(blocker);
                return None;
            }
            Some((blocker, kind))
        }
    }

    /// With what a thread that is about to park, with `given` or null, is parked: a live reference of the caller's or a new local one.
    ///
    /// # Safety
    /// Both are live references, `thread` to the current thread.
    pub(super) unsafe fn of_park(&self, jni: Jni, thread: jobject, given: jobject) -> jobject {
        if !given.is_null() {
            return given;
        }
        // SAFETY: by the caller's promise.
        let noted = unsafe { jni.get_object_field(thread, self.blocker) };
        if noted.is_null() { thread } else { noted }
    }
}
