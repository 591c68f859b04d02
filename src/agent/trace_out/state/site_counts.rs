//! What has been written about the sites of `heap=counts`.

use rustc_hash::FxHashMap;

use crate::agent::counts::{AllocationSite, SiteCount, Totals};

/// What was written last about each site.
#[derive(Default)]
pub(crate) struct SiteCounts(pub(crate) FxHashMap<(AllocationSite, bool), Totals>);

impl SiteCounts {
    /// Whether that differs from what was written. A sum that was written stays, even if a part of it proves not to have
    /// happened.
    pub(crate) fn is_new(&mut self, count: &mut SiteCount) -> bool {
        let written = self.0.entry((count.site, count.by_vm)).or_default();
        count.totals.instances = count.totals.instances.max(written.instances);
        count.totals.bytes = count.totals.bytes.max(written.bytes);
        std::mem::replace(written, count.totals) != count.totals
    }
}
