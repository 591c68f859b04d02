//! The sums by class and site.

use std::collections::BTreeMap;

use super::counters::Counters;
use super::sums::Totals;
use super::threads::Threads;
use agent_base::ids::AllocationSite;

/// What was allocated of one class at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteCount {
    pub(crate) site: AllocationSite,
    /// Not by the site's bytecode but by the VM in a method that it calls.
    pub(crate) by_vm: bool,
    pub(crate) totals: Totals,
    /// While the program runs, a part of it may be subtracted a moment later.
    pub(crate) is_provisional: bool,
}

/// Class, method and line, and whether the VM counted: the order in which sites are reported.
type SiteKey = (u32, Option<(u32, u32)>, bool);

/// All sites that ran, and the number of objects whose site is not known. Several counters may belong to one line.
pub(super) fn sites(threads: &Threads, counters: &Counters) -> (Vec<SiteCount>, u64) {
    let mut sites: BTreeMap<SiteKey, SiteCount> = BTreeMap::new();
    let mut unknown = 0u64;
    threads.for_each(|counter, value| {
        let (totals, site) = threads.meaning(counter, value);
        match site {
            Some(site) => {
                let by_vm = counters.is_by_vm(counter);
                let key = (site.class.0, site.location.map(|location| (location.method.0, location.line)), by_vm);
                let none = SiteCount { site, by_vm, totals: Totals::default(), is_provisional: false };
                let count = sites.entry(key).or_insert(none);
                count.totals += totals;
                count.is_provisional |= counters.may_be_subtracted(counter);
            }
            // One counter may subtract what another counted.
            None => unknown = totals.instances.wrapping_add(unknown),
        }
    });
    let counted = sites.into_values().map(|count| SiteCount { totals: count.totals.not_negative(), ..count });
    (counted.filter(|count| count.totals.instances > 0).collect(), unknown)
}
