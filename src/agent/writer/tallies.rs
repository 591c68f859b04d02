//! What the writer has reported of each platform thread, and when it says so: the element `threadCount`.

use trace::ids::ThreadId;
use trace::model::ThreadCount;
use trace::time::Time;

use super::super::threads::ThreadIndex;

/// Objects and bytes reported of one platform thread and of the virtual threads that it carried.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    instances: u64,
    bytes: u64,
    /// An account has been written.
    is_told: bool,
    /// The thread has ended, so nothing more may be written of it.
    has_ended: bool,
}

/// The tallies of all threads.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Vec<Tally>);

impl Tallies {
    #[inline]
    fn of(&mut self, thread: ThreadIndex) -> &mut Tally {
        let index = thread.0 as usize;
        if index >= self.0.len() {
            self.0.resize((index + 1).next_power_of_two(), Tally::default());
        }
        &mut self.0[index]
    }

    /// An object was reported.
    #[inline]
    pub(crate) fn add(&mut self, carrier: ThreadIndex, bytes: u64) {
        let tally = self.of(carrier);
        tally.instances += 1;
        tally.bytes += bytes;
    }

    /// An engine that reports sums instead of objects gives those of a thread, from the beginning of reporting.
    pub(crate) fn set(&mut self, carrier: ThreadIndex, instances: u64, bytes: u64) {
        let tally = self.of(carrier);
        (tally.instances, tally.bytes) = (instances, bytes);
    }

    /// The thread has ended.
    pub(crate) fn end(&mut self, thread: ThreadIndex) {
        self.of(thread).has_ended = true;
    }

    /// The account of a living thread that allocated anything.
    pub(crate) fn account(
        &mut self,
        thread: ThreadIndex,
        id: ThreadId,
        vm_bytes: Option<u64>,
        time: Time,
    ) -> Option<ThreadCount> {
        let tally = self.of(thread);
        if tally.has_ended || tally.instances == 0 && vm_bytes.is_none_or(|bytes| bytes == 0) {
            return None;
        }
        tally.is_told = true;
        Some(ThreadCount { thread: id, instances: tally.instances, bytes: tally.bytes, vm_bytes, time })
    }

    /// The living threads that allocated something of which no account was written.
    pub(crate) fn untold(&self) -> Vec<ThreadIndex> {
        let untold =
            self.0.iter().enumerate().filter(|(_, tally)| tally.instances > 0 && !tally.is_told && !tally.has_ended);
        untold.map(|(index, _)| ThreadIndex(index as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: ThreadIndex = ThreadIndex(3);

    #[test]
    fn accounts_are_cumulative_and_end_with_the_thread() {
        let mut tallies = Tallies::default();
        let id = ThreadId(9);
        assert_eq!(tallies.account(MAIN, id, Some(0), Time(1)), None);
        assert_eq!(tallies.account(MAIN, id, None, Time(1)), None);
        tallies.add(MAIN, 16);
        tallies.add(MAIN, 24);
        assert_eq!(tallies.untold(), [MAIN]);
        let count = |vm_bytes, time| Some(ThreadCount { thread: id, instances: 2, bytes: 40, vm_bytes, time });
        assert_eq!(tallies.account(MAIN, id, None, Time(2)), count(None, Time(2)));
        assert_eq!(tallies.account(MAIN, id, Some(48), Time(3)), count(Some(48), Time(3)));
        assert_eq!(tallies.untold(), []);
        tallies.end(MAIN);
        assert_eq!(tallies.account(MAIN, id, Some(56), Time(4)), None);
    }

    #[test]
    fn what_only_the_vm_saw_is_told_too() {
        let mut tallies = Tallies::default();
        let count = ThreadCount { thread: ThreadId(1), instances: 0, bytes: 0, vm_bytes: Some(8), time: Time(1) };
        assert_eq!(tallies.account(MAIN, ThreadId(1), Some(8), Time(1)), Some(count));
        tallies.set(MAIN, 5, 80);
        let count = ThreadCount { thread: ThreadId(1), instances: 5, bytes: 80, vm_bytes: Some(8), time: Time(1) };
        assert_eq!(tallies.account(MAIN, ThreadId(1), Some(8), Time(1)), Some(count));
    }
}
