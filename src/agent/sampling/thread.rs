//! What the sampler keeps for each thread.

use std::cell::Cell;

use super::DEPTH;
use crate::agent::core::Core;
use crate::agent::core::context::{FeatureState, Slot, ThreadState};
use crate::agent::instrument::allocating_method::AllocatingMethods;
use crate::agent::random::Random;
use crate::agent::stacks::walker::StackWalker;
use crate::agent::vm::environments::DEFAULT_SAMPLING_INTERVAL;

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
    /// With which interval the VM chooses the thread's next sample.
    interval_bytes: u32,
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
    /// The thread starts: its first sample has been chosen with that interval.
    pub(super) fn starts(&mut self, interval_bytes: u32) {
        note_interval(interval_bytes);
        self.interval_bytes = interval_bytes;
    }

    /// The interval with which its sample of now was chosen; the next one is chosen with the given interval.
    pub(super) fn next_interval(&mut self, next_bytes: u32) -> u32 {
        note_interval(next_bytes);
        std::mem::replace(&mut self.interval_bytes, next_bytes)
    }

    pub(super) fn own(&mut self) -> &mut Own {
        self.own.get_or_insert_with(|| {
            let walker = StackWalker::new(DEPTH);
            Box::new(Own { walker, allocating_methods: AllocatingMethods::default(), random: Random::new() })
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
        SamplerThread { interval_bytes: before.or(finest).unwrap_or_default(), own: None }
    }
}
