//! Samples of objects (`allocSample`): how those of a counted site are spread over stacks and threads, or, where nothing is counted, all
//! that is known.

use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::ThreadId;
use trace::model::AllocSample;
use trace::time::Time;

use super::cells::{Cell, CellIds, CellIndex};
use super::totals::Amount;
use crate::call_tree::Spread;
use crate::stacks::StackIndex;
use crate::symbols::ThreadIndex;
use crate::window::Position;

/// What samples are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ShareKey {
    /// The site, on whichever thread.
    pub(super) cell: CellIndex,
    pub(super) stack: Option<StackIndex>,
    pub(super) thread: Option<ThreadIndex>,
}

/// What samples stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sampled {
    /// Bytes, and their error.
    pub(super) bytes: Spread,
    pub(super) instances: f64,
}

impl Sampled {
    pub(super) fn add(&mut self, other: &Sampled) {
        self.bytes.add(&other.bytes);
        self.instances += other.instances;
    }

    /// So many times as much in whole objects and bytes, which are known no better.
    pub(super) fn scaled(self, scale: f64) -> Sampled {
        let bytes = Spread { weight: (self.bytes.weight * scale).round(), ..self.bytes };
        Sampled { bytes, instances: (self.instances * scale).round() }
    }

    /// The same in whole objects and bytes.
    pub(super) fn amount(&self) -> Amount {
        Amount { objects: self.instances.round() as u64, bytes: self.bytes.weight.round() as u64 }
    }
}

/// By what samples are kept apart, and what they stand for.
pub(super) type ByShare = FxHashMap<ShareKey, Sampled>;

/// Adds samples to others.
pub(super) fn add_all(to: &mut ByShare, samples: impl IntoIterator<Item = (ShareKey, Sampled)>) {
    samples.into_iter().for_each(|(key, sampled)| to.entry(key).or_default().add(&sampled));
}

/// What the last `allocSample` said.
#[derive(Clone, Copy, Debug, Default)]
struct LastSample {
    samples: u64,
    instances: u64,
    bytes: u64,
    error: u64,
}

/// The samples of one document.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// The last of each, by threads that have not ended: samples are cumulative.
    last: FxHashMap<Option<ThreadId>, FxHashMap<CellIds, LastSample>>,
    /// Of sites that are counted: in the part of the trace that counts, and elsewhere.
    pub(super) inside: ByShare,
    pub(super) outside: ByShare,
    /// What was sampled since counts were written last, and the time of the last of it.
    pending: ByShare,
    pending_until: Time,
    /// Where nothing is counted.
    pub(super) alone: FxHashMap<CellIndex, Sampled>,
    /// When the last of these were written.
    alone_written: Option<Time>,
}

impl Samples {
    /// What is new in a sample.
    pub(super) fn more(&mut self, ids: CellIds, sample: &AllocSample) -> Sampled {
        let last = self.last.entry(sample.thread).or_default().entry(ids).or_default();
        let before = *last;
        *last = LastSample {
            samples: sample.samples.max(before.samples),
            instances: sample.instances.max(before.instances),
            bytes: sample.bytes.max(before.bytes),
            error: sample.error.max(before.error),
        };
        Sampled {
            bytes: Spread {
                samples: last.samples - before.samples,
                weight: (last.bytes - before.bytes) as f64,
                variance: (last.error as f64).powi(2) - (before.error as f64).powi(2),
            },
            instances: (last.instances - before.instances) as f64,
        }
    }

    /// Nothing more will be sampled on this thread.
    pub(super) fn thread_ended(&mut self, thread: ThreadId) {
        self.last.remove(&Some(thread));
    }

    /// Takes in samples of a site that is counted.
    pub(super) fn add(&mut self, key: ShareKey, position: Position, more: &Sampled) {
        let samples = if position == Position::Inside { &mut self.inside } else { &mut self.outside };
        samples.entry(key).or_default().add(more);
    }

    /// Takes in samples that belong to the next counts.
    pub(super) fn wait(&mut self, key: ShareKey, time: Time, more: &Sampled) {
        self.pending.entry(key).or_default().add(more);
        self.pending_until = self.pending_until.max(time);
    }

    /// Takes out what belongs to the next counts.
    pub(super) fn take_pending(&mut self) -> ByShare {
        std::mem::take(&mut self.pending)
    }

    /// No counts follow: the time of the last of what waits for them.
    pub(super) fn pending_until(&self) -> Time {
        self.pending_until
    }

    /// Takes in when samples were written that belong to no counts. Gives back when the ones before were.
    pub(super) fn written_alone(&mut self, time: Time) -> Option<Time> {
        let before = self.alone_written;
        self.alone_written = before.max(Some(time));
        before
    }
}

/// How samples spread the objects of each counted site.
#[derive(Debug, Default)]
pub(super) struct Shares(FxHashMap<CellIndex, SiteShares>);

/// What samples say of a site.
#[derive(Debug, Default)]
struct SiteShares {
    /// In an order that does not depend on chance.
    shares: Vec<(ShareKey, Sampled)>,
    whole: Sampled,
    /// It was sampled outside of the part of the trace that counts only.
    is_outside: bool,
}

impl Shares {
    /// Those that were found in the part of the trace that counts; of sites that have none there, those outside.
    pub(super) fn new(inside: ByShare, outside: ByShare) -> Shares {
        let mut sites: FxHashMap<CellIndex, SiteShares> = FxHashMap::default();
        let known: FxHashSet<CellIndex> =
            inside.iter().filter(|(_, share)| share.bytes.weight > 0.0).map(|(key, _)| key.cell).collect();
        let outside = outside.into_iter().filter(|(_, share)| share.bytes.weight > 0.0);
        let all = inside.into_iter().map(|share| (share, false)).chain(outside.map(|share| (share, true)));
        for ((key, share), is_outside) in all {
            if is_outside != known.contains(&key.cell) {
                let site = sites.entry(key.cell).or_default();
                site.shares.push((key, share));
                site.is_outside = is_outside;
            }
        }
        for site in sites.values_mut() {
            site.shares.sort_unstable_by_key(|(ShareKey { stack, thread, .. }, _)| {
                (stack.map(StackIndex::rank), thread.map(ThreadIndex::rank))
            });
            site.shares.iter().for_each(|(_, share)| site.whole.add(share));
        }
        sites.retain(|_, site| site.whole.bytes.weight > 0.0);
        Shares(sites)
    }

    /// What is said of a site was sampled outside of the part of the trace that counts.
    pub(super) fn are_outside(&self, cell: CellIndex) -> bool {
        self.0.get(&cell).is_some_and(|site| site.is_outside)
    }

    /// What samples say of a site: each share, and all together; `None` if they say nothing.
    pub(super) fn of(&self, cell: CellIndex) -> Option<(&[(ShareKey, Sampled)], &Sampled)> {
        self.0.get(&cell).map(|site| (&site.shares[..], &site.whole))
    }

    /// Nothing was sampled.
    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(|site| site.shares.is_empty())
    }

    /// Some sample has its stack.
    pub(super) fn has_stacks(&self) -> bool {
        self.0.values().flat_map(|site| &site.shares).any(|(key, _)| key.stack.is_some())
    }

    /// Keeps only some of them. What a site has in all stays as it was.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&ShareKey) -> bool) {
        self.0.values_mut().for_each(|site| site.shares.retain(|(key, _)| keeps(key)));
    }
}

impl ShareKey {
    /// The cell of the objects, where that of the site is known.
    pub(super) fn of(self, site: Cell) -> Cell {
        Cell { stack: self.stack, thread: self.thread, ..site }
    }
}
