//! Threads that wait for each other for ever.

use std::fs;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::process::wait_until;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::waits::{Still, Usage, Waits};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(who_is_stuck_stays_in_the_trace_with_the_owner);
    suite.each_jdk(threads_that_end_while_somebody_asks_are_left_out);
}

/// A request in between shows it too.
fn who_is_stuck_stays_in_the_trace_with_the_owner(jdk: &Jdk) {
    let mut running = Profiled::on(jdk).options("juc=on").main("waits.Main").args(&["deadlock"]).start();
    running.wait_for("stuck");
    let asked = Command::new("kill").arg("-QUIT").arg(running.pid().to_string()).status();
    assert!(asked.expect("kill is a command").success());
    // The VM prints its own answer first, then asks the agent; VMDeath comes on another thread.
    wait_until(|| fs::read_to_string(&running.file).is_ok_and(|text| text.contains("<threadInfo")));
    let trace = running.finish_and_read::<Waits>().trace;
    let still = |thread: &str, owner: &str, parked| Still { thread: thread.into(), owner: Some(owner.into()), parked };
    let mut found = trace.still.clone();
    found.sort_by(|a, b| a.thread.cmp(&b.thread));
    let expected = [
        still("t-dead-0", "t-dead-1", false),
        still("t-dead-1", "t-dead-0", false),
        still("t-dead-lock-0", "t-dead-lock-1", true),
        still("t-dead-lock-1", "t-dead-lock-0", true),
    ];
    assert_eq!(found, expected);
    // From 23 on the JVM is not asked.
    let entry_count = (jdk.feature < 23).then_some(1);
    for (owner, waiter) in [("t-dead-0", "t-dead-1"), ("t-dead-1", "t-dead-0")] {
        let usage = Usage { owner: Some(owner.into()), entry_count, waiters: vec![waiter.into()] };
        assert!(trace.usages.contains(&usage), "{:#?}", trace.usages);
        assert!(trace.infos.contains(&(waiter.into(), "BLOCKED".into())), "{:#?}", trace.infos);
    }
    assert!(trace.infos.iter().any(|(name, _)| name == "main"), "the request asks about all threads");
}

/// A thread may end between the answer and the moment when it is written. The trace is valid, whatever ends when.
fn threads_that_end_while_somebody_asks_are_left_out(jdk: &Jdk) {
    const REQUESTS: usize = 30;
    let mut running = Profiled::on(jdk).options("heap=off,juc=on").main("lasting.Main").args(&["churn"]).start();
    running.wait_for("ready");
    let answers = |found: &str| found.matches("threadName=\"t-owner\" state=").count();
    for request in 1..=REQUESTS {
        let asked = Command::new("kill").arg("-QUIT").arg(running.pid().to_string()).status();
        assert!(asked.expect("kill is a command").success());
        wait_until(|| fs::read_to_string(&running.file).is_ok_and(|text| answers(&text) >= request));
    }
    let trace = running.finish_and_read::<Waits>().trace;
    assert!(trace.infos.iter().filter(|(name, _)| name == "t-owner").count() >= REQUESTS);
}
