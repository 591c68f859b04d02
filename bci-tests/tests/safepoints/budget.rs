//! Looking for late threads has a budget. Where it is used up they are looked for less often, and the trace and the tables say so.

use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::profiled::is_safe_mode;
use bci_tests::suite::Suite;

use crate::{Read, program};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(who_has_no_budget_looks_less_often);
}

fn who_has_no_budget_looks_less_often(jdk: &Jdk) {
    // Nanoseconds in a second, which one look uses up.
    let profiled = program(jdk, "loop").variable("MARTINI_TTSP_BUDGET", "1000");
    let ran = profiled.run_and_read::<Read>();
    let report = ran.trace.0.finish();
    let value = |key: &str| {
        let count = report.facts().counts.iter().find(|count| count.key == key)?;
        Some((count.value, count.detail.clone().unwrap_or_default()))
    };
    let (spent, _) = value("ttsp.spent").expect("in every trace with safepoints");
    let (widened, at_least) = value("ttsp.widened").expect("in every trace with safepoints");
    let text = process::run(Command::new(&martini::built().command).arg("safepoints").arg(&ran.file)).success().out();
    // Lines are folded.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "late threads were looked for less often than each millisecond (at least each ";
    if is_safe_mode() {
        assert!(widened == 0 && !text.contains(note), "{text}");
        return;
    }
    let millis: u64 =
        at_least.split(' ').rev().nth(1).and_then(|number| number.parse().ok()).expect("at least each N ms");
    assert!(spent > 0 && widened > 0 && millis > 1, "{spent} {widened} {at_least}");
    assert!(text.contains(note), "{text}");
    // What the JVM says of each stop is complete all the same.
    assert!(report.slow().count > 0, "{report:?}");
}
