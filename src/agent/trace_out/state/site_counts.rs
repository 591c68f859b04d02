//! What has been written about the sites of `heap=counts`.

use rustc_hash::FxHashMap;

use crate::agent::counts::{AllocationSite, SiteCount, Totals};

/// What has been written about sites.
#[derive(Default)]
pub(crate) struct SiteCounts {
    /// What was written last, with the bytes that a sampler estimates.
    pub(crate) written: FxHashMap<(AllocationSite, bool), (Totals, Option<u64>)>,
    /// Bytes that the sampler estimates and that belong to no site.
    pub(crate) estimate_unmatched: u64,
}

impl SiteCounts {
    /// Whether that differs from what was written. A sum that was written stays, even if a part of it proves not to have
    /// happened.
    pub(crate) fn is_new(&mut self, count: &mut SiteCount, allocated: Option<u64>) -> bool {
        let (written, written_allocated) = self.written.entry((count.site, count.by_vm)).or_default();
        count.totals.instances = count.totals.instances.max(written.instances);
        count.totals.bytes = count.totals.bytes.max(written.bytes);
        let is_new = (*written, *written_allocated) != (count.totals, allocated);
        (*written, *written_allocated) = (count.totals, allocated);
        is_new
    }
}
