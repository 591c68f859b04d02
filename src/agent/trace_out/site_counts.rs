//! Writes what `heap=counts` has counted, so far or in all.

use trace::model::{AllocCount, CountSource, LiveCount, Record};
use trace::time::Time;

use super::writer::Writer;
use crate::agent::clock::Ticks;
use crate::agent::counts::{AllocationSite, Counts, CountsSnapshot, Estimate, SiteCount, Totals};
use crate::agent::heap_histogram::ClassTotals;
use crate::agent::ids::ClassIndex;

impl Writer {
    /// Writes what was counted so far, if there is a new snapshot.
    pub(super) fn snapshot(&mut self) {
        let Some(counts) = self.features.counts else { return };
        let Some(CountsSnapshot { time: ticks, threads, live }) = counts.take_snapshot() else { return };
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
        let (sites, nameless) = counts.sites();
        let mut estimated = counts.estimate.as_ref().map(Estimate::found);
        for mut site in sites {
            // What the VM makes the JIT cannot remove.
            let allocated =
                estimated.as_mut().map(|found| if site.by_vm { site.totals.bytes } else { found.take(site.site) });
            if self.site_counts.is_new(&mut site, allocated) {
                self.site_count(&site, allocated, time);
            }
        }
        self.site_counts.estimate_unmatched = estimated.map_or(0, |found| found.rest());
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

    fn site_count(&mut self, count: &SiteCount, allocated_bytes: Option<u64>, time: Time) {
        let AllocationSite { class, location } = count.site;
        self.define_class(class);
        let Some(class) = self.core.jvm.classes.get(class) else { return };
        if let Some(location) = location {
            self.define_method(location.method);
        }
        let method = location.and_then(|location| self.core.jvm.methods.get(location.method));
        let line = location.filter(|location| location.line > 0).map(|location| i64::from(location.line));
        let element = AllocCount {
            is_array: class.array,
            class: class.id,
            method: method.map(|method| method.id),
            line,
            instances: count.totals.instances,
            bytes: count.totals.bytes,
            source: count.by_vm.then_some(CountSource::Vm),
            allocated_bytes,
            time,
        };
        self.text.emit(|out| element.write(out));
    }
}
