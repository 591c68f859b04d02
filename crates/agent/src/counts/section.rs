//! Writes what `heap=counts` has counted, so far or in all.

use std::collections::VecDeque;

use trace::model::{AllocCount, CountSource, Record};
use trace::time::Time;

use super::feature::Counts;
use super::report::SiteCount;
use super::snapshot::CountsSnapshot;
use super::sums::Totals;
use super::written::SiteCounts;
use crate::heap_histogram;
use crate::sampling::{self, Sampler};
use agent_base::clock::Ticks;
use agent_trace::{Count, DefinedSite, Document, Section, Unread};

/// Writes what sites have counted.
struct CountsSection {
    counts: &'static Counts,
    /// Samples callers beside.
    sampler: Option<&'static Sampler>,
    snapshots: VecDeque<CountsSnapshot>,
    written: SiteCounts,
}

impl Section for CountsSection {
    fn ready(&mut self, horizon: Ticks) -> Vec<Ticks> {
        let new: Vec<CountsSnapshot> = std::iter::from_fn(|| self.counts.take_snapshot(horizon)).collect();
        let times = new.iter().map(|snapshot| snapshot.time).collect();
        self.snapshots.extend(new);
        times
    }

    fn insert(&mut self, document: &mut Document, _: Unread<'_>) {
        let Some(CountsSnapshot { time: ticks, threads, sites, live }) = self.snapshots.pop_front() else { return };
        // What comes every second is not to end a limited trace: the rest is for requests, and for the end.
        if live.is_none() && document.is_half_full() {
            return;
        }
        for (thread, Totals { instances, bytes }, vm_bytes) in threads {
            document.counted(thread, instances, bytes, ticks, vm_bytes);
        }
        let time = document.time(ticks);
        for mut site in sites {
            self.written.settle(&mut site);
            self.site(document, &mut site, time);
        }
        self.samples(document, time);
        heap_histogram::write(document, live.unwrap_or_default(), ticks);
    }

    /// Writes what sites have counted since it was written last; the program counts no more.
    fn sums(&mut self, document: &mut Document, time: Time) {
        let (sites, nameless) = self.counts.sites();
        for mut site in sites {
            self.site(document, &mut site, time);
        }
        self.samples(document, time);
        document.core.count_lost("site not found", nameless);
    }

    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        vec![("counters", None, self.counts.counters()), ("counters.bytes", None, self.counts.memory())]
    }
}

impl Counts {
    /// What it writes into the trace, with the samples of callers if there are any.
    pub(crate) fn section(&'static self, sampler: Option<&'static Sampler>) -> Box<dyn Section> {
        let (snapshots, written) = Default::default();
        Box::new(CountsSection { counts: self, sampler, snapshots, written })
    }
}

impl CountsSection {
    /// Writes what a site has counted, if that is new.
    fn site(&mut self, document: &mut Document, site: &mut SiteCount, time: Time) {
        if self.written.is_new(site) {
            write(document, site, time);
        }
    }

    fn samples(&self, document: &mut Document, time: Time) {
        if let Some(sampler) = self.sampler {
            sampling::write(document, sampler.changed(), time);
        }
    }
}

fn write(document: &mut Document, count: &SiteCount, time: Time) {
    let Some(DefinedSite { is_array, class, method, line }) = document.define_site(count.site) else { return };
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
    document.emit(|out| element.write(out));
}
