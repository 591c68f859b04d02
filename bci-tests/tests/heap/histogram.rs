//! The histogram of a dump is the JVM's own, object by object and byte by byte.

use std::collections::BTreeMap;

use analysis::heap_dump::Graph;
use bci_tests::histogram::{Histogram, Which, family};
use bci_tests::jdk::{self, Jdk};
use bci_tests::process::Running;
use bci_tests::workdir::Workdir;
use trace::names;

use crate::{CLOJURE, ECJ, HSQLDB, Program, command, dump, read};

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

#[track_caller]
fn check(program: &Program, jdk: &Jdk, flags: &[&str]) {
    let place = format!("{} on JDK {jdk} {flags:?}", program.main_class);
    let dir = Workdir::new();
    let Some(mut command) = command(program, jdk, flags, &["hold.Main"], dir.path()) else { return };
    let mut running = Running::start(&mut command);
    running.wait_for("held");
    let file = dir.join("heap.hprof");
    // Cleaners may still be at work: what is compared has to be the same before and after.
    let mut last = by_jvm(jdk, running.pid());
    for _ in 0..10 {
        dump(jdk, running.pid(), &file);
        let now = by_jvm(jdk, running.pid());
        if without_filling(now.clone()) == without_filling(last) {
            running.tell("");
            let loaded = read(&file).1;
            assert_eq!(by_dump(&loaded.graph).keys().collect::<Vec<_>>(), now.keys().collect::<Vec<_>>(), "{place}");
            return compare(&place, now, &loaded.graph);
        }
        last = now;
    }
    panic!("{place}: the heap does not come to rest");
}

#[track_caller]
pub(crate) fn compare(place: &str, jvm: Counts, graph: &Graph) {
    let found = by_dump(graph);
    assert!(found.len() > 200 && graph.len() > 10_000, "{place}: only {} objects", graph.len());
    let mut different = Vec::new();
    let missing = graph.problems().dangling + graph.problems().unknown_roots;
    for (class, &expected) in &jvm {
        let told = found.get(class).copied().unwrap_or_default();
        // Some JDKs leave out of their dumps the class objects of classes that are not linked yet; roots and references lead to them.
        let left_out = class == "java.lang.Class" && told.0 < expected.0 && expected.0 - told.0 <= missing;
        if class != "int[]" && expected != told && !left_out {
            different.push(format!("{class}: the JVM says {expected:?} (instances, bytes), the dump {told:?}"));
        }
    }
    assert!(different.is_empty(), "{place}\n{}", different.join("\n"));
}

/// Each program on one JDK or two, so that every JDK has its turn.
#[track_caller]
fn on(program: &Program, feature: u32, flags: &[&str]) {
    if let Some(jdk) = jdk::each_feature().into_iter().find(|jdk| jdk.feature == feature) {
        check(program, jdk, flags);
    }
}

#[test]
fn clojure_on_11_and_21() {
    on(&CLOJURE, 11, &[]);
    on(&CLOJURE, 21, &["-XX:+UseParallelGC"]);
}

#[test]
fn ecj_on_17_without_compressed_pointers() {
    on(&ECJ, 17, &["-XX:-UseCompressedOops"]);
}

#[test]
fn hsqldb_on_17_and_25() {
    on(&HSQLDB, 17, &["-XX:+UseSerialGC"]);
    on(&HSQLDB, 25, &["-XX:+UseCompactObjectHeaders"]);
}

#[test]
fn ecj_on_25_with_zgc() {
    on(&ECJ, 25, &["-XX:+UseZGC"]);
}
