//! The owner of a monitor when another thread blocks on it.
//!
//! JVMTI's `GetObjectMonitorUsage` takes milliseconds, and one owner in eight has released the monitor by then. So the owner is
//! read from the monitor itself (`hotspot::monitors`).
//!
//! | the owner word of a monitor | in HotSpot |
//! |---|---|
//! | the address of a `JavaThread` | up to 23 |
//! | an address in the owner's stack, where it keeps the header of an object that it locked without a monitor | up to 23; 24 and later in a field of its own, if asked for `LockingMode=1` |
//! | the number of a `java.lang.Thread` | 24 and later |
//! | 1, "anonymous": the owner has the object on its lock stack, a list in its `JavaThread` | 21 and later, as a rule from 23 on |

use std::sync::Arc;

use jvmti::jni_sys::jobject;

use agent_base::ids::ThreadIndex;
use agent_base::tables::threads::JavaNumber;
use agent_core::core::Core;
use agent_core::core::living::LivingThread;
use hotspot::memory::JavaThread;
use hotspot::monitors::{MonitorLayout, OwnerWord, object_address};

/// The monitor's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The monitor has just been released.
    Free,
    /// This thread.
    Thread(ThreadIndex),
    /// Memory does not show it.
    Unknown,
}

const FREE: usize = 0;
/// Only the owner's own lock stack shows it.
const ANONYMOUS: usize = 1;

/// The owner that the word means, read from the monitor of `object` on which the current thread is about to block.
///
/// # Safety
/// `object` is a local reference of the current thread.
pub(super) unsafe fn owner_of(
    core: &Core,
    layout: &MonitorLayout,
    word: OwnerWord,
    current: JavaThread,
    object: jobject,
) -> Owner {
    let found = match word.0 {
        FREE => return Owner::Free,
        // SAFETY: by the caller's promise.
        ANONYMOUS => unsafe { anonymous(core, layout, current, object) },
        number if layout.owner_is_number() => core.jvm.threads.of_number(JavaNumber(number as i64)),
        address => core.living.hold().of_address(address).map(|thread| thread.running()),
    };
    found.map_or(Owner::Unknown, Owner::Thread)
}

/// # Safety
/// As for `owner_of`.
unsafe fn anonymous(core: &Core, layout: &MonitorLayout, current: JavaThread, object: jobject) -> Option<ThreadIndex> {
    if let Some(address) = layout.pending_stack_locker(current) {
        return core.living.hold().of_address(address).map(|thread| thread.running());
    }
    // SAFETY: by the caller's promise.
    let address = || unsafe { object_address(object) };
    let before = address();
    let living = core.living.hold();
    // SAFETY: the registry is held.
    let has_locked = |thread: &&Arc<LivingThread>| unsafe { layout.has_locked(thread.java, before) };
    let found = living.iter().find(has_locked)?.running();
    drop(living);
    // The object has not moved, nor has the owner released it: only the owner itself replaces the anonymous word.
    (address() == before && layout.pending_owner(current) == Some(OwnerWord(ANONYMOUS))).then_some(found)
}
