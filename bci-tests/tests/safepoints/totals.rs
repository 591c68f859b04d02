//! What the trace says of an operation is what the JVM logs of it in the same run.

use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::suite::Suite;

use crate::program;

/// What the program asks for all the time, and nobody else does.
const OPERATION: &str = "ThreadDump";
/// JDK 11 logs seven digits of seconds.
const ROUNDED: u64 = 100;

pub(crate) fn tests(suite: &mut Suite) {
    let kinds = [("loop", "loop"), ("none", "none")];
    suite.each_jdk_and(&kinds, totals_are_those_of_the_log);
}

/// Count, nanoseconds to reach, and in all.
#[derive(Debug, Default, PartialEq, Eq)]
struct Logged(u64, u64, u64);

fn logged(log: &str) -> Logged {
    let mut logged = Logged::default();
    let mut add = |sync: f64, total: f64| {
        logged.0 += 1;
        logged.1 += sync.round() as u64;
        logged.2 += total.round() as u64;
    };
    let number = |line: &str, name: &str| -> f64 {
        let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("{line}"));
        let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
        digits.trim_end_matches('.').parse().unwrap_or_else(|_| panic!("{line}"))
    };
    let mut entered = false;
    for line in log.lines() {
        if line.starts_with(&format!("Safepoint \"{OPERATION}\"")) {
            add(number(line, "Reaching safepoint:"), number(line, ", Total:"));
        } else if let Some(operation) = line.strip_prefix("Entering safepoint region: ") {
            entered = operation == OPERATION;
        } else if line.starts_with("Total time for which") && std::mem::take(&mut entered) {
            add(number(line, "Stopping threads took:") * 1e9, number(line, "were stopped:") * 1e9);
        }
    }
    logged
}

fn totals_are_those_of_the_log(jdk: &Jdk, what: &str) {
    let profiled = program(jdk, what);
    let log = profiled.dir().join("safepoints.log");
    let profiled = profiled.flags(&[format!("-Xlog:safepoint=info:file={}:none:filecount=0", log.display())]);
    let ran = profiled.run_and_read::<crate::Read>();
    let dumps: u64 = ran.out().trim().parse().expect("a number");
    let logged = logged(&fs::read_to_string(log).expect("the JVM's log"));
    let report = ran.trace.0.finish();
    let operations = report.operations();
    let found = operations.iter().find(|one| one.name == Some(OPERATION)).unwrap_or_else(|| panic!("{operations:?}"));
    assert_eq!((found.all.count, logged.0), (dumps, dumps), "{operations:?}");
    let rounded = if jdk.feature < 17 { dumps * ROUNDED } else { 0 };
    let is_same = |one: u64, other: u64| one.abs_diff(other) <= rounded;
    assert!(is_same(found.all.sync.0, logged.1) && is_same(found.all.total.0, logged.2), "{found:?} {logged:?}");
}
