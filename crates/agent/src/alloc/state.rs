//! What a recording keeps to report each allocation, and what each of its threads does.

use std::sync::OnceLock;

use super::unconstructed::Unconstructed;
use agent_base::helpers::HelperClass;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Reporter, Slot, ThreadState};
use agent_core::core::current::Current;
use agent_core::stacks::walker::StackWalker;

/// The feature.
pub(crate) struct Alloc {
    pub(super) core: &'static Core,
    /// HeapProxy, if classes are rewritten.
    pub(super) proxy: OnceLock<HelperClass>,
}

static CURRENT: Current<Alloc> = Current::none();

impl Alloc {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> Alloc {
        Alloc { core, proxy: OnceLock::new() }
    }

    /// Makes it the one that callbacks find.
    pub(super) fn make_current(&'static self) {
        CURRENT.set(self);
    }
}

impl Reporter for Alloc {
    type State = AllocThread;

    fn current() -> Option<&'static Alloc> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

/// What it keeps for a thread.
pub(crate) struct AllocThread {
    pub(super) walker: Option<StackWalker>,
    pub(super) unconstructed: Unconstructed,
}

impl ThreadState for AllocThread {}

impl FeatureState for AllocThread {
    const SLOT: Slot = Slot::Alloc;

    fn new(core: &'static Core) -> AllocThread {
        let depth = core.options.frames();
        AllocThread { walker: (depth > 0).then(|| StackWalker::new(depth)), unconstructed: Unconstructed::default() }
    }
}
