//! The check that cumulative counts do not decrease.

use rustc_hash::FxHashMap;

use crate::ids::{ClassId, MethodId, StackId, ThreadId};
use crate::model::{CountSource, Element};

use super::{Findings, Rule};

/// What an `allocCount` counts for: class, method, line, source.
type Site = (ClassId, Option<MethodId>, Option<i64>, Option<CountSource>);

/// What an `allocSample` counts for, on one thread or none: class, method, line, stack.
type SampledSite = (ClassId, Option<MethodId>, Option<i64>, Option<StackId>);

/// The last counts of each site and each living thread.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    sites: FxHashMap<Site, [u64; 2]>,
    samples: FxHashMap<Option<ThreadId>, FxHashMap<SampledSite, [u64; 4]>>,
    threads: FxHashMap<ThreadId, [u64; 3]>,
    processors: FxHashMap<ThreadId, [u64; 2]>,
    safepoints: FxHashMap<Option<String>, [u64; 3]>,
}

impl Counts {
    /// Checks an element against the counts before it.
    pub(crate) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let is_less = match element {
            Element::AllocCount(e) => {
                let before = self.sites.entry((e.class, e.method, e.line, e.source)).or_default();
                decreases(before, [e.instances, e.bytes])
            }
            Element::AllocSample(e) => {
                let of_thread = self.samples.entry(e.thread).or_default();
                let before = of_thread.entry((e.class, e.method, e.line, e.stack)).or_default();
                decreases(before, [e.samples, e.instances, e.bytes, e.error])
            }
            Element::ThreadCount(e) => {
                let before = self.threads.entry(e.thread).or_default();
                // What the JVM did not say is no less than before.
                let vm_bytes = e.vm_bytes.unwrap_or(before[2]);
                decreases(before, [e.instances, e.bytes, vm_bytes])
            }
            Element::ThreadCpu(e) => {
                let before = self.processors.entry(e.thread).or_default();
                let queued = e.queued.map_or(before[1], |queued| queued.0);
                decreases(before, [e.cpu.0, queued])
            }
            Element::SafepointCount(e) => {
                let operation = e.operation.as_deref().map(str::to_owned);
                let before = self.safepoints.entry(operation).or_default();
                decreases(before, [e.count, e.sync.0, e.total.0])
            }
            Element::ThreadEnd(e) => {
                self.processors.remove(&e.thread);
                self.threads.remove(&e.thread);
                self.samples.remove(&Some(e.thread));
                return;
            }
            _ => return,
        };
        if is_less {
            findings.add(Rule::Counts, || format!("{} is less than one before it for the same", element.name()));
        }
    }
}

fn decreases<const N: usize>(before: &mut [u64; N], now: [u64; N]) -> bool {
    let is_less = before.iter().zip(&now).any(|(before, now)| now < before);
    *before = now;
    is_less
}
