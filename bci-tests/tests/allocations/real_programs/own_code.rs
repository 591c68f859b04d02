//! `martini run` alone names a line outside the JDK for nearly all that a program allocates.

use std::fs;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Heap;
use bci_tests::programs::{self, Program};
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;

/// What `martini run` asks for by itself.
const CALLERS: &str = "16k";

/// Programs that work for more than a moment, each on one JDK, so that every JDK has its turn.
pub(super) fn tests(suite: &mut Suite) {
    let programs = [programs::ecj(), programs::hsqldb(), programs::jflex(), programs::clojure(), programs::rhino()];
    for (turn, program) in programs.into_iter().enumerate() {
        let name = |jdk: &str| format!("real_programs::own_code::{jdk}::{}", program.name);
        if let Some(reason) = program.missing() {
            suite.skip(name("any_jdk"), reason);
            continue;
        }
        let jdks = program.fitting();
        let jdk = jdks[turn % jdks.len()];
        suite.add(name(&format!("jdk{}", jdk.feature)), move || nearly_all_has_a_line_outside_the_jdk(program, jdk));
    }
}

#[track_caller]
fn nearly_all_has_a_line_outside_the_jdk(program: Program, jdk: &Jdk) {
    let profiled = program.working().behind(&["hold.Main"], jdk).heap(Heap::Counts).option("callers", CALLERS);
    // Some write files.
    let folder = profiled.dir().join("run");
    fs::create_dir(&folder).expect("the folder is ours");
    let mut running = profiled.in_folder(&folder).any_status().start();
    running.wait_for("held");
    running.send("");
    let ran = running.finish_and_read::<()>();
    let mut stats = Command::new(&martini::built().command);
    let out = process::run(stats.args(["stats", "--by", "line", "--json"]).arg(&ran.file)).success().stdout;
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    let trace = &json["traces"][0];
    let bytes = |value: &Value| value.as_f64().expect("a number");
    let (named, all) = (bytes(&trace["outside_jdk_bytes"]), bytes(&trace["sum"]["total_bytes"]));
    assert!(named >= 0.9 * all, "{named} of {all}");
}
