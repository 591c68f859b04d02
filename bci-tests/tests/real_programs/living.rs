//! The live objects of a trace against those of the JVM's own histogram.

use std::collections::BTreeMap;

use bci_tests::histogram::{Histogram, family};
use bci_tests::recorded::Recorded;

/// Each difference, over the classes of the program itself: those of the class path and of `modules`.
///
/// Arrays are left out: those that HotSpot's intrinsics make are not recorded.
pub(crate) fn differences(counted: &Histogram, trace: &Recorded, modules: &[&str]) -> Vec<String> {
    let mut recorded: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for object in trace.objects.iter().filter(|object| object.freed.is_none()) {
        let sum = recorded.entry(family(&trace.names[object.class])).or_default();
        sum.0 += 1;
        sum.1 += object.size;
    }
    let mut differences = Vec::new();
    let mut compared = 0;
    for ((class, module), counted) in &counted.classes {
        let own = module.is_empty() || modules.contains(&module.as_str());
        let found = recorded.remove(class.as_str()).unwrap_or_default();
        if !own || class.starts_with('[') {
            continue;
        }
        compared += 1;
        if found != *counted {
            differences.push(format!("{class}: jmap counts {counted:?} (instances, bytes), the trace {found:?}"));
        }
    }
    // Of what is left jmap knows nothing: all of it should be dead.
    for (class, found) in recorded {
        if !class.ends_with("[]") {
            differences.push(format!("{class}: jmap counts none, the trace {found:?}"));
        }
    }
    if compared < 5 {
        differences.push(format!("only {compared} classes of the program are alive"));
    }
    differences
}
