//! The collection before the histogram at the end of the VM.
//!
//! VMDeath is too late for a concurrent collector ([`Collector::Concurrent`]), so the last hook of the VM's shutdown asks for it. A
//! program that halts runs no hooks. The walk of the heap that follows shows no garbage even then, since such a collector walks
//! from the roots, but it shows objects that only weak references reach.

use std::sync::atomic::{AtomicBool, Ordering};

use jvmti::{Collector, Jni};

use agent_core::core::{Core, Jvm};
use agent_core::vm::shutdown::register_hook;

/// When it takes place.
pub(super) struct LastCollection {
    collector: Collector,
    /// It has.
    is_done: AtomicBool,
}

impl LastCollection {
    /// Registers the hook, if the collector needs it.
    pub(super) fn prepare(jvm: &Jvm, jni: Jni) -> LastCollection {
        let collector = jvm.collector(jni);
        if collector == Collector::Concurrent {
            // Without the hook the end is like that of a program that halts, which is counted.
            register_hook(&jvm.helpers, jni);
        }
        LastCollection { collector, is_done: AtomicBool::new(false) }
    }

    /// The hooks of the program have run.
    pub(super) fn collect(&self, core: &Core) {
        if self.collector == Collector::Concurrent && core.collect().is_ok() {
            self.is_done.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is still to be done at VMDeath. If it can be done neither then nor before, that is counted.
    pub(super) fn collects_at_vm_death(&self, core: &Core) -> bool {
        if self.collector != Collector::Stopping && !self.is_done.load(Ordering::Relaxed) {
            core.count_lost("collection before the histogram", 1);
        }
        self.collector == Collector::Stopping
    }
}
