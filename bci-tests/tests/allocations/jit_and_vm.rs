//! Every allocation is reported, whoever makes it: what C2 would remove, what its intrinsics make, and what the VM makes itself.

use bci_tests::counted::Counted;
use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(
        &[
            ("unfiltered", "heap=events"),
            ("filtered", "heap=events,include=*"),
            ("without_lifetimes", "heap=events,lifetimes=false,include=*"),
        ],
        what_the_jit_would_remove_or_make_itself,
    );
    suite.each_jdk_and_collector(the_sum_of_events_is_what_the_jvm_accounts);
    // Before JDK 17 the VM's own event has a hole, which the hooks of `heap=events` close.
    suite.jdks(17..).each_and_collector(the_sum_of_the_vms_events_is_what_the_jvm_accounts);
}

/// 200,000 of each kind, some with one more to copy from, interpreted first and compiled by C2 in the end.
fn what_the_jit_would_remove_or_make_itself(jdk: &Jdk, options: &str) {
    let ran = Profiled::on(jdk).options(options).main("removed.Main").run_and_read::<Recorded>();
    let counts = ran.trace.by_class();
    for (class, expected) in [
        ("removed.Main$Plain", 200_000),
        ("removed.Main$Copied", 200_001),
        ("removed.Main$Element[]", 200_001),
        ("removed.Main$Reflected[]", 200_000),
        ("removed.Main$Many", 200_000),
        ("float[]", 200_001),
        ("double[][]", 200_000),
        ("double[]", 400_000),
    ] {
        assert_eq!(counts.get(class).copied(), Some(expected), "{class}");
    }
    // The JVM makes some of these on its own account.
    for class in ["short[]", "java.lang.Long", "java.lang.StringBuilder"] {
        let count = counts.get(class).copied().unwrap_or_default();
        assert!((200_000..200_500).contains(&count), "{count} of {class}");
    }
}

fn the_sum_of_events_is_what_the_jvm_accounts(jdk: &Jdk, collector: Collector) {
    check_sum(jdk, collector, Heap::Events);
}

fn the_sum_of_the_vms_events_is_what_the_jvm_accounts(jdk: &Jdk, collector: Collector) {
    check_sum(jdk, collector, Heap::Vm);
}

#[track_caller]
fn check_sum(jdk: &Jdk, collector: Collector, heap: Heap) {
    let profiled = Profiled::on(jdk).heap(heap).collector(collector).main("removed.Main");
    let trace = profiled.run_and_read::<Counted>().trace;
    let exactness = trace.sum("coverage.reported") as f64 / trace.sum("coverage.accounted") as f64;
    assert!((0.999..=1.001).contains(&exactness), "{exactness}");
}
