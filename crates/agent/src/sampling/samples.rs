//! What samples stand for, by site, stack and thread.

use std::ops::AddAssign;

use rustc_hash::FxHashMap;

use agent_base::ids::{AllocationSite, StackIndex, ThreadIndex};

/// So many are kept apart; then threads no longer are. At twice as many, stacks are not either.
const MOST: usize = 1 << 16;

/// What samples are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SampleKey {
    pub(crate) site: AllocationSite,
    /// Where it was called from.
    pub(crate) stack: StackIndex,
    /// Absent if there are too many.
    pub(crate) thread: Option<ThreadIndex>,
}

/// What samples stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) samples: u64,
    pub(crate) instances: f64,
    pub(crate) bytes: f64,
    /// Of `bytes`.
    variance: f64,
}

impl Sampled {
    /// The standard error of `bytes`.
    pub(crate) fn error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Adds an object of so many bytes, each of which is seen with that probability.
    pub(super) fn add(&mut self, size: u64, probability: f64) {
        let bytes = size as f64 / probability;
        self.samples += 1;
        self.instances += 1.0 / probability;
        self.bytes += bytes;
        // Horvitz and Thompson: with the probability p of a sample, size² (1 - p) / p².
        self.variance += bytes * bytes * (1.0 - probability);
    }
}

impl AddAssign for Sampled {
    fn add_assign(&mut self, other: Sampled) {
        self.samples += other.samples;
        self.instances += other.instances;
        self.bytes += other.bytes;
        self.variance += other.variance;
    }
}

/// The probability with which an object of that size is sampled.
pub(super) fn probability(size: f64, interval: f64) -> f64 {
    -(-size / interval).exp_m1()
}

#[derive(Debug, Default)]
struct Entry {
    sampled: Sampled,
    /// Number of samples when it was asked for last.
    reported: u64,
}

type OfThread = FxHashMap<(AllocationSite, StackIndex), Entry>;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Samples {
    by_thread: FxHashMap<Option<ThreadIndex>, OfThread>,
    entries: usize,
    merged: u64,
    /// All of each thread, merged or not.
    of_threads: FxHashMap<ThreadIndex, Sampled>,
    /// Number of samples.
    count: u64,
}

impl Samples {
    /// Adds a sample of so many bytes, which was chosen with that probability; `is_short` if its stack was not looked up.
    pub(super) fn add(&mut self, key: SampleKey, is_short: bool, size: u64, probability: f64) {
        let SampleKey { site, stack, thread } = key;
        let is_known =
            |thread, stack| self.by_thread.get(&thread).is_some_and(|map: &OfThread| map.contains_key(&(site, stack)));
        let (thread, stack) = if self.entries < MOST || is_known(thread, stack) {
            (thread, stack)
        } else if self.entries < 2 * MOST || is_known(None, stack) {
            (None, stack)
        } else {
            (None, StackIndex::default())
        };
        self.merged += u64::from(is_short || (thread, stack) != (key.thread, key.stack));
        if let Some(thread) = key.thread {
            self.of_threads.entry(thread).or_default().add(size, probability);
        }
        self.count += 1;
        let of_thread = self.by_thread.entry(thread).or_default();
        let before = of_thread.len();
        of_thread.entry((site, stack)).or_default().sampled.add(size, probability);
        self.entries += of_thread.len() - before;
    }

    /// Samples that were added without their thread or stack.
    pub(super) fn merged(&self) -> u64 {
        self.merged
    }

    /// Number of samples.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// What all samples of a thread stand for.
    pub(super) fn of_thread(&self, thread: ThreadIndex) -> Sampled {
        self.of_threads.get(&thread).copied().unwrap_or_default()
    }

    /// What has changed since it was asked for last.
    pub(super) fn changed(&mut self) -> Vec<(SampleKey, Sampled)> {
        self.by_thread.iter_mut().flat_map(|(&thread, of_thread)| changed(thread, of_thread)).collect()
    }

    /// The same for one thread, of which nothing is kept.
    pub(super) fn take(&mut self, thread: ThreadIndex) -> Vec<(SampleKey, Sampled)> {
        self.of_threads.remove(&thread);
        let Some(mut of_thread) = self.by_thread.remove(&Some(thread)) else { return Vec::new() };
        self.entries -= of_thread.len();
        changed(Some(thread), &mut of_thread).collect()
    }
}

fn changed(
    thread: Option<ThreadIndex>,
    of_thread: &mut OfThread,
) -> impl Iterator<Item = (SampleKey, Sampled)> + use<'_> {
    of_thread.iter_mut().filter_map(move |(&(site, stack), entry)| {
        let before = std::mem::replace(&mut entry.reported, entry.sampled.samples);
        (before < entry.reported).then_some((SampleKey { site, stack, thread }, entry.sampled))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::ids::ClassIndex;

    fn key(stack: u32, thread: u32) -> SampleKey {
        let site = AllocationSite { class: ClassIndex(1), location: None };
        SampleKey { site, stack: StackIndex(stack), thread: Some(ThreadIndex(thread)) }
    }

    fn add(samples: &mut Samples, key: SampleKey, is_short: bool, size: u64, interval: f64) {
        samples.add(key, is_short, size, probability(size as f64, interval));
    }

    /// What all objects of one size stand for, when each is sampled with its probability.
    fn on_average(size: f64, interval: f64) -> f64 {
        let mut sampled = Sampled::default();
        sampled.add(size as u64, probability(size, interval));
        probability(size, interval) * sampled.bytes
    }

    #[test]
    fn an_estimate_is_right_on_average() {
        for size in [16.0, 4096.0, 1e6, 1e9] {
            for interval in [1.0, 65536.0, 524_288.0] {
                let error = (on_average(size, interval) - size).abs() / size;
                assert!(error < 1e-6, "{size} bytes every {interval}: {error}");
            }
        }
    }

    #[test]
    fn what_has_changed_is_reported_once() {
        let mut samples = Samples::default();
        add(&mut samples, key(1, 1), false, 16, 1000.0);
        add(&mut samples, key(1, 2), false, 16, 1000.0);
        assert_eq!(samples.changed().len(), 2);
        assert_eq!(samples.changed(), []);
        add(&mut samples, key(1, 2), false, 1000, 1000.0);
        let changed = samples.changed();
        let [(found, sampled)] = changed[..] else { panic!("{changed:?}") };
        assert_eq!((found, sampled.samples), (key(1, 2), 2));
        let (small, large) = (16.0 / probability(16.0, 1000.0), 1000.0 / probability(1000.0, 1000.0));
        assert!((sampled.bytes - small - large).abs() < 1e-6 && (small - 1008.0).abs() < 0.1, "{sampled:?}");
        assert!((sampled.instances - small / 16.0 - large / 1000.0).abs() < 1e-6);
        // A small object's error is nearly what it stands for; that of a large one is less.
        assert!(sampled.error() < (small * small + large * large).sqrt() && sampled.error() > small * 0.99);
    }

    #[test]
    fn a_threads_sum_is_that_of_all_its_samples() {
        let mut samples = Samples::default();
        add(&mut samples, key(1, 1), false, 16, 1000.0);
        add(&mut samples, key(2, 1), true, 1000, 1000.0);
        add(&mut samples, key(1, 2), false, 16, 1000.0);
        let of = |samples: &Samples, thread| samples.of_thread(ThreadIndex(thread));
        assert_eq!((of(&samples, 1).samples, of(&samples, 2).samples, samples.count()), (2, 1, 3));
        samples.take(ThreadIndex(1));
        assert_eq!((of(&samples, 1), of(&samples, 2).samples, samples.count()), (Sampled::default(), 1, 3));
    }

    #[test]
    fn a_thread_that_ends_leaves_nothing() {
        let mut samples = Samples::default();
        add(&mut samples, key(1, 1), false, 16, 1.0);
        add(&mut samples, key(2, 1), false, 16, 1.0);
        assert_eq!((samples.take(ThreadIndex(1)).len(), samples.entries), (2, 0));
        assert!(samples.take(ThreadIndex(1)).is_empty() && samples.changed().is_empty());
    }

    #[test]
    fn too_many_are_merged_and_none_is_lost() {
        let mut samples = Samples::default();
        let most = MOST as u32;
        for number in 0..3 * most {
            add(&mut samples, key(number + 1, 1 + number % 2), false, 16, 1.0);
        }
        assert!(samples.entries <= 2 * MOST + 1, "{}", samples.entries);
        assert_eq!(samples.merged, u64::from(2 * most));
        // What is known already is still kept apart.
        add(&mut samples, key(1, 1), false, 16, 1.0);
        assert_eq!(samples.merged, u64::from(2 * most));
        add(&mut samples, key(1, 1), true, 16, 1.0);
        assert_eq!(samples.merged, u64::from(2 * most) + 1);
        let changed = samples.changed();
        assert_eq!(changed.iter().map(|(_, sampled)| sampled.samples).sum::<u64>(), u64::from(3 * most) + 2);
        let without_stack = changed.iter().find(|(key, _)| key.stack == StackIndex::default()).expect("there is one");
        assert_eq!((without_stack.0.thread, without_stack.1.samples), (None, u64::from(most)));
    }
}
