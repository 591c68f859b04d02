//! The histogram of a dump is the JVM's own, object by object and byte by byte.

use std::collections::BTreeMap;

use analysis::heap_dump::Graph;
use bci_tests::histogram::{Histogram, Which, family};
use bci_tests::jdk::{self, Jdk};
use bci_tests::programs::{self, Program};
use bci_tests::suite::Suite;
use trace::names;

use crate::support::{dumped_by_the_jvm, read};

/// Each program on one JDK or two, so that every JDK has its turn.
pub(crate) fn tests(suite: &mut Suite) {
    for (program, feature, name, flag) in [
        (programs::clojure(), 11, "usual", None),
        (programs::clojure(), 21, "parallel", Some("-XX:+UseParallelGC")),
        (programs::ecj(), 17, "without_compressed_pointers", Some("-XX:-UseCompressedOops")),
        (programs::hsqldb(), 17, "serial", Some("-XX:+UseSerialGC")),
        (programs::hsqldb(), 25, "compact_headers", Some("-XX:+UseCompactObjectHeaders")),
        (programs::ecj(), 25, "zgc", Some("-XX:+UseZGC")),
    ] {
        let name = format!("histogram::is_the_jvms::jdk{feature}::{}::{name}", program.name);
        match (program.missing(), jdk::of(feature)) {
            (Some(reason), _) => suite.skip(name, reason),
            (None, None) => suite.skip(name, &format!("no JDK {feature}")),
            (None, Some(jdk)) => suite.add(name, move || is_the_jvms(program, jdk, flag)),
        }
    }
}

pub(crate) type Counts = BTreeMap<String, (u64, u64)>;

/// Space that G1 fills with an array is one of `int` to a dump, and of another class to the JVM from JDK 21 on.
fn name(class: &str) -> String {
    match class {
        "[Ljdk.internal.vm.FillerElement;" => "int[]".to_owned(),
        class if class.starts_with('[') => family(&names::class_name(&class.replace('.', "/"))).to_owned(),
        class => family(class).to_owned(),
    }
}

fn counts<'a>(classes: impl Iterator<Item = (String, &'a (u64, u64))>) -> Counts {
    let mut counts = Counts::new();
    for (class, &(instances, bytes)) in classes {
        let sum = counts.entry(class).or_default();
        sum.0 += instances;
        sum.1 += bytes;
    }
    counts
}

pub(crate) fn by_jvm(jdk: &Jdk, pid: u32) -> Counts {
    let histogram = Histogram::of(jdk, pid, Which::Living);
    counts(histogram.classes.iter().map(|(class, count)| (name(class), count)))
}

fn by_dump(graph: &Graph) -> Counts {
    let mut counts = Counts::new();
    for object in graph.objects() {
        let sum = counts.entry(family(graph.class_name(object)).to_owned()).or_default();
        sum.0 += 1;
        sum.1 += graph.shallow(object);
    }
    counts
}

/// Space that nothing uses differs from collection to collection.
fn without_filling(mut counts: Counts) -> Counts {
    counts.remove("int[]");
    counts
}

fn is_the_jvms(program: Program, jdk: &Jdk, flag: Option<&str>) {
    let profiled = program.behind(&["hold.Main"], jdk).without_agent().flags(&["-Xmx512m"]);
    let folder = profiled.dir().to_owned();
    let mut running = profiled.flags(flag.as_slice()).in_folder(&folder).start();
    running.wait_for("held");
    let file = folder.join("heap.hprof");
    // Cleaners may still be at work: what is compared has to be the same before and after.
    let mut last = by_jvm(jdk, running.pid());
    for _ in 0..10 {
        let _ = std::fs::remove_file(&file);
        dumped_by_the_jvm(jdk, running.pid(), &file);
        let now = by_jvm(jdk, running.pid());
        if without_filling(now.clone()) == without_filling(last) {
            running.send("");
            let loaded = read(&file).1;
            assert_eq!(by_dump(&loaded.graph).keys().collect::<Vec<_>>(), now.keys().collect::<Vec<_>>());
            return compare(now, &loaded.graph);
        }
        last = now;
    }
    panic!("the heap does not come to rest");
}

#[track_caller]
pub(crate) fn compare(jvm: Counts, graph: &Graph) {
    let found = by_dump(graph);
    assert!(found.len() > 200 && graph.len() > 10_000, "only {} objects", graph.len());
    let mut different = Vec::new();
    let missing = graph.problems().dangling + graph.problems().unknown_roots;
    for (class, &expected) in &jvm {
        let ours = found.get(class).copied().unwrap_or_default();
        // Some JDKs leave out of their dumps the class objects of classes that are not linked yet; roots and references lead to them.
        let left_out = class == "java.lang.Class" && ours.0 < expected.0 && expected.0 - ours.0 <= missing;
        if class != "int[]" && expected != ours && !left_out {
            different.push(format!("{class}: the JVM says {expected:?} (instances, bytes), the dump {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
