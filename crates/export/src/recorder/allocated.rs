//! How many bytes were allocated until when.

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{AgentCreate, AllocCount, AllocSample, ArrayCode, CountSource, ObjAlloc};
use trace::time::Time;

use super::Recorder;

type Site = (ArrayCode, ClassId, Option<MethodId>, Option<i64>);

/// Sums of numbers of which the last of each key counts.
#[derive(Debug)]
struct Latest<K> {
    of: FxHashMap<K, u64>,
    sum: u64,
}

impl<K> Default for Latest<K> {
    fn default() -> Self {
        Latest { of: FxHashMap::default(), sum: 0 }
    }
}

impl<K: std::hash::Hash + Eq> Latest<K> {
    fn set(&mut self, key: K, bytes: u64) {
        let before = self.of.insert(key, bytes).unwrap_or(0);
        self.sum = self.sum.saturating_sub(before).saturating_add(bytes);
    }
}

/// What a trace says of it.
#[derive(Debug, Default)]
pub(super) struct Allocated {
    /// Of documents that are over.
    ended: u64,
    objects: u64,
    /// Objects are counted where they are allocated; samples say only by whom.
    is_counting: bool,
    counted: Latest<(Site, Option<CountSource>)>,
    sampled: Latest<(Site, Option<StackId>, Option<ThreadId>)>,
}

impl Allocated {
    pub(super) fn agent(&mut self, agent: &AgentCreate<'_>) {
        self.is_counting = agent.agent_parameters.split(',').any(|option| option == "heap=counts");
    }

    pub(super) fn object(&mut self, object: &ObjAlloc) {
        self.objects = self.objects.saturating_add(object.size);
    }

    pub(super) fn count(&mut self, e: &AllocCount) {
        self.counted.set(((e.is_array, e.class, e.method, e.line), e.source), e.bytes);
    }

    pub(super) fn sample(&mut self, e: &AllocSample) {
        self.sampled.set(((e.is_array, e.class, e.method, e.line), e.stack, e.thread), e.bytes);
    }

    pub(super) fn end_document(&mut self) {
        *self = Allocated { ended: self.total(), ..Allocated::default() };
    }

    fn total(&self) -> u64 {
        let is_counted = self.is_counting || !self.counted.of.is_empty();
        let counted = if is_counted { self.counted.sum } else { self.sampled.sum };
        self.ended.saturating_add(self.objects).saturating_add(counted)
    }
}

/// So often at most there is a number.
const STEP: u64 = 1_000_000;

impl Recorder {
    pub(super) fn allocated_until(&mut self, time: Time) {
        self.reach(time);
        let (until, total) = (&mut self.recording.allocated, self.allocated.total());
        match until.last_mut() {
            Some(last) if last.0.0 / STEP >= time.0 / STEP => *last = (last.0.max(time), total),
            _ => until.push((time, total)),
        }
    }

    /// Takes back an object that was announced like an allocation, without a thread, because one waits for it.
    pub(super) fn monitor(&mut self, object: ObjectId) {
        let Some((time, size)) = self.objects.get_mut(&object).and_then(|object| object.announced.take()) else {
            return;
        };
        self.allocated.objects = self.allocated.objects.saturating_sub(size);
        for (_, total) in self.recording.allocated.iter_mut().rev().take_while(|(until, _)| *until >= time) {
            *total = total.saturating_sub(size);
        }
    }

    /// Makes the last number of a sampled trace what all stacks have: that is scaled to what the JVM accounted to the threads.
    pub(super) fn scale_allocated(&mut self) {
        let of_stacks = self.recording.allocations.iter().fold(0, |sum: u64, one| sum.saturating_add(one.bytes));
        let Some(last) = self.recording.allocated.last().map(|last| last.1).filter(|&last| last > 0) else { return };
        for (_, total) in &mut self.recording.allocated {
            let scaled = u128::from(*total) * u128::from(of_stacks) / u128::from(last);
            *total = u64::try_from(scaled).unwrap_or(u64::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use trace::model::{Element, MonWait};

    use super::*;

    #[test]
    fn there_is_a_number_for_each_millisecond_and_none_has_locks_that_are_announced() {
        let mut recorder = Recorder::new();
        for (id, time, thread) in [(1, 100, Some(ThreadId(1))), (2, 200, None), (3, STEP + 5, Some(ThreadId(1)))] {
            let (is_array, method, line, stack) = Default::default();
            let (obj_id, class, time) = (ObjectId(id), ClassId(1), Time(time));
            let alloc = ObjAlloc { thread, is_array, size: 16, obj_id, class, method, line, stack, time };
            recorder.element(&Element::ObjAlloc(alloc));
        }
        assert_eq!(recorder.recording.allocated, [(Time(200), 32), (Time(STEP + 5), 48)]);
        let (stack, parked) = Default::default();
        let (thread, time, object) = (ThreadId(1), Time(STEP + 6), ObjectId(2));
        let wait = MonWait { thread, time, object, timeout_millis: 0, stack, parked };
        (0..2).for_each(|_| recorder.element(&Element::MonWait(wait.clone())));
        assert_eq!(recorder.recording.allocated, [(Time(200), 16), (Time(STEP + 5), 32)]);
    }
}
