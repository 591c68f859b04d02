//! What has been written about the sites of `heap=counts`.

use rustc_hash::FxHashMap;

use super::report::SiteCount;
use super::sums::Totals;
use agent_base::ids::AllocationSite;

/// What has been written about each site.
#[derive(Default)]
pub(super) struct SiteCounts {
    /// What was written last.
    written: FxHashMap<(AllocationSite, bool), Totals>,
    /// What provisional counts were the last time.
    provisional: FxHashMap<AllocationSite, Totals>,
}

impl SiteCounts {
    /// Leaves of a provisional count what it was the last time: by now what had to be subtracted from that is, and what is written
    /// cannot be taken back.
    pub(super) fn settle(&mut self, count: &mut SiteCount) {
        if count.is_provisional {
            let before = self.provisional.insert(count.site, count.totals).unwrap_or_default();
            count.totals.instances = count.totals.instances.min(before.instances);
            count.totals.bytes = count.totals.bytes.min(before.bytes);
        }
    }

    /// Whether that differs from what was written. A sum that was written stays, even if a part of it proves not to have
    /// happened.
    pub(super) fn is_new(&mut self, count: &mut SiteCount) -> bool {
        let written = self.written.entry((count.site, count.by_vm)).or_default();
        count.totals.instances = count.totals.instances.max(written.instances);
        count.totals.bytes = count.totals.bytes.max(written.bytes);
        std::mem::replace(written, count.totals) != count.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::ids::ClassIndex;

    #[test]
    fn nothing_is_written_that_is_subtracted_a_moment_later() {
        let mut counts = SiteCounts::default();
        let site = AllocationSite { class: ClassIndex(1), location: None };
        let mut written = |is_last: bool, instances: u64| {
            let totals = Totals { instances, bytes: 16 * instances };
            let mut count = SiteCount { site, by_vm: false, totals, is_provisional: true };
            if !is_last {
                counts.settle(&mut count);
            }
            counts.is_new(&mut count).then_some(count.totals.instances)
        };
        // One of 3 is about to be subtracted.
        assert_eq!((written(false, 3), written(false, 2)), (None, Some(2)));
        assert_eq!((written(false, 10), written(false, 12), written(true, 14)), (None, Some(10), Some(14)));
    }
}
