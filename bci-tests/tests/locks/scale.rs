//! Thousands of threads that wait at the same time.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::waits::{Kind, Wait, Waits};

use crate::support::{MONITOR, run};

pub(crate) fn tests(suite: &mut Suite) {
    suite.jdks(21..).large().each(a_hundred_thousand_virtual_threads);
    suite.jdks(..).large().each(ten_thousand_threads);
}

fn ten_thousand_threads(jdk: &Jdk) {
    const NUMBER: usize = 10_000;
    let ran = run(Profiled::on(jdk).flags(&["-Xmx512m"]).options("locks=on"), &["many", &NUMBER.to_string()]);
    let is_ours = |wait: &&Wait| wait.kind == Kind::Blocked && wait.class == MONITOR;
    let blocked: Vec<&Wait> = ran.ran.trace.counted().filter(is_ours).collect();
    assert_eq!(blocked.len(), NUMBER);
    for wait in blocked {
        assert_eq!(wait.owner.as_deref(), Some("main"), "{wait:?}");
        assert!(wait.nanos.is_some(), "{wait:?}");
    }
}

fn a_hundred_thousand_virtual_threads(jdk: &Jdk) {
    const NUMBER: usize = 100_000;
    // Before JDK 24 a blocked virtual thread keeps its carrier.
    let enters = if jdk.feature >= 24 { 500 } else { 6 };
    let profiled = Profiled::on(jdk).flags(&["-Xmx1g", "-Djdk.virtualThreadScheduler.parallelism=8"]).options("juc=on");
    let profiled = profiled.no_schema().main("waits.Virtual").args(&[NUMBER.to_string(), enters.to_string()]);
    let ran = profiled.run_and_read::<Waits>();
    assert_eq!(ran.err(), "");
    let moved = ran.out().trim().strip_prefix("moved ").and_then(|number| number.parse::<usize>().ok());
    // Their waits end on other carriers than those on which they began.
    assert_eq!(moved.expect("a number") > 0, jdk.feature >= 24, "{moved:?} of {enters}");
    for (prefix, parked, number) in [("t-lock-", true, NUMBER), ("t-enter-", false, enters + 1)] {
        let belongs = |wait: &&Wait| {
            wait.thread.starts_with(prefix) && wait.kind == Kind::Blocked && (parked || wait.class == MONITOR)
        };
        let blocked: Vec<&Wait> = ran.trace.counted().filter(belongs).filter(|wait| wait.parked == parked).collect();
        assert_eq!(blocked.len(), number, "{prefix}");
        let mut unknown = 0;
        for wait in blocked {
            let expected = if wait.thread == "t-enter-owned" { "t-virtual-owner" } else { "main" };
            match &wait.owner {
                Some(owner) => assert_eq!(owner, expected, "{wait:?}"),
                None => unknown += 1,
            }
            assert!(wait.nanos.is_some(), "{wait:?}");
        }
        // Who comes last may see that the owner has just let go.
        assert!(
            unknown <= 1 + number / 1000 && unknown as u64 <= ran.trace.count("owners.unknown"),
            "{unknown} unknown"
        );
    }
}
