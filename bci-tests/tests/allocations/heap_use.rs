//! How full the heap was after a collection.

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

const MIB: u64 = 1 << 20;
const LARGEST: u64 = 64 * MIB;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(is_known_after_collections);
}

/// Bytes used and bytes in all, after each collection.
#[derive(Default)]
struct Heaps(Vec<Option<(u64, u64)>>);

impl TraceData for Heaps {
    fn element(&mut self, element: &Element<'_>) {
        if let Element::GcFinish(finish) = element {
            self.0.push(finish.used_space.zip(finish.total_space));
        }
    }
}

/// The program drops 800 MB, and keeps nothing.
fn is_known_after_collections(jdk: &Jdk, collector: Collector) {
    let profiled = Profiled::on(jdk).collector(collector).heap(Heap::Counts).flags(&["-Xmx64m"]);
    let heaps = profiled.main("callers.Main").args(&["30000"]).run_and_read::<Heaps>().trace.0;
    let known: Vec<(u64, u64)> = heaps.iter().copied().flatten().collect();
    assert!(!known.is_empty() && known.len() * 4 > heaps.len(), "{} of {}", known.len(), heaps.len());
    assert!(known.iter().all(|&(used, total)| 0 < used && used <= total && total <= LARGEST), "{known:?}");
    assert!(known.iter().any(|&(used, _)| used < LARGEST / 2), "{known:?}");
}
