//! JVMTI's events of collections. They come inside the pause, so they are only queued.

use jvmti::guard;
use jvmti::sys::jvmtiEnv;

use crate::core::Core;
use agent_base::clock::Ticks;

/// JVMTI `GarbageCollectionStart`.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn gc_start(_: *mut jvmtiEnv) {
    guard(|| {
        if let Some(core) = Core::open() {
            core.collections.start(Ticks::now());
        }
    });
}

/// JVMTI `GarbageCollectionFinish`.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn gc_finish(_: *mut jvmtiEnv) {
    guard(|| {
        if let Some(core) = Core::open() {
            core.collections.finish(Ticks::now(), core.jvm.ids.peek());
        }
    });
}
