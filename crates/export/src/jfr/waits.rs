//! What threads wait for, from the element that begins a wait to the one that ends it.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::time::Time;

use super::types::{MONITOR_ENTER, MONITOR_WAIT, THREAD_PARK, THREAD_SLEEP};

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitKind {
    Blocked,
    Waiting,
    Parked,
    Sleeping,
}

impl WaitKind {
    /// The type of its event.
    pub(super) fn event(self) -> u64 {
        match self {
            WaitKind::Blocked => MONITOR_ENTER,
            WaitKind::Waiting => MONITOR_WAIT,
            WaitKind::Parked => THREAD_PARK,
            WaitKind::Sleeping => THREAD_SLEEP,
        }
    }
}

/// A wait that has begun. Numbers are those of constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) kind: WaitKind,
    pub(super) since: Time,
    pub(super) class: u64,
    pub(super) owner: u64,
    pub(super) stack: u64,
}

/// The waits that have not ended.
#[derive(Debug, Default)]
pub(super) struct Waits(FxHashMap<ThreadId, Wait>);

impl Waits {
    pub(super) fn begin(&mut self, thread: ThreadId, wait: Wait) {
        self.0.insert(thread, wait);
    }

    /// Ends the wait of a thread, if it has one.
    pub(super) fn end(&mut self, thread: ThreadId) -> Option<Wait> {
        self.0.remove(&thread)
    }

    /// Those that are left, in an order that does not depend on chance.
    pub(super) fn take(&mut self) -> Vec<(ThreadId, Wait)> {
        let mut left: Vec<(ThreadId, Wait)> = self.0.drain().collect();
        left.sort_unstable_by_key(|(thread, _)| *thread);
        left
    }
}
