//! What a recording keeps to report each allocation, and what each of its threads does.

use std::sync::OnceLock;

use super::unconstructed::Unconstructed;
use agent_base::helpers::HelperClass;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Reporter, Slot, ThreadState};
use agent_core::core::current::Current;
use agent_core::stacks::walker::StackWalker;

/// The feature.
pub(crate) struct HeapEvents {
    pub(super) core: &'static Core,
    /// HeapProxy, if classes are rewritten.
    pub(super) proxy: OnceLock<HelperClass>,
}

static CURRENT: Current<HeapEvents> = Current::none();

impl HeapEvents {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> HeapEvents {
        HeapEvents { core, proxy: OnceLock::new() }
    }

    /// Makes it the one that callbacks find.
    pub(super) fn make_current(&'static self) {
        CURRENT.set(self);
    }
}

impl Reporter for HeapEvents {
    type State = HeapEventsThread;

    fn current() -> Option<&'static HeapEvents> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

/// What it keeps for a thread.
pub(crate) struct HeapEventsThread {
    pub(super) walker: Option<StackWalker>,
    pub(super) unconstructed: Unconstructed,
}

impl ThreadState for HeapEventsThread {}

impl FeatureState for HeapEventsThread {
    const SLOT: Slot = Slot::HeapEvents;

    fn new(core: &'static Core) -> HeapEventsThread {
        let depth = core.options.frames();
        HeapEventsThread {
            walker: (depth > 0).then(|| StackWalker::new(depth)),
            unconstructed: Unconstructed::default(),
        }
    }
}
