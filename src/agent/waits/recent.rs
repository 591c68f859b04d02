//! What a thread asked the VM for when it waited last, which it need not ask again.

use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::jni_sys::{jlong, jobject, jweak};
use trace::ids::ObjectId;

use super::super::classes::Parker;
use super::super::threads::ThreadIndex;

/// `Thread.tid`, which no two threads ever have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JavaId(pub(super) jlong);

impl JavaId {
    /// That of a thread that is being made.
    pub(super) const NONE: JavaId = JavaId(0);
}

/// The address of an object's monitor, which tells where to look for the object; not set where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MonitorAddress(pub(super) usize);

/// An object that the thread has met.
#[derive(Clone, Copy)]
struct Met {
    monitor: MonitorAddress,
    id: ObjectId,
    /// Proves that it is the object; null until it is met again.
    weak: jweak,
}

impl Met {
    /// # Safety
    /// The weak reference is not used again.
    unsafe fn forget(self, jni: Jni) {
        if !self.weak.is_null() {
            // SAFETY: by the caller's promise.
            unsafe { jni.delete_weak_global_ref(self.weak) };
        }
    }
}

/// So many objects a thread remembers.
const MOST_MET: usize = 8;

/// Objects on which the thread waited, with their ids: `IsSameObject` takes a fifth of a search among all tags.
pub(crate) struct Objects([Met; MOST_MET]);

impl Default for Objects {
    fn default() -> Objects {
        Objects([Met { monitor: MonitorAddress(0), id: ObjectId(0), weak: null_mut() }; MOST_MET])
    }
}

impl Objects {
    /// Monitors are some hundred bytes apart.
    fn place(monitor: MonitorAddress) -> usize {
        (monitor.0 >> 6 ^ monitor.0 >> 9) % MOST_MET
    }

    /// The id of an object that is remembered.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn find(&self, jni: Jni, monitor: MonitorAddress, object: jobject) -> Option<ObjectId> {
        let met = self.0[Objects::place(monitor)];
        // A monitor can become another object's; the weak reference cannot.
        let maybe = met.monitor == monitor && !met.weak.is_null();
        // SAFETY: by the caller's promise; the weak reference is this thread's own until `forget`.
        (maybe && unsafe { jni.is_same_object(met.weak, object) }).then_some(met.id)
    }

    /// Notes an object that `find` did not know; it will, once the object has been noted twice in a row.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn note(&mut self, jni: Jni, monitor: MonitorAddress, object: jobject, id: ObjectId) {
        let met = &mut self.0[Objects::place(monitor)];
        // SAFETY: by the caller's promise; a weak reference that goes is not used again.
        unsafe {
            let is_again = met.monitor == monitor && met.id == id;
            met.forget(jni);
            let weak = if is_again { jni.new_weak_global_ref(object) } else { Ok(null_mut()) };
            let weak = weak.inspect_err(|_| jni.exception_clear()).unwrap_or(null_mut());
            *met = Met { monitor, id, weak };
        }
    }

    /// Forgets all of them.
    pub(crate) fn forget(&mut self, jni: Jni) {
        for met in std::mem::take(self).0 {
            // SAFETY: nobody has the weak reference any more.
            unsafe { met.forget(jni) };
        }
    }
}

/// What the current thread did last.
#[derive(Default)]
pub(crate) struct Recent {
    /// The thread that it is, or carries.
    pub(super) thread: Option<(JavaId, ThreadIndex)>,
    pub(crate) objects: Objects,
    /// Which thread is blocked here, and on what. A thread that goes on elsewhere takes this away.
    pub(crate) blocked: Option<(ThreadIndex, ObjectId)>,
    /// The object on which it parked, and what parks on such.
    pub(super) parked: Option<(ObjectId, Parker)>,
    /// JVMTI has told that it waits on a monitor, and not yet that this is over.
    pub(super) is_waiting: bool,
}
