//! `martini explain` names the line of a planted cause, in a trace that `martini run` makes with the flags that a user types, and finds
//! nothing in programs that are healthy.

use std::env;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};
use serde_json::Value;

/// What is planted: the kind of finding, its program, the flags of `martini run`, and where the finding has the line.
type Planted = (&'static str, &'static str, &'static [&'static str], &'static str);

/// With callers, whatever the default.
const COUNTS: &[&str] = &["--callers", "64k"];
const EVENTS: &[&str] = &["--stack", "16"];
const LOCKS: &[&str] = &["--locks"];
const CPU: &[&str] = &["--cpu"];

const PLANTED: [(&str, Planted); 6] = [
    ("churn", ("churn", "Churn", COUNTS, "/at")),
    ("leak", ("growth", "Leak", EVENTS, "/at")),
    ("lock", ("lock", "Lock", LOCKS, "/owners/0/at")),
    ("regex", ("cpu", "Regex", CPU, "/at")),
    ("collisions", ("cpu", "Collisions", CPU, "/at")),
    ("streams", ("churn", "Streams", COUNTS, "/at")),
];

const CLEAN: [(&str, (&str, &[&str])); 6] = [
    ("compute", ("Compute", COUNTS)),
    ("server", ("Server", COUNTS)),
    ("parser", ("Parser", COUNTS)),
    ("server-events", ("Server", EVENTS)),
    ("parser-events", ("Parser", EVENTS)),
    ("server-locks", ("Server", LOCKS)),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&PLANTED, what_is_planted_is_named_with_its_line);
    suite.each_jdk_and(&CLEAN, nothing_is_found_in_a_healthy_program);
}

/// Runs a program as a user does, explains its trace, and types the commands that come next; what `martini run` had to say comes with it.
#[track_caller]
fn explained(jdk: &Jdk, program: &str, flags: &[&str]) -> (Value, String) {
    let (built, folder) = (martini::built(), Workdir::new());
    let martini = || {
        let mut command = Command::new(&built.command);
        command.current_dir(folder.path()).env("MARTINI_AGENT", &built.agent).env_remove("JAVA_TOOL_OPTIONS");
        command
    };
    let mut run = martini();
    run.arg("run").args(flags).args(["--file", "app.trcxml"]).arg(jdk.tool("java").get_program());
    let ran = process::run(run.arg("-cp").arg(java::class_path()).arg(format!("explain.{program}"))).success();
    let out = process::run(martini().args(["explain", "--json", "app.trcxml"])).success().stdout;
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    let explained = json["traces"][0].clone();
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = built.command.parent().map(Path::to_owned).into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(folders).expect("they can be joined");
    for finding in explained["findings"].as_array().expect("an array") {
        let next = finding["next"].as_str().expect("a command");
        let mut shell = Command::new("sh");
        shell.args(["-c", next]).env("PATH", &path);
        shell.env("MARTINI_AGENT", &built.agent).env_remove("JAVA_TOOL_OPTIONS");
        process::run(shell.current_dir(folder.path())).success();
    }
    (explained, ran.err())
}

/// The file with all programs in which something is planted.
const SOURCE: &str = "Planted.java";

/// The line of it that is marked as this cause.
fn planted(mark: &str) -> u64 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/11/explain").join(SOURCE);
    let text = std::fs::read_to_string(source).expect("a source file of this crate is readable");
    let line = text.lines().position(|line| line.ends_with(&format!("// planted: {mark}")));
    line.expect("it is marked") as u64 + 1
}

fn what_is_planted_is_named_with_its_line(jdk: &Jdk, (kind, program, flags, place): Planted) {
    let (explained, summary) = explained(jdk, program, flags);
    let findings = explained["findings"].as_array().expect("an array");
    let first = findings.iter().find(|finding| finding["kind"] == kind);
    let first = first.unwrap_or_else(|| panic!("no {kind} in {explained:#}"));
    let at = first.pointer(place).unwrap_or_else(|| panic!("no place in {first:#}"));
    let line = planted(&program.to_lowercase());
    let class = at["class"].as_str().expect("its name");
    assert!(class.starts_with(&format!("explain.{program}")) && at["line"] == line, "{line}: {first:#}");
    assert_eq!(findings.iter().filter(|finding| finding["kind"] != kind).count(), 0, "{explained:#}");
    let head = summary.lines().find(|line| line.starts_with(&format!("{kind}: ")));
    assert!(head.is_some(), "{summary}");
}

fn nothing_is_found_in_a_healthy_program(jdk: &Jdk, (program, flags): (&str, &[&str])) {
    let (explained, summary) = explained(jdk, program, flags);
    assert_eq!(explained["findings"], Value::Array(Vec::new()), "{explained:#}");
    assert!(summary.lines().any(|line| line.starts_with("nothing stands out: ")), "{summary}");
}
