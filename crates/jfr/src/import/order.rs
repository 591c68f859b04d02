//! From records to what is written, in the order of time.

use rustc_hash::FxHashMap;
use trace::time::Time;

use super::events::{Allocated, Gathered, Pause, Sample, Wait};
use super::pools::ThreadAt;

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    ThreadStart(ThreadAt),
    ThreadEnd(ThreadAt),
    Allocated(Allocated),
    Cpu(Sample),
    Wall(Sample),
    WaitBegin(u32),
    WaitEnd(u32),
    PauseBegin,
    PauseEnd(i64),
}

/// All of it, and what had no place.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    pub(super) all: Vec<(Time, What)>,
    pub(super) waits: Vec<Wait>,
    /// Waits or pauses of which a part was cut off or that were left out, since another one of the same thread lasted then.
    pub(super) overlapping: u64,
    /// Events of a kind that another kind says more exactly, by the name of theirs.
    pub(super) twice: Vec<(&'static str, u64)>,
}

impl Ordered {
    /// Takes what was gathered, and leaves there what all belongs to.
    pub(super) fn new(gathered: &mut Gathered) -> Ordered {
        let mut ordered = Ordered::default();
        let starts = std::mem::take(&mut gathered.starts);
        ordered.all.extend(starts.into_iter().map(|(thread, time)| (time, What::ThreadStart(thread))));
        let sampled = std::mem::take(&mut gathered.sampled);
        let allocated = ordered.exacter(std::mem::take(&mut gathered.buffers), sampled, "jdk.ObjectAllocationSample");
        ordered.all.extend(allocated.into_iter().map(|one| (one.time, What::Allocated(one))));
        let execution = std::mem::take(&mut gathered.execution);
        let cpu = ordered.exacter(std::mem::take(&mut gathered.cpu_time), execution, "jdk.ExecutionSample");
        ordered.all.extend(cpu.into_iter().map(|one| (one.time, What::Cpu(one))));
        ordered.all.extend(std::mem::take(&mut gathered.wall).into_iter().map(|one| (one.time, What::Wall(one))));
        ordered.waits(std::mem::take(&mut gathered.waits));
        let collections = std::mem::take(&mut gathered.collections);
        let pauses = std::mem::take(&mut gathered.pauses);
        ordered.pauses(if pauses.is_empty() { collections } else { pauses });
        let ends = std::mem::take(&mut gathered.ends);
        ordered.all.extend(ends.into_iter().map(|(thread, time)| (time, What::ThreadEnd(thread))));
        // What was before at the same time stays before.
        ordered.all.sort_by_key(|(time, _)| *time);
        ordered.keep_last_ends();
        ordered
    }

    fn exacter<T>(&mut self, exact: Vec<T>, other: Vec<T>, name: &'static str) -> Vec<T> {
        if exact.is_empty() {
            return other;
        }
        if !other.is_empty() {
            self.twice.push((name, other.len() as u64));
        }
        exact
    }

    /// A thread waits for one thing at a time.
    fn waits(&mut self, mut waits: Vec<Wait>) {
        waits.sort_by_key(|wait| (wait.since, wait.until));
        let mut last: FxHashMap<ThreadAt, Time> = FxHashMap::default();
        for mut wait in waits {
            if let Some(&free) = last.get(&wait.thread)
                && wait.since < free
            {
                self.overlapping += 1;
                if wait.until <= free {
                    continue;
                }
                wait.since = free;
            }
            last.insert(wait.thread, wait.until);
            let at = self.waits.len() as u32;
            self.all.push((wait.since, What::WaitBegin(at)));
            self.all.push((wait.until, What::WaitEnd(at)));
            self.waits.push(wait);
        }
    }

    fn pauses(&mut self, mut pauses: Vec<Pause>) {
        pauses.sort_by_key(|pause| (pause.since, pause.until));
        let mut free = Time(0);
        for pause in pauses {
            if pause.since < free {
                self.overlapping += 1;
                if pause.until <= free {
                    continue;
                }
            }
            self.all.push((pause.since.max(free), What::PauseBegin));
            self.all.push((pause.until, What::PauseEnd(pause.collection)));
            free = pause.until;
        }
    }

    /// Of a thread's ends the one counts behind which there is nothing of it.
    fn keep_last_ends(&mut self) {
        let mut later: Vec<(Time, What)> = Vec::with_capacity(self.all.len());
        let mut seen: FxHashMap<ThreadAt, ()> = FxHashMap::default();
        for &(time, what) in self.all.iter().rev() {
            let (one, other) = self.threads(what);
            let is_late_end = matches!(what, What::ThreadEnd(thread) if seen.contains_key(&thread));
            seen.extend(one.into_iter().chain(other).map(|thread| (thread, ())));
            if !is_late_end {
                later.push((time, what));
            }
        }
        later.reverse();
        self.all = later;
    }

    /// Which threads a record names.
    pub(super) fn threads(&self, what: What) -> (Option<ThreadAt>, Option<ThreadAt>) {
        match what {
            What::ThreadStart(thread) | What::ThreadEnd(thread) => (Some(thread), None),
            What::Allocated(one) => (one.thread, None),
            What::Cpu(sample) | What::Wall(sample) => (Some(sample.thread), None),
            What::WaitBegin(at) => (Some(self.waits[at as usize].thread), self.waits[at as usize].owner),
            What::WaitEnd(at) => (Some(self.waits[at as usize].thread), None),
            What::PauseBegin | What::PauseEnd(_) => (None, None),
        }
    }
}
