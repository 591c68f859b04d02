//! A method that another agent gives other code while it runs: each object has the line of the code that made it.

use std::collections::BTreeMap;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;

pub(crate) fn tests(suite: &mut Suite) {
    let modes = [
        ("counts", "heap=counts"),
        ("events", "heap=events,allocsites=true"),
        ("events_by_vm", "heap=events,allocsites=true,stacks=jvmti"),
        ("filtered_events", "heap=events,allocsites=true,include=seen.*"),
        ("vm", "heap=vm,allocsites=true"),
        ("vm_by_vm", "heap=vm,allocsites=true,stack=8,stacks=jvmti"),
    ];
    suite.each_jdk_and(&modes, lines_are_those_of_the_code_that_ran);
}

fn lines_are_those_of_the_code_that_ran(jdk: &Jdk, options: &str) {
    for compiler in ["-Xint", "-Xmixed"] {
        let profiled = Profiled::on(jdk).flags(&[compiler]).options(options).main("seen.Relined");
        let ran = profiled.agent_in_java("seen.Relined").run();
        let mut made = BTreeMap::<String, u64>::new();
        for line in ran.out().lines() {
            let (line, number) = line.split_once(' ').expect("a line and a number");
            *made.entry(line.to_owned()).or_default() += number.parse::<u64>().expect("a number");
        }
        assert_eq!(made.len(), 2, "{made:?}");
        let mut command = Command::new(&martini::built().command);
        let report = process::run(command.args(["stats", "--by", "site", "--json"]).arg(&ran.file)).success();
        let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
        let mut found = BTreeMap::<String, u64>::new();
        for row in report["traces"][0]["tables"]["site"].as_array().expect("rows") {
            if row["class"] == "seen.Relined$Made" {
                *found.entry(row["site"]["line"].to_string()).or_default() += row["total"].as_u64().expect("a number");
            }
        }
        assert_eq!(found, made, "{compiler}");
    }
}
