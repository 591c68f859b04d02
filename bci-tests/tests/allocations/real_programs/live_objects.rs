//! The live objects of a trace against those of the JVM's own histogram.

use std::collections::{BTreeMap, BTreeSet};

use bci_tests::histogram::{Histogram, family};
use bci_tests::recorded::Recorded;

/// Packages of the class library. What it keeps is not compared: it was there before the first event.
const LIBRARY: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Each difference, over the classes of the program: all but those of the class library, and those of `packages`.
///
/// Arrays are left out: those that HotSpot's intrinsics make are not recorded.
pub(super) fn differences(counted: &Histogram, trace: &Recorded, packages: &[&str]) -> Vec<String> {
    let own = |class: &str| {
        let begins_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
        let array = class.starts_with('[') || class.ends_with("[]");
        !array && (!begins_with(&LIBRARY) || begins_with(packages))
    };
    let mut recorded: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for object in trace.objects.iter().filter(|object| object.freed.is_none()) {
        let sum = recorded.entry(family(&trace.names[object.class])).or_default();
        sum.0 += 1;
        sum.1 += object.size;
    }
    let names = recorded.keys().copied().chain(counted.classes.keys().map(String::as_str));
    let names: BTreeSet<&str> = names.filter(|class| own(class)).collect();
    assert!(names.len() >= 5, "only {} classes of the program are alive", names.len());
    let mut differences = Vec::new();
    for class in names {
        let counted = counted.classes.get(class).copied().unwrap_or_default();
        let found = recorded.get(class).copied().unwrap_or_default();
        if found != counted {
            differences.push(format!("{class}: jmap counts {counted:?} (instances, bytes), the trace {found:?}"));
        }
    }
    differences
}
