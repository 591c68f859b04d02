//! `heap=counts`: the elements that say what was counted, so far or in all.

use rustc_hash::FxHashMap;
use trace::model::{AllocCount, CountSource, LiveCount, Record};
use trace::time::Time;

use super::super::classes::ClassIndex;
use super::super::clock::Ticks;
use super::super::counts::{Counts, Estimate, Resolved, SiteCount, Snapshot, Totals};
use super::super::live::Living;
use super::Writer;

/// What was told of sites.
#[derive(Default)]
pub(super) struct SiteCounts {
    /// What was told last, with the bytes that a sampler estimates.
    told: FxHashMap<(Resolved, bool), (Totals, Option<u64>)>,
    /// Bytes that it estimates and no site counts.
    pub(super) estimated_elsewhere: u64,
}

impl SiteCounts {
    /// Whether that is news. A sum that was told stays if a part of it proves not to have happened.
    fn is_new(&mut self, count: &mut SiteCount, allocated: Option<u64>) -> bool {
        let (told, told_allocated) = self.told.entry((count.site, count.by_the_vm)).or_default();
        count.totals.instances = count.totals.instances.max(told.instances);
        count.totals.bytes = count.totals.bytes.max(told.bytes);
        let is_new = (*told, *told_allocated) != (count.totals, allocated);
        (*told, *told_allocated) = (count.totals, allocated);
        is_new
    }
}

impl Writer {
    /// Writes what was counted so far, if there is news of it.
    pub(super) fn snapshot(&mut self) {
        let Some(counts) = &self.agent.counts else { return };
        let Some(Snapshot { time: ticks, threads, live }) = counts.take_snapshot() else { return };
        for (thread, Totals { instances, bytes }, vm_bytes) in threads {
            self.tallies.set(thread, instances, bytes);
            self.account(thread, ticks, vm_bytes);
        }
        let time = self.time(ticks);
        self.all_site_counts(counts, time);
        self.live_counts(live.unwrap_or_default(), ticks);
    }

    /// Writes what sites have counted since it was written last, and returns the number of objects whose site is not known.
    pub(super) fn all_site_counts(&mut self, counts: &Counts, time: Time) -> u64 {
        let (sites, nameless) = counts.sites(&self.agent.classes);
        let mut estimated = counts.estimate.as_ref().map(Estimate::found);
        for mut site in sites {
            // What the VM makes the JIT cannot remove.
            let allocated =
                estimated.as_mut().map(|found| if site.by_the_vm { site.totals.bytes } else { found.take(site.site) });
            if self.site_counts.is_new(&mut site, allocated) {
                self.site_count(&site, allocated, time);
            }
        }
        self.site_counts.estimated_elsewhere = estimated.map_or(0, |found| found.rest());
        nameless
    }

    /// Writes what a walk of the heap found.
    pub(super) fn live_counts(&mut self, found: impl IntoIterator<Item = (ClassIndex, Living)>, ticks: Ticks) {
        let time = self.time(ticks);
        for (class, living) in found {
            self.live_count(class, living, time);
        }
    }

    fn live_count(&mut self, class: ClassIndex, living: Living, time: Time) {
        self.define_class(class);
        let Some(record) = self.agent.classes.get(class) else { return };
        let Living { instances, bytes } = living;
        let element = LiveCount { is_array: record.array, class: record.id, instances, bytes, time };
        self.text.emit(|out| element.write(out));
    }

    fn site_count(&mut self, count: &SiteCount, allocated_bytes: Option<u64>, time: Time) {
        let Resolved { class, place } = count.site;
        self.define_class(class);
        let Some(class) = self.agent.classes.get(class) else { return };
        if let Some(place) = place {
            self.define_method(place.method);
        }
        let method = place.and_then(|place| self.agent.methods.get(place.method));
        let line = place.filter(|place| place.line > 0).map(|place| i64::from(place.line));
        let element = AllocCount {
            is_array: class.array,
            class: class.id,
            method: method.map(|method| method.id),
            line,
            instances: count.totals.instances,
            bytes: count.totals.bytes,
            source: count.by_the_vm.then_some(CountSource::Vm),
            allocated_bytes,
            time,
        };
        self.text.emit(|out| element.write(out));
    }
}
