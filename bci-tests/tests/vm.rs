//! Every allocation is told, whoever makes it: what C2 would remove, what its intrinsics make, and what the VM makes itself.

use std::path::Path;

use bci_tests::counted::{Counted, Markers};
use bci_tests::java;
use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::martini;
use bci_tests::process;
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;

/// What the program makes under these options, read that way.
fn run<T>(jdk: &Jdk, flags: &[&str], options: &str, read: impl FnOnce(&Path) -> T) -> T {
    let dir = Workdir::new();
    let file = dir.join("removed.trcxml");
    let agent = martini::built().agent_path(&format!("file={},{options}", file.display()));
    process::run(&mut java::with_agent(jdk, flags, Some(agent), "removed.Main", &[])).success();
    schema::check(&file, Schema::Strict);
    schema::validate(&file);
    read(&file)
}

/// 200,000 of each kind, some with one more to copy from, interpreted first and compiled by C2 in the end.
#[test]
fn what_the_jit_would_remove_or_make_itself() {
    for jdk in jdk::each_feature() {
        for options in ["heap=events", "heap=events,include=*", "heap=events,lifetimes=false,include=*"] {
            let trace = run(jdk, &[], options, Recorded::read);
            let counts = trace.by_class();
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
                assert_eq!(counts.get(class).copied(), Some(expected), "JDK {jdk}, {options}: {class}");
            }
            // The JVM makes some of these on its own account.
            for class in ["short[]", "java.lang.Long", "java.lang.StringBuilder"] {
                let count = counts.get(class).copied().unwrap_or_default();
                assert!((200_000..200_500).contains(&count), "JDK {jdk}, {options}: {count} of {class}");
            }
        }
    }
}

/// The sum of what is reported is the sum of what the JVM accounts. Before JDK 17 the VM's own event has a hole, which the hooks
/// of `heap=events` close.
#[test]
fn the_sum_is_what_the_jvm_accounts() {
    for jdk in jdk::each_feature() {
        for collector in Collector::ALL.into_iter().filter(|&collector| jdk.supports(collector)) {
            for options in ["heap=events", "heap=vm"] {
                if jdk.feature < 17 && options == "heap=vm" {
                    continue;
                }
                let markers = Markers { begin: "", end: "" };
                let trace = run(jdk, collector.flags(), options, |file| Counted::read(file, markers));
                let sum = |wanted: &str| {
                    let found = trace.counts.iter().find(|((key, _), _)| key == wanted);
                    found.map(|(_, value)| *value as f64).expect("the trace ends with its accounts")
                };
                let exactness = sum("coverage.reported") / sum("coverage.accounted");
                assert!((0.999..=1.001).contains(&exactness), "JDK {jdk}, {collector:?}, {options}: {exactness}");
            }
        }
    }
}
