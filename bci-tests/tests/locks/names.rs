//! Names of locks: the field in which each lies, wherever that is.

use std::collections::BTreeMap;
use std::process::Command;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Profiled, Ran};
use bci_tests::waits::Waits;

use crate::support::nothing_is_lost;
use bci_tests::suite::Suite;

/// By the thread that waits.
const NAMES: [(&str, &str); 14] = [
    ("t-BY_NAME", "waits.Names.BY_NAME[]"),
    ("t-LIST", "waits.Names.LIST[]"),
    ("t-LOCK", "waits.Names.LOCK"),
    ("t-MUTEX", "waits.Names.MUTEX"),
    ("t-QUEUE", "waits.Names.QUEUE.notEmpty"),
    ("t-SHARED", "waits.Names$Constants.SHARED"),
    ("t-STRIPES", "waits.Names.STRIPES[]"),
    ("t-both", "waits.Names$Base.both"),
    ("t-class", "waits.Names.class"),
    ("t-lock", "waits.Names$Base.lock"),
    ("t-many", "waits.Names$Derived.many[]"),
    ("t-mutex", "waits.Names$Base.mutex"),
    ("t-own", "waits.Names$Derived.own"),
    ("t-slots", "waits.Names$Base.slots"),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(each_lock_has_the_name_of_its_field);
    suite.each_jdk_and(
        &[("counts", "heap=counts,juc=on"), ("safe", "internals=off,juc=on")],
        they_are_there_in_each_mode,
    );
    suite.versions(21..).each(virtual_threads_wait_for_the_same);
    suite.each_jdk(those_of_local_variables_are_there_when_a_signal_ends_the_program);
    suite.any_jdk(they_can_be_left_out);
}

#[track_caller]
fn compare(ran: &Ran<Waits>) {
    let found: BTreeMap<&str, Option<&str>> =
        ran.trace.counted().map(|wait| (wait.thread.as_str(), ran.trace.lock_name(wait.object))).collect();
    let expected: BTreeMap<&str, Option<&str>> = NAMES.iter().map(|&(thread, name)| (thread, Some(name))).collect();
    assert_eq!(found, expected);
    nothing_is_lost(&ran.trace);
}

fn each_lock_has_the_name_of_its_field(jdk: &Jdk, collector: Collector) {
    let ran = Profiled::on(jdk).collector(collector).options("juc=on").main("waits.Names").run_and_read::<Waits>();
    compare(&ran);
}

fn they_are_there_in_each_mode(jdk: &Jdk, options: &str) {
    compare(&Profiled::on(jdk).options(options).main("waits.Names").run_and_read::<Waits>());
}

fn virtual_threads_wait_for_the_same(jdk: &Jdk) {
    compare(&Profiled::on(jdk).options("juc=on").main("waits.VirtualNames").run_and_read::<Waits>());
}

/// No field holds the object but the stack of a thread that lives.
fn those_of_local_variables_are_there_when_a_signal_ends_the_program(jdk: &Jdk) {
    let program = Profiled::on(jdk).options("juc=on").any_status().main("waits.Names").args(&["stay"]);
    let mut running = program.start();
    running.wait_for("ready");
    let sent = Command::new("kill").arg(running.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    compare(&running.finish_and_read::<Waits>());
}

fn they_can_be_left_out(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("juc=on,locknames=off").main("waits.Names").run_and_read::<Waits>();
    assert!(ran.trace.counted().all(|wait| ran.trace.lock_name(wait.object).is_none()));
}
