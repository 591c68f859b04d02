//! `martini warmup PID`: whether a JVM is warm, and the exit status that a startup probe sees.

use std::process::Command;

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(one_that_works_gets_warm);
    suite.any_jdk(one_that_idles_is_not_said_to_be_warm);
    suite.any_jdk(one_whose_code_is_always_new_never_gets_warm);
    suite.any_jdk(one_without_c2_is_refused);
}

fn load(jdk: &Jdk, flags: &[&str], what: &str) -> Running {
    let mut load = Running::start(&mut java::program(jdk, flags, "start.Load", &[what]));
    load.wait_for("runs");
    load
}

/// The status of `martini warmup`, and what it says.
fn probe(load: &Running, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(&martini::built().command);
    let ended = process::run(command.arg("warmup").arg(load.pid().to_string()).args(arguments));
    (ended.status.code(), format!("{}{}", ended.out(), ended.err()))
}

fn one_that_works_gets_warm(jdk: &Jdk) {
    let load = load(jdk, &["-Xmx128m"], "warms");
    let (status, said) = probe(&load, &["--wait", "--budget", "5m", "--window", "1s"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("is warm: in the last ") && said.contains("C2 used 0."), "{said}");
    load.finish().success();
}

fn one_that_idles_is_not_said_to_be_warm(jdk: &Jdk) {
    let load = load(jdk, &["-Xmx128m"], "idles");
    let (status, said) = probe(&load, &["--wait", "--budget", "3s", "--window", "1s"]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("is idle: "), "{said}");
    load.finish().success();
}

fn one_whose_code_is_always_new_never_gets_warm(jdk: &Jdk) {
    let load = load(jdk, &["-Xmx256m"], "renews");
    // Where other work takes the processors, C2 has little in one window and much in the next.
    let mut all = Vec::new();
    while all.len() < 5 && all.last().is_none_or(|(status, _)| *status != Some(4)) {
        all.push(probe(&load, &["--wait", "--budget", "9s", "--window", "4s"]));
    }
    assert!(all.iter().all(|(status, _)| *status != Some(0)), "{all:?}");
    assert!(all.last().is_some_and(|(status, said)| *status == Some(4) && said.contains("will not be")), "{all:?}");
    load.finish().success();
}

fn one_without_c2_is_refused(jdk: &Jdk) {
    let load = load(jdk, &["-Xint"], "idles");
    let (status, said) = probe(&load, &["--window", "500ms"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("-Xint"), "{said}");
    load.finish().success();
}
