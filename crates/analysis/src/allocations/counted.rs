//! What a document counts instead of reporting each object: `allocCount` per site, `liveCount` per class.
//!
//! Counts are cumulative, so only the last of each kind is kept: memory grows with the sites and classes, not with the
//! trace.

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId};
use trace::model::{AllocCount, CountSource, LiveCount};
use trace::time::Time;

use super::live::CellIndex;
use super::totals::Amount;

/// The last count of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SiteCount {
    pub(super) amount: Amount,
    /// How many of the bytes were really allocated, as a sampler estimates.
    pub(super) estimate: Option<u64>,
}

/// What an `allocCount` counts for, in the ids of the document.
type SiteIds = (ClassId, Option<MethodId>, Option<i64>, Option<CountSource>);

/// The last counts of one document.
#[derive(Debug, Default)]
pub(super) struct CountedDocument {
    /// By ids, because classes of one name share a cell and each has counts of its own.
    sites: FxHashMap<SiteIds, (CellIndex, SiteCount)>,
    living: FxHashMap<CellIndex, Amount>,
    walked: Option<Time>,
}

impl CountedDocument {
    /// Takes in the count of a site.
    pub(super) fn site(&mut self, cell: CellIndex, count: &AllocCount) {
        let amount = Amount { objects: count.instances, bytes: count.bytes };
        let ids = (count.class, count.method, count.line, count.source);
        self.sites.insert(ids, (cell, SiteCount { amount, estimate: count.allocated_bytes }));
    }

    /// Takes in the living instances of a class. A later walk of the heap replaces what an earlier one found.
    pub(super) fn living(&mut self, cell: CellIndex, count: &LiveCount) {
        if self.walked != Some(count.time) {
            if self.walked.is_some_and(|walked| walked > count.time) {
                return;
            }
            self.living.clear();
            self.walked = Some(count.time);
        }
        // Two classes of one name share a cell.
        self.living.entry(cell).or_default().add(Amount { objects: count.instances, bytes: count.bytes });
    }

    /// The last count of each site, with its source; forgotten here.
    pub(super) fn take_sites(&mut self) -> impl Iterator<Item = (CellIndex, Option<CountSource>, SiteCount)> + use<> {
        std::mem::take(&mut self.sites).into_iter().map(|((.., source), (cell, count))| (cell, source, count))
    }

    /// What the last walk of the heap found; forgotten here.
    pub(super) fn take_living(&mut self) -> impl Iterator<Item = (CellIndex, Amount)> + use<> {
        self.walked = None;
        std::mem::take(&mut self.living).into_iter()
    }
}
