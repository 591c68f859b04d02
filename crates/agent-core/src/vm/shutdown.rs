//! The last hook of the VM's shutdown, for what VMDeath is too late for: by then the VM has stopped the threads of a concurrent collector.

use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::Jni;

use agent_base::helpers::{Helpers, SHUTDOWN};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Has MartiniShutdown call when all hooks of the program have run. A program that halts runs none, which is what it looks like too if
/// the VM refuses it.
pub fn register_hook(helpers: &Helpers, jni: Jni) {
    if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
        let defined = helpers.define(jni, &SHUTDOWN);
        let _ = defined.and_then(|helper| helper.call(jni, c"register"));
    }
}
