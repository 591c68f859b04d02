//! The current thread, as it counts.

use std::sync::Arc;

use jvmti::Jni;

use super::callers::Callers;
use super::sums::Totals;
use super::threads::{ThreadCounts, Threads};
use agent_base::clock::Ticks;
use agent_base::ids::{AllocationSite, ClassIndex, CodeLocation, ThreadIndex};
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Slot, ThreadContext, enter};
use agent_core::instrument::allocating_method::AllocatingMethods;
use agent_core::stacks::cache::StackCache;

/// What the feature keeps for a thread.
pub(crate) struct CountsThread {
    /// From its first allocation on.
    pub(super) own: Option<Arc<ThreadCounts>>,
    /// Which methods made the VM make objects.
    pub(super) allocating_methods: AllocatingMethods,
    /// Which native methods are counted where they are called.
    pub(super) natives: StackCache<bool>,
    /// Bytes that the JVM accounted to the thread before it called a method that makes objects which Java code cannot see.
    pub(super) account: Option<u64>,
    /// While a budget asks for the stacks on which it counts.
    pub(super) callers: Option<Callers>,
}

impl FeatureState for CountsThread {
    const SLOT: Slot = Slot::Counts;

    fn new(_: &'static Core) -> CountsThread {
        CountsThread {
            own: None,
            allocating_methods: AllocatingMethods::default(),
            natives: StackCache::default(),
            account: None,
            callers: None,
        }
    }
}

/// The current thread, inside the agent.
pub(super) struct Here<'t> {
    pub(super) core: &'static Core,
    pub(super) jni: Jni,
    pub(super) carrier: ThreadIndex,
    pub(super) state: &'t mut CountsThread,
    threads: &'t Threads,
}

impl<'t> Here<'t> {
    /// Of a thread that has entered the agent.
    pub(super) fn new(threads: &'t Threads, jni: Jni, thread: &ThreadContext, state: &'t mut CountsThread) -> Here<'t> {
        Here { core: thread.core, jni, carrier: thread.carrier, state, threads }
    }

    /// Enters the agent, unless the thread is inside already.
    pub(super) fn enter(threads: &Threads, jni: Jni, body: impl FnOnce(&mut Here<'_>)) {
        enter(threads.core(), jni, Ticks::now, |local| {
            let (thread, state) = local.with();
            body(&mut Here::new(threads, jni, thread, state));
        });
    }

    /// All that count.
    pub(super) fn threads(&self) -> &'t Threads {
        self.threads
    }

    /// Its counters.
    pub(super) fn own(&mut self) -> &Arc<ThreadCounts> {
        self.threads.own(self.carrier, &mut self.state.own)
    }

    /// Counts an object that the VM made on it.
    pub(super) fn count_vm_object(&mut self, class: ClassIndex, location: Option<CodeLocation>, bytes: u64) {
        let Some(counter) = self.threads.counters().of_vm_objects(AllocationSite { class, location }) else { return };
        let own = self.threads.own(self.carrier, &mut self.state.own);
        self.threads.add(own, counter, bytes, || Totals { instances: 1, bytes });
        self.note_caller(counter, bytes);
    }
}
