//! The VM's own counters, as they change.

use std::collections::BTreeMap;

use hotspot::perf_counters::{PerfCounter, PerfCounters};

/// What is recorded: how these names begin, and end.
const RECORDED: [(&str, &str); 11] = [
    ("sun.cls.", ""),
    ("java.cls.", ""),
    ("java.ci.", ""),
    ("sun.ci.", ""),
    ("sun.classloader.", ""),
    ("sun.urlClassLoader.", ""),
    ("sun.zip.", ""),
    ("sun.rt.safepoint", ""),
    ("sun.rt.createVm", ""),
    ("sun.gc.collector.", ".time"),
    ("sun.gc.collector.", ".invocations"),
];

/// A counter, and what it was when it was written last.
struct Known {
    name: Box<str>,
    counter: PerfCounter,
    written: u64,
}

/// Those that are recorded.
pub(super) struct Counters {
    all: PerfCounters,
    known: Vec<Known>,
    /// How many the VM had when they were looked up.
    found: usize,
}

impl Counters {
    pub(super) fn new(all: PerfCounters) -> Counters {
        Counters { all, known: Vec::new(), found: 0 }
    }

    /// Looks for those that the VM has made since.
    fn find(&mut self) {
        let number = self.all.number();
        if number == self.found {
            return;
        }
        self.found = number;
        let known = &mut self.known;
        self.all.each(|name, counter| {
            let is_recorded = RECORDED.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end));
            if is_recorded && !known.iter().any(|known| known.counter == counter) {
                known.push(Known { name: name.into(), counter, written: 0 });
            }
        });
    }

    /// Those that have changed since the last call. What never was anything but 0 is left out.
    pub(super) fn changed(&mut self) -> BTreeMap<Box<str>, u64> {
        self.find();
        let changed = self.known.iter_mut().filter_map(|known| {
            let now = known.counter.value();
            let before = std::mem::replace(&mut known.written, now);
            (before != now).then(|| (known.name.clone(), now))
        });
        changed.collect()
    }
}
