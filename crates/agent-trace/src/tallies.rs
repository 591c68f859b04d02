//! What the writer has reported of each platform thread, and what the JVM accounts to it: the element `threadCount`, and the
//! sums over all threads at the end of the trace.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::ThreadCount;
use trace::time::Time;

use agent_base::ids::ThreadIndex;

/// The share that is missing is not judged for threads that allocated less: one object that is missing may be a large part.
const LARGE_THREAD_BYTES: u64 = 10_000_000;

/// Objects and bytes reported of one platform thread and of the virtual threads that it carried.
#[derive(Clone, Copy, Debug)]
struct Tally {
    thread: ThreadIndex,
    instances: u64,
    bytes: u64,
    /// What was written last: bytes reported, and bytes that the JVM accounted.
    written: Option<(u64, Option<u64>)>,
    /// The thread has ended, so nothing more may be written of it.
    has_ended: bool,
}

/// Where a thread's tally is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct TallyIndex(u32);

/// The tallies of all threads.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    tallies: Vec<Tally>,
    index: FxHashMap<u32, TallyIndex>,
}

/// The accounts of all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Bytes reported of threads that the JVM accounts.
    pub(super) reported: u64,
    /// Bytes that the JVM accounts to them.
    pub(super) accounted: u64,
    /// What is missing in the trace, thread by thread.
    pub(super) missing: u64,
    /// What the trace has beyond the JVM's account, thread by thread.
    pub(super) excess: u64,
    /// Threads that allocated and for which the JVM did not say.
    pub(super) unknown: u64,
    /// Bytes reported of them.
    pub(super) unknown_bytes: u64,
    /// The large thread of which the largest part is missing, and how much of it is there, in millionths.
    pub(super) worst: Option<(u64, ThreadIndex)>,
}

impl Tallies {
    /// The tally of a thread.
    pub(super) fn of(&mut self, thread: ThreadIndex) -> TallyIndex {
        *self.index.entry(thread.0).or_insert_with(|| {
            self.tallies.push(Tally { thread, instances: 0, bytes: 0, written: None, has_ended: false });
            TallyIndex(self.tallies.len() as u32 - 1)
        })
    }

    fn get(&mut self, thread: ThreadIndex) -> &mut Tally {
        let index = self.of(thread);
        &mut self.tallies[index.0 as usize]
    }

    /// An object was reported.
    #[inline]
    pub(super) fn add(&mut self, index: TallyIndex, bytes: u64) {
        let tally = &mut self.tallies[index.0 as usize];
        tally.instances += 1;
        tally.bytes += bytes;
    }

    /// Sets the sums of a thread since reporting began, from a source that reports sums instead of objects. A sum that was
    /// written stays, even if a part of it proves not to have happened.
    pub(super) fn set(&mut self, carrier: ThreadIndex, instances: u64, bytes: u64) {
        let tally = self.get(carrier);
        (tally.instances, tally.bytes) = (tally.instances.max(instances), tally.bytes.max(bytes));
    }

    /// The thread has ended.
    pub(super) fn end(&mut self, thread: ThreadIndex) {
        if let Some(index) = self.index.get(&thread.0) {
            self.tallies[index.0 as usize].has_ended = true;
        }
    }

    /// The account of a living thread that allocated anything, unless it is as it was written last.
    pub(super) fn account(
        &mut self,
        thread: ThreadIndex,
        id: ThreadId,
        vm_bytes: Option<u64>,
        time: Time,
    ) -> Option<ThreadCount> {
        let tally = self.get(thread);
        if tally.has_ended || tally.instances == 0 && vm_bytes.is_none_or(|bytes| bytes == 0) {
            return None;
        }
        // The JVM's account of a running thread may be larger than the one that is read next; what is written never shrinks.
        let before = tally.written.and_then(|(_, vm_bytes)| vm_bytes);
        let vm_bytes = vm_bytes.map(|bytes| bytes.max(before.unwrap_or(0)));
        let now = Some((tally.bytes, vm_bytes));
        let is_new = std::mem::replace(&mut tally.written, now) != now;
        is_new.then_some(ThreadCount { thread: id, instances: tally.instances, bytes: tally.bytes, vm_bytes, time })
    }

    /// The living threads that allocated something of which no account was written.
    pub(super) fn unreported(&self) -> Vec<ThreadIndex> {
        let unreported = |tally: &&Tally| tally.instances > 0 && tally.written.is_none() && !tally.has_ended;
        self.tallies.iter().filter(unreported).map(|tally| tally.thread).collect()
    }

    /// What was written of all threads.
    pub(super) fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for tally in &self.tallies {
            match tally.written {
                None => {}
                Some((reported, None)) => {
                    sums.unknown += 1;
                    sums.unknown_bytes += reported;
                }
                Some((reported, Some(accounted))) => {
                    let missing = accounted.saturating_sub(reported);
                    sums.reported += reported;
                    sums.accounted += accounted;
                    sums.missing += missing;
                    sums.excess += reported.saturating_sub(accounted);
                    if accounted >= LARGE_THREAD_BYTES {
                        let millionths = (u128::from(accounted - missing) * 1_000_000 / u128::from(accounted)) as u64;
                        let is_worse = sums.worst.is_none_or(|(worst, _)| millionths < worst);
                        sums.worst = if is_worse { Some((millionths, tally.thread)) } else { sums.worst };
                    }
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: ThreadIndex = ThreadIndex(3);

    fn count(instances: u64, bytes: u64, vm_bytes: Option<u64>) -> Option<ThreadCount> {
        Some(ThreadCount { thread: ThreadId(9), instances, bytes, vm_bytes, time: Time(1) })
    }

    #[test]
    fn accounts_are_cumulative_and_end_with_the_thread() {
        let mut tallies = Tallies::default();
        let main = tallies.of(MAIN);
        let account = |tallies: &mut Tallies, vm_bytes| tallies.account(MAIN, ThreadId(9), vm_bytes, Time(1));
        assert_eq!(account(&mut tallies, Some(0)), None);
        assert_eq!(account(&mut tallies, None), None);
        tallies.add(main, 16);
        tallies.add(main, 24);
        assert_eq!(tallies.unreported(), [MAIN]);
        assert_eq!(account(&mut tallies, None), count(2, 40, None));
        assert_eq!(tallies.sums(), Sums { unknown: 1, unknown_bytes: 40, ..Sums::default() });
        assert_eq!(account(&mut tallies, Some(48)), count(2, 40, Some(48)));
        // Nothing new, as in a snapshot while the thread sleeps.
        assert_eq!(account(&mut tallies, Some(48)), None);
        assert!(tallies.unreported().is_empty());
        tallies.end(MAIN);
        assert_eq!(account(&mut tallies, Some(56)), None);
        assert_eq!(tallies.sums(), Sums { reported: 40, accounted: 48, missing: 8, ..Sums::default() });
    }

    #[test]
    fn what_only_the_vm_saw_is_written_too() {
        let mut tallies = Tallies::default();
        assert_eq!(tallies.account(MAIN, ThreadId(9), Some(8), Time(1)), count(0, 0, Some(8)));
        tallies.set(MAIN, 5, 80);
        assert_eq!(tallies.account(MAIN, ThreadId(9), Some(8), Time(1)), count(5, 80, Some(8)));
    }

    #[test]
    fn one_threads_excess_does_not_hide_what_is_missing_of_another() {
        let mut tallies = Tallies::default();
        for (thread, reported, accounted) in [(1, 30_000_000, 20_000_000), (2, 9_000_000, 10_000_000), (3, 0, 5)] {
            tallies.set(ThreadIndex(thread), 1, reported);
            tallies.account(ThreadIndex(thread), ThreadId(9), Some(accounted), Time(1));
        }
        let sums = Sums {
            reported: 39_000_000,
            accounted: 30_000_005,
            missing: 1_000_005,
            excess: 10_000_000,
            unknown: 0,
            unknown_bytes: 0,
            worst: Some((900_000, ThreadIndex(2))),
        };
        assert_eq!(tallies.sums(), sums);
    }
}
