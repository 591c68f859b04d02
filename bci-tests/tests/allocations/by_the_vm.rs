//! `heap=counts` counts what the VM makes by itself while it loads classes. In most programs these are less than a hundredth of all
//! bytes, which no other test would miss; so this program makes the VM allocate 96 to 256 KB for each of these reasons.

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

/// Bytes that may be missing, for what the VM makes while it starts any program. 7 to 28 KB are, on JDK 11 to 25; if one of the reasons
/// were not counted, it would be 105 to 292 KB.
const NOT_COUNTED: u64 = 40_000;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(
        &[
            ("strings_of_static_initialisers", "initialisers"),
            ("strings_of_static_fields", "fields"),
            ("arrays_for_constants", "links"),
            ("arguments_to_resolve_method_handles", "handles"),
        ],
        objects_that_the_vm_makes_for_classes_are_counted,
    );
}

fn objects_that_the_vm_makes_for_classes_are_counted(jdk: &Jdk, reason: &str) {
    // What C2 removed would be counted all the same, and hide what is missing.
    let profiled = Profiled::on(jdk).heap(Heap::Counts).flags(&["-XX:-DoEscapeAnalysis"]);
    let trace = profiled.main("bythevm.Main").args(&[reason]).run_and_read::<Counted>().trace;
    let (missing, excess) = (trace.count("coverage.missing"), trace.count("coverage.excess"));
    assert!(missing <= NOT_COUNTED && excess == 0, "{missing} bytes missing, {excess} too many");
}
