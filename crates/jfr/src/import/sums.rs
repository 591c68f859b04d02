//! What samples of allocations add up to, by class, stack and thread.

use std::collections::BTreeMap;

use trace::model::AllocSample;
use trace::time::Time;

use super::definitions::Definitions;
use super::events::Allocated;
use super::pools::{ClassAt, Pools, StackAt, ThreadAt};

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    samples: u64,
    objects: f64,
    bytes: u64,
    /// Of each sample the bytes squared, added up.
    squares: f64,
    is_new: bool,
}

type Key = (ClassAt, Option<StackAt>, Option<ThreadAt>);

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Sums(BTreeMap<Key, Sum>);

impl Sums {
    pub(super) fn add(&mut self, one: &Allocated) {
        let sum = self.0.entry((one.class, one.seen.stack, one.thread)).or_default();
        sum.samples += 1;
        sum.bytes = sum.bytes.saturating_add(one.bytes);
        // Of an object whose size is not said nobody knows for how many it stands.
        sum.objects += one.size.filter(|&size| size > 0).map_or(1.0, |size| (one.bytes as f64 / size as f64).max(1.0));
        sum.squares += (one.bytes as f64).powi(2);
        sum.is_new = true;
    }

    /// Samples, and the bytes for which they stand.
    pub(super) fn totals(&self) -> (u64, u64) {
        let add = |(samples, bytes): (u64, u64), sum: &Sum| (samples + sum.samples, bytes.saturating_add(sum.bytes));
        self.0.values().fold((0, 0), add)
    }

    /// Writes those that have changed.
    pub(super) fn write(&mut self, names: &mut Definitions<'_>, pools: &Pools, time: Time) {
        for (&(class, stack, thread), sum) in self.0.iter_mut().filter(|(_, sum)| sum.is_new) {
            sum.is_new = false;
            let site = stack.map(|stack| pools.stacks.get(stack.0)[0]);
            let record = AllocSample {
                is_array: pools.classes.get(class.0).array,
                class: names.class(class),
                method: site.map(|site| names.method(site.method)),
                line: site.filter(|site| site.line > 0).map(|site| i64::from(site.line)),
                stack: stack.map(|stack| names.stack(stack)),
                thread: thread.map(|thread| names.thread(thread)),
                samples: sum.samples,
                instances: sum.objects.round() as u64,
                bytes: sum.bytes,
                error: sum.squares.sqrt().round() as u64,
                time,
            };
            names.write(&record);
        }
    }
}
