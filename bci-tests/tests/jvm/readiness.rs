//! `martini warmup PID`: whether a JVM is warm, and the exit status that a startup probe sees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(one_that_works_gets_warm);
    suite.each_jdk(the_agent_says_so_in_a_file_and_by_a_bean);
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

fn the_agent_says_so_in_a_file_and_by_a_bean(jdk: &Jdk) {
    let program = Profiled::on(jdk).options("ready=jmx,warmup=on").main("start.Load").args(&["warms"]);
    let mut load = program.flags(&["-Xmx128m"]).start();
    load.wait_for("runs");
    let file = PathBuf::from(format!("{}.ready", load.file.display()));
    let said = || fs::read_to_string(&file).unwrap_or_default();
    process::wait_until(|| said().contains("\"state\":\"warm\",\"warm\":true,\"reason\":\"warm: in the last "));
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    // The bean is registered on a thread of the agent's own, and what it says is looked at anew each time.
    process::wait_until(|| {
        load.send("?");
        let bean = load.wait_for_rest("bean ");
        let words: Vec<&str> = bean.split(' ').collect();
        assert!(bean == "none" || words.len() > 5 && (words[0] == "true") == (words[1] == "warm"), "{bean}");
        words[0] == "true" && words[2].parse::<u64>().is_ok_and(|methods| methods > 0)
    });
    let (status, said_of_few) = probe(&load, &["--wait", "--methods", "1"]);
    assert_eq!(status, Some(0), "{said_of_few}");
    let (status, said_of_many) = probe(&load, &["--methods", "1000000"]);
    assert_eq!(status, Some(3), "{said_of_many}");
    assert!(said_of_many.contains("is not warm: C2 has compiled ") && said_of_many.contains(" of 1,000,000 methods"));
    load.finish();
    assert!(!file.exists(), "it speaks of a JVM that runs");
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
    let (status, said) = probe(&load, &["--methods", "100"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("is not recorded with --warmup --ready"), "{said}");
    load.finish().success();
}
