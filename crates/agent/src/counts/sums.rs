//! What counters add up to, of one thread and of all.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jvmti::Jni;

use super::Counts;
use super::blocks::Block;
use super::counters::CounterKind;
use super::ids::CounterIndex;
use super::threads::{ThreadCounts, Totals};
use agent_base::ids::AllocationSite;
use agent_core::core::feature::End;

impl Counts {
    /// Adds the counters of all living threads to the sums, at the very end. If the VM continues, they stop counting.
    pub(super) fn end_all(&self, end: End) {
        for counts in std::mem::take(&mut *self.living.lock()) {
            let Some(own) = counts.own.get() else { continue };
            if let (true, Some(table)) = (end.is_survived(), &self.space.table) {
                table.remove(own.number);
            }
            if let Some(block) = &own.block {
                block.for_each(self.space.counters.len(), |counter, value| self.add_to_sums(counter, value));
                self.space.retired.lock().push(block.clone());
            }
        }
    }

    pub(super) fn add_to_sums(&self, counter: CounterIndex, value: u64) {
        if let Some(sums) = &self.space.sums {
            sums.add(counter, value);
        }
    }

    /// Visits all counters, of living threads and of ended ones; a counter may be visited more than once.
    pub(super) fn for_each(&self, mut visit: impl FnMut(CounterIndex, u64)) {
        // No thread ends while the lock is held.
        let living = self.living.lock();
        for block in self.space.sums.iter().chain(living.iter().filter_map(|counts| counts.block())) {
            block.for_each(self.space.counters.len(), &mut visit);
        }
    }

    /// The threads that count at present.
    pub(crate) fn living(&self) -> Vec<Arc<ThreadCounts>> {
        self.living.lock().clone()
    }

    /// What a thread allocated so far.
    pub(crate) fn totals(&self, counts: &ThreadCounts) -> Totals {
        let mut totals = Totals {
            instances: counts.shared_instances.load(Ordering::Relaxed),
            bytes: counts.shared_bytes.load(Ordering::Relaxed),
        };
        if let Some(block) = counts.block() {
            block.for_each(self.space.counters.len(), |counter, value| {
                totals += self.meaning(counter, value).0;
            });
        }
        for (&counter, &(instances, bytes)) in counts.failed_arrays.lock().iter() {
            totals += self.meaning(counter, instances.wrapping_neg()).0;
            totals += self.meaning(counter.next(), bytes.wrapping_neg()).0;
        }
        totals
    }

    /// The instances and bytes that a counter of that value stands for, and where they were made, if that is known.
    pub(super) fn meaning(&self, counter: CounterIndex, value: u64) -> (Totals, Option<AllocationSite>) {
        let Some(record) = self.space.counters.get(counter) else { return Default::default() };
        let named = match record.kind {
            // Arrays have their bytes in a counter of their own, behind the one that is resolved.
            CounterKind::Bytes | CounterKind::SubtractedBytes => self.space.counters.get(CounterIndex(counter.0 - 1)),
            _ => Some(record),
        };
        let resolved = named.and_then(|record| record.resolved.get());
        if matches!(resolved, Some(None)) {
            return Default::default();
        }
        let Some((resolved, class)) = resolved.and_then(|r| Some(((*r)?, self.core.jvm.classes.get((*r)?.class)?)))
        else {
            return (Totals { instances: if record.kind == CounterKind::Bytes { 0 } else { value }, bytes: 0 }, None);
        };
        let totals = match record.kind {
            // One level of an array of arrays.
            _ if !self.core.includes(resolved.class) => Totals::default(),
            CounterKind::Bytes => Totals { instances: 0, bytes: value },
            CounterKind::Subtracted => Totals { instances: value.wrapping_neg(), bytes: 0 },
            CounterKind::SubtractedBytes => Totals { instances: 0, bytes: value.wrapping_neg() },
            CounterKind::Backtraces(_) | CounterKind::VmObjects => Totals { instances: value, bytes: 0 },
            _ if class.array.is_array() => Totals { instances: value, bytes: 0 },
            _ => Totals { instances: value, bytes: value * class.instance_bytes() },
        };
        (totals, Some(resolved))
    }

    /// Counts one object on the current thread, which has the number `java_id` in Java.
    pub(super) fn count(&self, jni: Jni, counts: &ThreadCounts, java_id: i64, counter: CounterIndex, bytes: u64) {
        let own = self.block(counts, java_id);
        if own.is_none() {
            if self.may_resolve(counter) {
                self.core.exclude(jni, counts.thread, || self.resolve_one(jni, counter));
            }
            let mut totals = self.meaning(counter, 1).0;
            totals += self.meaning(counter.next(), bytes).0;
            counts.add_shared(totals);
        }
        let Some(block) = own.or(self.space.sums.as_ref()) else { return };
        block.add(counter, 1);
        if bytes > 0 {
            block.add(counter.next(), bytes);
        }
    }

    /// Bytes of memory that counters take.
    pub(crate) fn memory(&self) -> u64 {
        let living: u64 = self.living.lock().iter().filter_map(|t| t.block()).map(Block::bytes).sum();
        let spare: u64 = self.space.spare.lock().iter().map(|b| b.bytes()).sum();
        living + spare + self.space.sums.as_ref().map_or(0, Block::bytes)
    }
}
