//! Threads that wait for locks of `java.util.concurrent`.

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::waits::{Kind, Waits};

use crate::support::{compare, nothing_is_lost, run};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_version(each_wait_is_there_once_with_owner_and_stack);
    suite.each_jdk(without_juc_nothing_of_it_is_there);
    let heaps = [("counts", "heap=counts,juc=on"), ("events", "heap=events,juc=on")];
    suite.each_jdk_and(&heaps, each_wait_is_there_once_beside_heap);
    suite.each_jdk(who_ends_with_the_jvm_has_ended_its_wait);
    suite.each_jdk(waits_are_there_after_another_agent_has_reloaded_what_parks);
}

fn each_wait_is_there_once_with_owner_and_stack(jdk: &Jdk) {
    let ran = run(Profiled::on(jdk).options("juc=on,lockstack=8"), &["parks"]);
    compare(&ran, Kind::Blocked, &["lock"]);
    compare(&ran, Kind::Waited, &["park"]);
    for wait in ran.ran.trace.counted() {
        assert!(wait.parked, "{wait:?}");
        assert!(wait.stack.iter().any(|frame| frame.starts_with("waits.Main.")), "{wait:?}");
    }
    let lock = ran.ran.trace.counted().find(|wait| wait.thread == "t-lock-0").expect("it waited");
    assert_eq!(lock.stack[0], "java.util.concurrent.locks.ReentrantLock.lock");
}

fn without_juc_nothing_of_it_is_there(jdk: &Jdk) {
    let ran = run(Profiled::on(jdk).options("locks=on"), &["parks"]);
    assert_eq!(ran.ran.trace.counted().filter(|wait| wait.parked).count(), 0);
}

fn waits_are_there_after_another_agent_has_reloaded_what_parks(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).options("heap=off,juc=on").main("seen.Reparks").agent_in_java("seen.Reparks");
    let ran = profiled.run_and_read::<Waits>();
    assert_eq!(ran.trace.counted().filter(|wait| wait.parked && wait.thread == "t-waiter").count(), 1);
}

fn each_wait_is_there_once_beside_heap(jdk: &Jdk, options: &str) {
    compare(&run(Profiled::on(jdk).options(options), &["parks"]), Kind::Blocked, &["lock"]);
}

fn who_ends_with_the_jvm_has_ended_its_wait(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("juc=on").main("waits.Late").run_and_read::<Waits>();
    assert!(ran.trace.waits.len() > 100, "too few threads parked");
    nothing_is_lost(&ran.trace);
}
