//! A million objects of known number over many shapes: the trace holds exactly these, on every JDK, with every
//! collector, interpreted and compiled.

use std::collections::BTreeMap;

use bci_tests::histogram::{Histogram, Which, family};
use bci_tests::java;
use bci_tests::jdk::{self, Collector, Jdk, Mode};
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::recorded::Recorded;
use bci_tests::say::say;
use bci_tests::schema::{self, Schema};
use bci_tests::windows;
use bci_tests::workdir::Workdir;

/// Rounds of each shape on the main thread: a million objects in all.
const MILLION: &str = "10200";
/// Rounds for combinations beyond the main ones.
const FEW: &str = "2500";
/// Rounds on each other thread.
const OTHERS: &str = "300";

#[track_caller]
fn check(jdk: &Jdk, collector: Collector, mode: Mode, rounds: &str, extra: &str) {
    let place = format!("JDK {jdk}, {collector:?}, {mode:?}");
    if !jdk.supports(collector) {
        say(&format!("{place}: this JVM has no such collector, nothing tested"));
        return;
    }
    let dir = Workdir::new();
    let file = dir.join("shapes.trcxml");
    let agent = martini::built().agent_path(&format!("heap=events,file={}{extra}", file.display()));
    let flags = [&["-Xmx1g"], collector.flags(), mode.flags()].concat();
    let args = [rounds, OTHERS];
    let ran = process::run(&mut java::with_agent(jdk, &flags, Some(agent), "shapes.Main", &args)).success();

    let expected = windows::printed(&ran.out());
    let threads = 3 + usize::from(jdk.feature >= 21) + usize::from(jdk.feature >= 25);
    assert!(expected.len() >= threads * 30, "{place}: only {} windows", expected.len());
    let trace = Recorded::read(&file);
    assert!(trace.complete, "{place}: the trace has no end");
    let differences = windows::differences(&expected, &trace);
    let shown: Vec<&str> = differences.iter().take(40).map(String::as_str).collect();
    assert!(differences.is_empty(), "{place}: {} differences\n{}", differences.len(), shown.join("\n"));
    if rounds == MILLION {
        let objects: u64 = expected.iter().flat_map(|w| w.expected.values()).map(|amount| amount.count).sum();
        assert!(objects >= 1_000_000, "{place}: only {objects} objects");
    }
}

fn on_each_jdk(collector: Collector, mode: Mode, rounds: &str) {
    for jdk in jdk::each_feature() {
        check(jdk, collector, mode, rounds, "");
    }
}

#[test]
fn a_million_serial_interpreted() {
    on_each_jdk(Collector::Serial, Mode::Interpreted, MILLION);
}

#[test]
fn a_million_parallel_c1() {
    on_each_jdk(Collector::Parallel, Mode::C1, MILLION);
}

#[test]
fn a_million_g1_compiled() {
    on_each_jdk(Collector::G1, Mode::Default, MILLION);
}

#[test]
fn a_million_z_compiled() {
    on_each_jdk(Collector::Z, Mode::Default, MILLION);
}

#[test]
fn serial_compiled() {
    on_each_jdk(Collector::Serial, Mode::Default, FEW);
}

#[test]
fn parallel_compiled() {
    on_each_jdk(Collector::Parallel, Mode::Default, FEW);
}

#[test]
fn g1_interpreted() {
    on_each_jdk(Collector::G1, Mode::Interpreted, FEW);
}

#[test]
fn parallel_interpreted() {
    on_each_jdk(Collector::Parallel, Mode::Interpreted, FEW);
}

#[test]
fn z_interpreted() {
    on_each_jdk(Collector::Z, Mode::Interpreted, FEW);
}

/// Sites and stacks change the inserted code and the records, not the numbers.
#[test]
fn the_same_with_sites_and_stacks() {
    for jdk in jdk::each_feature() {
        check(jdk, Collector::G1, Mode::Default, FEW, ",allocsites=true,stack=8");
    }
}

/// Without lifetimes no object is tagged.
#[test]
fn the_same_without_lifetimes() {
    for jdk in jdk::each_feature() {
        check(jdk, Collector::G1, Mode::Default, FEW, ",lifetimes=false");
    }
}

/// What the agent makes of the classes passes the strictest verification that a JVM has.
#[test]
fn the_same_under_full_verification() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("verified.trcxml");
        let agent = martini::built().agent_path(&format!("file={},allocsites=true", file.display()));
        let flags =
            ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"];
        let ran = process::run(&mut java::with_agent(jdk, &flags, Some(agent), "shapes.Main", &["500", "100"]));
        let expected = windows::printed(&ran.success().out());
        let differences = windows::differences(&expected, &Recorded::read(&file));
        assert!(differences.is_empty(), "JDK {jdk}: {}", differences.join("\n"));
    }
}

/// The numbers of the program itself, against the JVM's: nothing is collected, so every object ever made is in the heap.
/// What is not measured (warming up, printing) is the same in both runs and falls out of the difference.
#[test]
fn the_program_counts_right() {
    for jdk in jdk::each_feature() {
        let seen = ["200", "400"].map(|rounds| {
            let flags = ["-Xint", "-XX:+UseSerialGC", "-Xms1600m", "-Xmx1600m", "-Xmn1400m"];
            let args = ["shapes.Main", rounds, rounds];
            let mut running = Running::start(&mut java::program(jdk, &flags, "hold.Main", &args));
            running.wait_for("held");
            let histogram = Histogram::of(jdk, running.pid(), Which::All);
            running.tell("");
            let out = running.finish().success().out();
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
        assert!(many.len() > 40, "JDK {jdk}: only {} classes", many.len());
        for (class, count) in many {
            let in_heap = heap_many.instances(class) - heap_few.instances(class);
            assert_eq!(count - few[class], in_heap, "JDK {jdk}: {class}");
        }
    }
}

#[test]
fn the_trace_is_what_schemas_and_validator_allow() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("valid.trcxml");
        let agent = martini::built().agent_path(&format!("file={},allocsites=true,stack=4", file.display()));
        process::run(&mut java::with_agent(jdk, &["-Xmx1g"], Some(agent), "shapes.Main", &["500", "100"])).success();
        schema::check(&file, Schema::Strict);
        schema::check(&file, Schema::Lenient);
        schema::validate(&file);
    }
}
