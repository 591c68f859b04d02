//! The JVM's own counters over time.

use std::collections::BTreeMap;

use trace::model::JvmCounter;
use trace::time::{Nanos, Time};

/// So many counters are kept; a JVM has about 200.
const MOST_COUNTERS: usize = 1000;
/// Of a counter so many values are kept. Of more each second one goes.
const MOST_VALUES: usize = 4096;

/// What they were, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(BTreeMap<Box<str>, Vec<(Nanos, u64)>>);

impl Counters {
    pub(super) fn add(&mut self, counter: &JvmCounter<'_>, origin: Time) {
        let name = &*counter.name;
        if !self.0.contains_key(name) && self.0.len() >= MOST_COUNTERS {
            return;
        }
        let values = self.0.entry(name.into()).or_default();
        let at = counter.time.since(origin);
        if values.last().is_some_and(|&(last, _)| at < last) {
            return;
        }
        values.push((at, counter.value));
        if values.len() > MOST_VALUES {
            let mut index = 0;
            // The first and the last stay.
            values.retain(|_| {
                index += 1;
                index % 2 == 1 || index > MOST_VALUES
            });
        }
    }

    /// The last value of a counter.
    pub(super) fn last(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.last().map(|&(_, value)| value)
    }

    /// What a counter was at some time: as it was read last until then.
    pub(super) fn at(&self, name: &str, time: Nanos) -> u64 {
        let Some(values) = self.0.get(name) else { return 0 };
        let behind = values.partition_point(|&(at, _)| at <= time);
        behind.checked_sub(1).map_or(0, |last| values[last].1)
    }

    /// The times of the first and the last value of all of these.
    pub(super) fn span(&self, names: impl Iterator<Item = &'static str>) -> Option<(Nanos, Nanos)> {
        let ends = names.filter_map(|name| {
            let values = self.0.get(name)?;
            Some((values.first()?.0, values.last()?.0))
        });
        ends.reduce(|(from, until), (first, last)| (from.min(first), until.max(last)))
    }

    /// When any of these was read and had changed, in order.
    pub(super) fn times(&self, names: impl Iterator<Item = &'static str>) -> Vec<Nanos> {
        let values = names.filter_map(|name| self.0.get(name)).flatten();
        let mut times: Vec<Nanos> = values.map(|&(at, _)| at).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// All of them, with their last values.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(|(name, values)| Some((&**name, values.last()?.1)))
    }
}
