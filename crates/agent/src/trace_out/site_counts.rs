//! Writes what `heap=counts` has counted, so far or in all.

use trace::ids::{ClassId, MethodId};
use trace::model::{AllocCount, ArrayCode, CountSource, LiveCount, Record};
use trace::time::Time;

use super::writer::Writer;
use crate::counts::{Counts, CountsSnapshot, SiteCount, Totals};
use crate::heap_histogram::ClassTotals;
use agent_base::clock::Ticks;
use agent_base::ids::{AllocationSite, ClassIndex};

impl Writer {
    /// Writes what was counted at each snapshot until a time, behind the events before it.
    pub(super) fn snapshots(&mut self, until: Ticks) {
        while let Some(snapshot) = self.features.counts.and_then(|counts| counts.take_snapshot(until)) {
            self.merge(snapshot.time);
            self.snapshot(snapshot);
        }
    }

    fn snapshot(&mut self, CountsSnapshot { time: ticks, threads, sites, live }: CountsSnapshot) {
        // What comes every second is not to end a limited trace: the rest is for requests, and for the end.
        if live.is_none() && self.text.is_half_full() {
            return;
        }
        for (thread, Totals { instances, bytes }, vm_bytes) in threads {
            self.tallies.set(thread, instances, bytes);
            self.account(thread, ticks, vm_bytes);
        }
        let time = self.time(ticks);
        for mut site in sites {
            self.site_counts.settle(&mut site);
            self.new_site_count(&mut site, time);
        }
        self.changed_samples(time);
        self.live_counts(live.unwrap_or_default(), ticks);
    }

    /// Writes what sites have counted since it was written last; the program counts no more. Returns the number of objects whose site is
    /// not known.
    pub(super) fn last_site_counts(&mut self, counts: &Counts, time: Time) -> u64 {
        let (sites, nameless) = counts.sites();
        for mut site in sites {
            self.new_site_count(&mut site, time);
        }
        self.changed_samples(time);
        nameless
    }

    fn new_site_count(&mut self, site: &mut SiteCount, time: Time) {
        if self.site_counts.is_new(site) {
            self.site_count(site, time);
        }
    }

    fn changed_samples(&mut self, time: Time) {
        if let Some(sampler) = self.features.sampler {
            self.samples(sampler.changed(), time);
        }
    }

    /// Writes what a walk of the heap found.
    pub(super) fn live_counts(&mut self, found: impl IntoIterator<Item = (ClassIndex, ClassTotals)>, ticks: Ticks) {
        let time = self.time(ticks);
        for (class, living) in found {
            self.live_count(class, living, time);
        }
    }

    fn live_count(&mut self, class: ClassIndex, living: ClassTotals, time: Time) {
        self.define_class(class);
        let Some(record) = self.core.jvm.classes.get(class) else { return };
        let ClassTotals { instances, bytes } = living;
        let element = LiveCount { is_array: record.array, class: record.id, instances, bytes, time };
        self.text.emit(|out| element.write(out));
    }

    fn site_count(&mut self, count: &SiteCount, time: Time) {
        let Some(DefinedSite { is_array, class, method, line }) = self.define_site(count.site) else { return };
        let element = AllocCount {
            is_array,
            class,
            method,
            line,
            instances: count.totals.instances,
            bytes: count.totals.bytes,
            source: count.by_vm.then_some(CountSource::Vm),
            allocated_bytes: None,
            time,
        };
        self.text.emit(|out| element.write(out));
    }

    /// Defines what a site refers to.
    pub(super) fn define_site(&mut self, site: AllocationSite) -> Option<DefinedSite> {
        let AllocationSite { class, location } = site;
        self.define_class(class);
        let class = self.core.jvm.classes.get(class)?;
        if let Some(location) = location {
            self.define_method(location.method);
        }
        let method = location.and_then(|location| self.core.jvm.methods.get(location.method));
        let line = location.filter(|location| location.line > 0).map(|location| i64::from(location.line));
        Some(DefinedSite { is_array: class.array, class: class.id, method: method.map(|method| method.id), line })
    }
}

/// A site as elements name it.
pub(super) struct DefinedSite {
    pub(super) is_array: ArrayCode,
    pub(super) class: ClassId,
    pub(super) method: Option<MethodId>,
    pub(super) line: Option<i64>,
}
