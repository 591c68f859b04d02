//! What a thread asked the VM for when it waited last, which it need not ask again.

use jvmti::jni_sys::jlong;
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

/// What the current thread did last.
#[derive(Default)]
pub(crate) struct Recent {
    /// The thread that it is, or carries.
    pub(super) thread: Option<(JavaId, ThreadIndex)>,
    /// Which thread is blocked here, and on what. A thread that goes on elsewhere takes this away.
    pub(crate) blocked: Option<(ThreadIndex, ObjectId)>,
    /// The object on which it parked, and what parks on such.
    pub(super) parked: Option<(ObjectId, Parker)>,
    /// JVMTI has told that it waits on a monitor, and not yet that this is over.
    pub(super) is_waiting: bool,
}
