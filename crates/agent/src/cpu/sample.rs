//! What the signal handler notes of a thread.

use super::signal::Purpose;
use super::who::Who;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use hotspot::walk::{RawStack, WalkError};

/// What the VM says that a thread does, as it keeps it in `OSThread::_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VmState(pub(crate) u32);

/// One look at a thread.
pub(crate) struct Sample {
    pub(crate) purpose: Purpose,
    pub(crate) who: Who,
    /// The virtual thread that it carried.
    pub(crate) mounted: Option<ThreadIndex>,
    pub(crate) time: Ticks,
    /// Of CPU time the intervals, else the nanoseconds, for which the sample stands.
    pub(crate) amount: u64,
    pub(crate) pc: usize,
    /// It was in the kernel.
    pub(crate) in_kernel: bool,
    pub(crate) state: Option<VmState>,
    /// Whether `stack` holds the Java frames; `Ok` also for a thread that has none.
    pub(crate) walked: Result<(), WalkError>,
    pub(crate) stack: RawStack,
}

/// A sample of nothing.
pub(super) static EMPTY: Sample = Sample {
    purpose: Purpose::Cpu,
    who: Who::Agent,
    mounted: None,
    time: Ticks(0),
    amount: 0,
    pc: 0,
    in_kernel: false,
    state: None,
    walked: Ok(()),
    stack: RawStack::empty(),
};
