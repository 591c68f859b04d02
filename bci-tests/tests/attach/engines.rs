//! Each engine, attached to the busy program.

use std::time::Duration;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::is_safe_mode;
use bci_tests::suite::Suite;

use crate::program::{Found, Program};

/// Nodes that the program makes while it is recorded.
const NODES: u64 = 1_000_000;
/// So many of them may be missed by the VM's events, whose interval a thread takes over at its next sample: 512 KiB later on average.
const MISSED_BY_EVENTS: u64 = 300_000;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&ENGINES, engine_sees_what_the_program_does);
    suite.each_jdk_and_collector(counts_are_exact_with_each_collector);
    suite.each_jdk(requests_are_those_of_each_recording);
    suite.each_jdk(safe_mode_counts_too);
    suite.each_jdk(what_could_be_recorded_is_known_before);
}

/// An engine: its options, and whether the trace shows what was done.
type Engine = (&'static str, fn(&Found) -> bool);

const ENGINES: [(&str, Engine); 8] = [
    ("sampled", ("heap=off,sampled=16k", |found| (NODES / 2..2 * NODES).contains(&found.sampled_nodes))),
    ("vm", ("heap=vm,include=attach.*", |found| (NODES - MISSED_BY_EVENTS..=NODES).contains(&found.nodes))),
    ("counts", ("heap=counts", |found| found.counted_nodes == NODES && found.is_covered())),
    ("events", ("heap=events,include=attach.*", |found| found.nodes == NODES)),
    (
        "cpu",
        ("heap=off,cpu=5ms,wall=20ms", |found| {
            is_safe_mode() || found.has("cpuSample") && found.has("wallSample") && found.has("threadStart")
        }),
    ),
    ("locks", ("heap=off,locks=on", |found| found.has("monContendedEnter"))),
    ("juc", ("heap=off,locks=on,juc=on", |found| found.has("monContendedEnter"))),
    ("ttsp", ("heap=off,ttsp=on", |found| found.has("safepointCount"))),
];

fn engine_sees_what_the_program_does(jdk: &Jdk, (options, is_true): Engine) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let found = program.record(options, |program| {
        program.make(NODES);
        program.command("collect", "collected");
        program.contend();
        std::thread::sleep(Duration::from_millis(500));
        assert!(program.ask("status", "").starts_with("ok\nrecording yes\n"));
    });
    assert!(is_true(&found), "{found:?}");
    assert_eq!(program.ask("status", ""), "ok\nrecording no\n");
    program.finish();
}

fn requests_are_those_of_each_recording(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    // The second one finds the method as it was before the first.
    for (options, requests) in [("request=attach.Main.run", 3), ("request=attach.Main.run,requests=on,locks=on", 2)] {
        let found = program.record(options, |program| (0..requests).for_each(|_| program.make(1_000)));
        assert_eq!(found.elements.get("request"), Some(&requests), "{options}: {found:?}");
    }
    program.finish();
}

fn counts_are_exact_with_each_collector(jdk: &Jdk, collector: Collector) {
    let mut program = Program::start(jdk, &[&["-Xmx256m"], collector.flags()].concat(), &[]);
    let found = program.record("heap=counts,callers=64k,live=true", |program| program.make(NODES));
    assert!(found.counted_nodes == NODES && found.is_covered(), "{found:?}");
    program.finish();
}

/// The agent looks before anything is recorded, and while a recording runs; and that keeps nothing from working afterwards.
fn what_could_be_recorded_is_known_before(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let is_all_there = |answer: &str| {
        let lines: Vec<&str> = answer.lines().skip(1).collect();
        let without: Vec<&&str> = lines.iter().filter(|line| !line.starts_with("yes ")).collect();
        match is_safe_mode() {
            true => assert!(matches!(without[..], [line] if line.contains("private memory: not read")), "{answer}"),
            false => assert_eq!(without, [&""; 0], "{answer}"),
        }
        assert!(lines.len() > 5 && lines.iter().any(|line| line.contains("can_retransform_classes")), "{answer}");
    };
    is_all_there(&program.ask("check", ""));
    let found = program.record(if is_safe_mode() { "heap=counts" } else { "heap=counts,cpu=5ms" }, |program| {
        is_all_there(&program.ask("check", ""));
        program.make(NODES);
    });
    assert!(found.counted_nodes == NODES && (is_safe_mode() || found.has("cpuSample")), "{found:?}");
    is_all_there(&program.ask("check", ""));
    program.finish();
}

fn safe_mode_counts_too(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[("MARTINI_SAFE", "1")]);
    let found = program.record("heap=counts,locks=on,juc=on", |program| {
        program.make(NODES);
        program.contend();
    });
    assert!(found.counted_nodes == NODES && found.is_covered() && found.has("monContendedEnter"), "{found:?}");
    program.finish();
}
