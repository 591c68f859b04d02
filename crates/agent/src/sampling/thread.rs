//! What the sampler keeps for each thread.

use std::cell::Cell;

use super::DEPTH;
use super::counted_ahead::Earlier;
use agent_base::random::Random;
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, Slot, ThreadState};
use agent_core::instrument::allocating_method::AllocatingMethods;
use agent_core::stacks::walker::StackWalker;
use agent_core::vm::environments::DEFAULT_SAMPLING_INTERVAL;

thread_local! {
    /// With which interval the VM chose the next sample of this thread, whatever recording that was in; 0 if that is not known.
    static CHOSEN: Cell<u32> = const { Cell::new(0) };
}

/// The VM chooses the next sample of the current thread with that interval.
pub(crate) fn note_interval(bytes: u32) {
    CHOSEN.set(bytes);
}

/// What the sampler keeps for a thread.
pub(crate) struct SamplerThread {
    /// Bytes between samples, on average, with which the VM chooses the thread's next one.
    interval: u32,
    /// Where it was at its last sample, if that is known.
    pub(super) earlier: Option<Earlier>,
    /// From its first sample on.
    own: Option<Box<Own>>,
}

/// What a thread that is sampled needs.
pub(super) struct Own {
    pub(super) walker: StackWalker,
    /// Which methods made the VM make objects.
    pub(super) allocating_methods: AllocatingMethods,
    /// Chooses which samples are followed.
    pub(super) random: Random,
}

impl SamplerThread {
    /// The thread starts, there if that is known: its first sample has been chosen with that interval.
    pub(super) fn starts(&mut self, set: u32, earlier: Option<Earlier>) {
        note_interval(set);
        self.interval = set;
        self.earlier = earlier;
    }

    /// The interval with which its sample of now was chosen; the next one is chosen with the given interval.
    pub(super) fn next_interval(&mut self, next: u32) -> u32 {
        note_interval(next);
        std::mem::replace(&mut self.interval, next)
    }

    pub(super) fn own(&mut self) -> &mut Own {
        self.own.get_or_insert_with(|| {
            let walker = StackWalker::new(DEPTH);
            Box::new(Own { walker, allocating_methods: AllocatingMethods::default(), random: Random::anywhere() })
        })
    }
}

impl ThreadState for SamplerThread {}

impl FeatureState for SamplerThread {
    const SLOT: Slot = Slot::Sampling;

    fn new(core: &'static Core) -> SamplerThread {
        // A thread that starts says so. Others are older than the recording, and have chosen with the interval of its beginning.
        let asked = [core.options.callers_bytes, core.options.sampled_bytes];
        let finest = asked.into_iter().flatten().min();
        // If the recording is younger than the VM they chose before it. The bytes from there to the sample have the same distribution.
        let before = core.is_late.then(|| match CHOSEN.get() {
            0 => DEFAULT_SAMPLING_INTERVAL,
            chosen => chosen,
        });
        let interval = before.or(finest).unwrap_or_default();
        SamplerThread { interval, earlier: None, own: None }
    }
}
