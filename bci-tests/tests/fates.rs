//! `heap=counts`: exact numbers for classes that are unloaded, sites that fail, and classes that never get ready.

use std::collections::BTreeMap;

use bci_tests::counted::{Counted, Markers};
use bci_tests::jdk;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};

const NO_MARKERS: Markers = Markers { begin: "", end: "" };

/// The site of this class may run for the first time just before the class that has it is unloaded.
const LATE: &str = "fates.Plugin$Late";

#[test]
fn what_comes_and_goes_and_what_fails_is_counted_exactly() {
    for jdk in jdk::each_feature() {
        for flags in [&["-XX:+UseSerialGC", "-Xmx64m"][..], &["-XX:+UseG1GC", "-Xmx64m"], &["-Xint", "-Xmx64m"]] {
            let dir = Workdir::new();
            let file = dir.join("fates.trcxml");
            let agent = martini::built().agent_path(&format!("heap=counts,file={}", file.display()));
            let run = process::run(&mut java::with_agent(jdk, flags, Some(agent), "fates.Main", &[])).success();
            let place = format!("JDK {jdk} {flags:?}");
            let trace = Counted::read(&file, NO_MARKERS);
            assert!(trace.complete, "{place}");

            let said = run.out();
            let mut made: BTreeMap<&str, u64> = said
                .lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(class, number)| (class, number.parse().expect("a number")))
                .collect();
            assert_eq!(made.remove("failed"), Some(3 * 5 + 50), "{place}");
            assert_eq!(made.len(), 6, "{place}: {made:?}");
            let counted = |class: &str| {
                // Reflection makes the plugins, by the VM at first.
                let of_class = trace.sites.iter().filter(|(site, _)| site.class == class);
                of_class.map(|(_, sum)| sum.instances).sum::<u64>()
            };
            let unknown = trace.counts.get(&("events.lost".into(), "site not found".into())).copied().unwrap_or(0);
            for (class, number) in made {
                let unknown = if class == LATE { unknown } else { 0 };
                assert_eq!(counted(class) + unknown, number, "{place}: {class}, {unknown} unknown");
            }
            assert_eq!(counted("fates.Main$Broken"), 0, "{place}");
        }
    }
}
