//! What the sums mean: per class and site.

use std::collections::BTreeMap;

use super::slots::{CounterIndex, Resolved, Role};
use super::{Counts, Totals};
use crate::agent::classes::Classes;

/// What was allocated of one class at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteCount {
    pub(crate) site: Resolved,
    /// Not by the site's bytecode but by the VM in a method that it calls.
    pub(crate) by_the_vm: bool,
    pub(crate) totals: Totals,
}

/// Class, method and line, and whether the VM counted: the order in which sites are told.
type SiteKey = (u32, Option<(u32, u32)>, bool);

impl Counts {
    /// All sites that ran, and the number of objects whose site is not known. Several counters may belong to one line.
    pub(crate) fn sites(&self, classes: &Classes) -> (Vec<SiteCount>, u64) {
        let mut sites: BTreeMap<SiteKey, SiteCount> = BTreeMap::new();
        let mut nameless = 0u64;
        self.for_each(|counter, value| {
            let (totals, site) = self.meaning(counter, value, classes);
            match site {
                Some(site) => {
                    let by_the_vm = self.is_by_the_vm(counter);
                    let key = (site.class.0, site.place.map(|place| (place.method.0, place.line)), by_the_vm);
                    let none = SiteCount { site, by_the_vm, totals: Totals::default() };
                    sites.entry(key).or_insert(none).totals += totals;
                }
                // One part may take back what another counted.
                None => nameless = totals.instances.wrapping_add(nameless),
            }
        });
        (sites.into_values().filter(|count| count.totals.instances > 0).collect(), nameless)
    }

    fn is_by_the_vm(&self, counter: CounterIndex) -> bool {
        let role = |counter| self.slots.get(counter).map(|slot| slot.role);
        let role = role(counter).filter(|&role| role != Role::Bytes).or_else(|| role(CounterIndex(counter.0 - 1)));
        matches!(role, Some(Role::ByTheVm(_) | Role::SeenByTheVm))
    }
}
