//! Which waits `martini locks` takes for those of idle threads.

use std::collections::BTreeSet;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(threads_without_work_are_idle_and_others_are_not);
}

fn threads_without_work_are_idle_and_others_are_not(jdk: &Jdk) {
    let ran = Profiled::on(jdk).options("juc=on").main("waits.Idle").run();
    let waiters = |arguments: &[&str]| -> BTreeSet<String> {
        let command = &martini::built().command;
        let arguments = [&["locks", "--json", "--by", "waiter", "--waits"], arguments].concat();
        let out = process::run(Command::new(command).args(arguments).arg(&ran.file)).success().out();
        let json: Value = serde_json::from_str(&out).expect("it is JSON");
        let rows = json["traces"][0]["tables"]["waiter"].as_array().expect("there is a table").clone();
        rows.iter().map(|row| row["waiter"]["name"].as_str().expect("it has a name").to_owned()).collect()
    };
    let (counted, all) = (waiters(&[]), waiters(&["--idle"]));
    for name in ["busy-task", "busy-queue"] {
        assert!(counted.contains(name), "{counted:?}");
    }
    for name in ["idle-fixed", "idle-cached", "idle-scheduled", "idle-timer", "Common-Cleaner"] {
        assert!(all.contains(name) && !counted.contains(name), "{name}: {counted:?} of {all:?}");
    }
    let is_worker = |name: &String| name.starts_with("ForkJoinPool");
    assert!(!counted.iter().any(is_worker), "{counted:?}");
}
