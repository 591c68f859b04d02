//! Which collector the VM has, as far as that matters to the end of the VM.

use crate::{Jni, is_flag_on};

/// What the collector does when it is asked for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// It collects at any time.
    Stopping,
    /// It collects on threads of its own, which the VM has stopped before VMDeath: who asks for a collection then waits for
    /// ever (ZGC, Shenandoah).
    Concurrent,
    /// It never collects (Epsilon).
    Never,
}

impl Collector {
    /// The VM's collector.
    pub fn of(jni: Jni) -> Self {
        let is_on = |flag| is_flag_on(jni, flag).unwrap_or(false);
        if is_on(c"UseEpsilonGC") {
            Self::Never
        } else if is_on(c"UseZGC") || is_on(c"UseShenandoahGC") {
            Self::Concurrent
        } else {
            Self::Stopping
        }
    }
}
