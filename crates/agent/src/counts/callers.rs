//! On which stacks the current thread counts, while a budget asks for it (`own_thread`).
//!
//! Meanwhile the hooks find no counters for the thread, so each of them calls the agent. What is seen is what is counted: all that is
//! executed, also what the JIT removes.

use rustc_hash::FxHashMap;

use super::current_thread::Here;
use super::ids::CounterIndex;
use super::sums::Totals;
use agent_base::ids::StackIndex;
use agent_core::stacks::walker::{FramesToSkip, StackWalker};

/// Frames of a stack that are kept, the innermost ones: enough to come out of the JDK's own recursion, of a parser or a comparison.
const DEPTH: usize = 256;
/// So many objects are looked at, which takes some tenths of a second. What comes then is counted without its stack.
const MOST_OBJECTS: u32 = 100_000;
/// When the stacks of the JVM take so many bytes, no more are looked up.
const MOST_STACK_BYTES: usize = 32 << 20;

/// What the current thread has counted since it was asked for its stacks.
pub(super) struct Callers {
    /// How many ask, each inside the one before.
    askers: u32,
    walker: StackWalker,
    /// Objects and their bytes, by the first counter of their site; only arrays have bytes here.
    seen: FxHashMap<(CounterIndex, StackIndex), Totals>,
    objects: u32,
}

impl Callers {
    /// What was counted, and on which stack.
    pub(super) fn seen(&self) -> impl Iterator<Item = (CounterIndex, StackIndex, Totals)> {
        self.seen.iter().map(|(&(counter, stack), &totals)| (counter, stack, totals))
    }
}

impl Here<'_> {
    /// From now on the thread counts with stacks, until all who asked have had enough.
    pub(super) fn begin_callers(&mut self) {
        let new = || Callers { askers: 0, walker: StackWalker::new(DEPTH), seen: FxHashMap::default(), objects: 0 };
        self.state.callers.get_or_insert_with(new).askers += 1;
        self.hooks_call(true);
    }

    /// One of those who asked has had enough. A virtual thread may have begun on another carrier.
    pub(super) fn end_callers(&mut self) {
        let Some(callers) = &mut self.state.callers else { return };
        callers.askers -= 1;
        if callers.askers == 0 {
            self.state.callers = None;
            self.hooks_call(false);
        }
    }

    /// An object was counted, or an array of so many bytes.
    pub(super) fn note_caller(&mut self, counter: CounterIndex, bytes: u64) {
        let Some(callers) = &mut self.state.callers else { return };
        let core = self.core;
        if callers.objects >= MOST_OBJECTS || core.jvm.stacks.bytes() >= MOST_STACK_BYTES {
            return self.hooks_call(false);
        }
        callers.objects += 1;
        match callers.walker.walk(FramesToSkip::Method, &core.tables(self.jni)) {
            Ok(stack) => *callers.seen.entry((counter, stack)).or_default() += Totals { instances: 1, bytes },
            Err(error) => core.count_failure("stack of a budget", error),
        }
    }

    fn hooks_call(&mut self, always: bool) {
        let own = self.own().clone();
        self.threads().hooks_call(&own, always);
    }
}
