//! `heap=counts`: exact numbers for classes that are unloaded, sites that fail, and classes that never get ready.

use std::collections::BTreeMap;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

/// The site of this class may run for the first time just before the class that has it is unloaded.
const LATE: &str = "fates.Plugin$Late";

pub(crate) fn tests(suite: &mut Suite) {
    let ways = [("serial", "-XX:+UseSerialGC"), ("g1", "-XX:+UseG1GC"), ("interpreted", "-Xint")];
    suite.each_jdk_and(&ways, unloaded_failing_and_unprepared_classes_are_counted_exactly);
}

fn unloaded_failing_and_unprepared_classes_are_counted_exactly(jdk: &Jdk, flag: &str) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).flags(&[flag, "-Xmx64m"]).main("fates.Main");
    let ran = profiled.run_and_read::<Counted>();
    let trace = &ran.trace;
    let out = ran.out();
    let mut made: BTreeMap<&str, u64> = out
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(class, number)| (class, number.parse().expect("a number")))
        .collect();
    assert_eq!(made.remove("failed"), Some(3 * 5 + 50));
    assert_eq!(made.len(), 6, "{made:?}");
    let counted = |class: &str| {
        // Reflection makes the plugins, by the VM at first.
        let of_class = trace.sites.iter().filter(|(site, _)| site.class == class);
        of_class.map(|(_, sum)| sum.instances).sum::<u64>()
    };
    let unknown = trace.counts.get(&("events.lost".into(), "site not found".into())).copied().unwrap_or(0);
    for (class, number) in made {
        let unknown = if class == LATE { unknown } else { 0 };
        assert_eq!(counted(class) + unknown, number, "{class}, {unknown} unknown");
    }
    assert_eq!(counted("fates.Main$Broken"), 0);
}
