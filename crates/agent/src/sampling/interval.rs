//! The owner of the VM's sampling interval, which is one for the whole JVM: whoever wants samples asks here, and the finest
//! interval that is asked for is set, or a longer one while samples cost too much.

use std::time::Instant;

use crate::pace::{NANOS_PER_SECOND, Pace};
use agent_base::mutex::Mutex;

/// The longest interval that the VM takes.
const MOST_BYTES: u32 = i32::MAX as u32;

/// Who asks for samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// `callers`: the stacks of what counters count.
    Callers,
    /// `sampled`: objects, and how long they live.
    Sampled,
}

/// The interval, and who asked for which.
#[derive(Debug)]
pub(crate) struct SamplingInterval {
    asked: Mutex<[Option<u32>; 2]>,
    /// The interval of the sampler, once somebody asked.
    pub(super) pace: Pace,
}

impl SamplingInterval {
    /// Nobody has asked yet.
    pub(crate) fn new() -> SamplingInterval {
        SamplingInterval { asked: Mutex::default(), pace: Pace::new(Instant::now(), NANOS_PER_SECOND, MOST_BYTES) }
    }

    /// From now on somebody wants a sample every so many bytes, or none any more; `set` gets the interval if it changes. Allowed at
    /// any time: each sample has the weight of the interval with which the VM chose it.
    pub(crate) fn ask(&self, asker: Asker, bytes: Option<u32>, set: impl FnOnce(u32)) {
        let mut asked = self.asked.lock();
        asked[asker as usize] = bytes;
        // If nobody wants any, the interval stays: the event is not enabled, or is about to be disabled.
        if let Some(finest) = asked.iter().flatten().copied().min() {
            self.pace.want(finest, Instant::now(), set);
        }
    }

    /// Bytes between two samples on average that are asked for; `None` if nobody asks.
    pub(crate) fn finest(&self) -> Option<u32> {
        self.asked.lock().iter().flatten().copied().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finest_is_set() {
        let interval = SamplingInterval::new();
        let ask = |asker, bytes| {
            let mut changed = None;
            interval.ask(asker, bytes, |bytes| changed = Some(bytes));
            changed
        };
        assert_eq!((interval.finest(), ask(Asker::Callers, None)), (None, None));
        assert_eq!(ask(Asker::Sampled, Some(1 << 19)), Some(1 << 19));
        assert_eq!(ask(Asker::Callers, Some(1 << 14)), Some(1 << 14));
        assert_eq!(ask(Asker::Sampled, Some(1 << 20)), None);
        assert_eq!(ask(Asker::Callers, None), Some(1 << 20));
        assert_eq!((interval.finest(), interval.pace.interval()), (Some(1 << 20), 1 << 20));
        // The longest that weighted a sample.
        assert_eq!(interval.pace.longest(), 1 << 20);
    }
}
