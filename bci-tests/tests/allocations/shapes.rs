//! A million objects of known number over many shapes: the trace holds exactly these, on every JDK, with every
//! collector, interpreted and compiled.

use std::collections::BTreeMap;

use bci_tests::histogram::{Histogram, Which, family};
use bci_tests::jdk::{Collector, Jdk, Mode};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::windows::{self, Window};

/// Rounds of each shape on the main thread: a million objects in all.
const MILLION: &str = "10200";
/// Rounds for combinations beyond the main ones.
const FEW: &str = "2500";
/// Rounds on each other thread.
const OTHERS: &str = "300";

pub(crate) fn tests(suite: &mut Suite) {
    use Collector::{G1, Parallel, Serial, Shenandoah, Z};
    let million = [
        ("serial_interpreted", Serial, Mode::Interpreted),
        ("parallel_c1", Parallel, Mode::C1),
        ("g1", G1, Mode::Default),
        ("zgc", Z, Mode::Default),
    ];
    suite.jdks(..).each_with(&million, a_million);
    let few = [
        ("serial", Serial, Mode::Default),
        ("parallel", Parallel, Mode::Default),
        ("shenandoah", Shenandoah, Mode::Default),
        ("g1_interpreted", G1, Mode::Interpreted),
        ("parallel_interpreted", Parallel, Mode::Interpreted),
        ("zgc_interpreted", Z, Mode::Interpreted),
    ];
    suite.jdks(..).each_with(&few, some_hundred_thousand);
    suite.each_jdk_and(
        &[
            // Sites and stacks change the inserted code and the records, not the numbers.
            ("sites_and_stacks", "allocsites=true,stack=8"),
            // Without lifetimes no object is tagged.
            ("without_lifetimes", "lifetimes=false"),
        ],
        the_same_with,
    );
    suite.each_jdk(the_same_under_full_verification_and_by_both_schemas);
    suite.each_jdk(the_program_counts_right);
}

/// Runs the program; its trace has what it printed, which has `objects` at least.
#[track_caller]
fn check(profiled: Profiled<'_>, jdk: &Jdk, rounds: [&str; 2], objects: u64) -> Vec<Window> {
    let ran = profiled.heap(Heap::Events).main("shapes.Main").args(&rounds).run_and_read::<Recorded>();
    let expected = windows::printed(&ran.out());
    let threads = 3 + usize::from(jdk.feature >= 21) + usize::from(jdk.feature >= 25);
    assert!(expected.len() >= threads * 30, "only {} windows", expected.len());
    let differences = windows::differences(&expected, &ran.trace);
    let shown: Vec<&str> = differences.iter().take(40).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), shown.join("\n"));
    let made: u64 = expected.iter().flat_map(|w| w.expected.values()).map(|amount| amount.count).sum();
    assert!(made >= objects, "only {made} objects");
    expected
}

/// A JVM with room for all of them, and a trace that nobody checks against a schema element by element.
fn large(jdk: &Jdk, collector: Collector, mode: Mode) -> Profiled<'_> {
    Profiled::on(jdk).flags(&["-Xmx1g"]).collector(collector).mode(mode).no_schema()
}

fn a_million(jdk: &Jdk, collector: Collector, mode: Mode) {
    check(large(jdk, collector, mode), jdk, [MILLION, OTHERS], 1_000_000);
}

fn some_hundred_thousand(jdk: &Jdk, collector: Collector, mode: Mode) {
    check(large(jdk, collector, mode), jdk, [FEW, OTHERS], 200_000);
}

fn the_same_with(jdk: &Jdk, options: &str) {
    check(large(jdk, Collector::G1, Mode::Default).options(options), jdk, [FEW, OTHERS], 200_000);
}

/// What the agent makes of the classes passes the strictest verification that a JVM has.
fn the_same_under_full_verification_and_by_both_schemas(jdk: &Jdk) {
    let flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"];
    let profiled = Profiled::on(jdk).flags(&flags).options("allocsites=true,stack=4").both_schemas();
    check(profiled, jdk, ["500", "100"], 30_000);
}

/// The numbers of the program itself, against the JVM's: nothing is collected, so every object ever made is in the heap.
/// What is not measured (warming up, printing) is the same in both runs and falls out of the difference.
fn the_program_counts_right(jdk: &Jdk) {
    let seen = ["200", "400"].map(|rounds| {
        let flags = ["-Xint", "-XX:+UseSerialGC", "-Xms1600m", "-Xmx1600m", "-Xmn1400m"];
        let bare = Profiled::on(jdk).without_agent().flags(&flags);
        let mut running = bare.main("hold.Main").args(&["shapes.Main", rounds, rounds]).start();
        running.wait_for("held");
        let histogram = Histogram::of(jdk, running.pid(), Which::All);
        running.send("");
        let out = running.finish().out();
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for window in windows::printed(out.strip_suffix("held\n").expect("waited for above")) {
            for (class, amount) in window.expected {
                if class.starts_with("shapes.") && !class.ends_with("[]") {
                    *counted.entry(family(&class).to_owned()).or_default() += amount.count;
                }
            }
        }
        (counted, histogram)
    });
    let [(few, heap_few), (many, heap_many)] = &seen;
    assert!(many.len() > 40, "only {} classes", many.len());
    for (class, count) in many {
        let in_heap = heap_many.instances(class) - heap_few.instances(class);
        assert_eq!(count - few[class], in_heap, "{class}");
    }
}
