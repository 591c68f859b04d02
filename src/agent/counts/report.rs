//! What the sums mean: per class and site.

use std::collections::BTreeMap;

use super::slots::{CounterIndex, Resolved, Role};
use super::{Counts, Totals};
use crate::agent::classes::{ClassIndex, Classes};
use crate::agent::methods::MethodIndex;

/// What was allocated of one class at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteCount {
    pub(crate) site: Resolved,
    /// Not by the site's bytecode but by the VM in a method that it calls.
    pub(crate) by_the_vm: bool,
    pub(crate) totals: Totals,
}

impl Counts {
    /// All sites that ran, and the number of objects whose site is not known. Several counters may belong to one line.
    pub(crate) fn sites(&self, classes: &Classes) -> (Vec<SiteCount>, u64) {
        let mut sites: BTreeMap<(u32, u32, u32, bool), Totals> = BTreeMap::new();
        let mut nameless = 0;
        let Some(sums) = &self.sums else { return (Vec::new(), 0) };
        sums.for_each(|counter, value| {
            let (totals, place) = self.meaning(counter, value, classes);
            match place {
                Some(Resolved { class, method, line }) => {
                    let by_the_vm = self.is_by_the_vm(counter);
                    *sites.entry((class.0, method.0, line, by_the_vm)).or_default() += totals;
                }
                None => nameless += totals.instances,
            }
        });
        let count = |((class, method, line, by_the_vm), totals)| SiteCount {
            site: Resolved { class: ClassIndex(class), method: MethodIndex(method), line },
            by_the_vm,
            totals,
        };
        (sites.into_iter().filter(|(_, totals)| totals.instances > 0).map(count).collect(), nameless)
    }

    fn is_by_the_vm(&self, counter: CounterIndex) -> bool {
        let role = |counter| self.slots.get(counter).map(|slot| slot.role);
        match role(counter) {
            Some(Role::Bytes) => matches!(role(CounterIndex(counter.0 - 1)), Some(Role::ByTheVm(_))),
            role => matches!(role, Some(Role::ByTheVm(_))),
        }
    }
}
