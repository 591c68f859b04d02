//! How many bytes were allocated until when.

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{AllocCount, AllocSample, ArrayCode, CountSource, ObjAlloc};
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
    counted: Latest<(Site, Option<CountSource>)>,
    sampled: Latest<(Site, Option<StackId>, Option<ThreadId>)>,
}

impl Allocated {
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

    /// Samples say who allocated what is counted; they are all there is where nothing is.
    fn total(&self) -> u64 {
        let counted = if self.counted.of.is_empty() { self.sampled.sum } else { self.counted.sum };
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
}
