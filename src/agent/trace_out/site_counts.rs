//! Writes what `heap=counts` has counted, so far or in all.

use trace::ids::{ClassId, MethodId};
use trace::model::{AllocCount, ArrayCode, CountSource, LiveCount, Record};
use trace::time::Time;

use super::writer::Writer;
use crate::agent::clock::Ticks;
use crate::agent::counts::{Counts, CountsSnapshot, SiteCount, Totals};
use crate::agent::heap_histogram::ClassTotals;
use crate::agent::ids::{AllocationSite, ClassIndex};

impl Writer {
    /// Writes what was counted so far, if there is a new snapshot.
    pub(super) fn snapshot(&mut self) {
        let Some(counts) = self.features.counts else { return };
        let Some(CountsSnapshot { time: ticks, threads, live }) = counts.take_snapshot() else { return };
        // What comes every second is not to end a limited trace: the rest is for requests, and for the end.
        if live.is_none() && self.text.is_half_full() {
            return;
        }
        for (thread, Totals { instances, bytes }, vm_bytes) in threads {
            self.tallies.set(thread, instances, bytes);
            self.account(thread, ticks, vm_bytes);
        }
        let time = self.time(ticks);
        self.all_site_counts(counts, time, false);
        self.live_counts(live.unwrap_or_default(), ticks);
    }

    /// Writes what sites have counted since it was written last, and returns the number of objects whose site is not known. `is_last`: the
    /// program counts no more.
    pub(super) fn all_site_counts(&mut self, counts: &Counts, time: Time, is_last: bool) -> u64 {
        let (sites, nameless) = counts.sites();
        for mut site in sites {
            if !is_last {
                self.site_counts.settle(&mut site);
            }
            if self.site_counts.is_new(&mut site) {
                self.site_count(&site, time);
            }
        }
        if let Some(sampler) = self.features.sampler {
            self.samples(sampler.changed(), time);
        }
        nameless
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
