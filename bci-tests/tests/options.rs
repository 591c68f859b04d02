//! Options that are not understood: the JVM does not start with a half-understood profiler, and says why in one line.

use std::fs;

use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::workdir::Workdir;

/// Panics unless the JVM refuses to start, with one line of ours that holds all of `words`.
#[track_caller]
fn refused(options: &str, words: &[&str]) {
    let agent = martini::built().agent_path(options);
    let ran = process::run(&mut java::with_agent(jdk::any(), &[], Some(agent), "endings.Main", &["return"]));
    assert!(!ran.status.success(), "the JVM started with {options:?}");
    // The JVM has its own word to say, on standard output.
    assert!(!ran.out().contains("1000 cells"), "the program ran with {options:?}");
    let err = ran.err();
    let ours: Vec<&str> = err.lines().filter(|line| line.starts_with("martini")).collect();
    assert!(ours.len() == 1, "{options:?}: {err}");
    for word in words {
        assert!(ours[0].contains(word), "{options:?}: {:?} does not say {word:?}", ours[0]);
    }
}

#[test]
fn unknown_key() {
    refused("hepa=events", &["hepa", "heap"]);
}

#[test]
fn unknown_value() {
    refused("heap=everything", &["heap", "everything", "events"]);
}

#[test]
fn key_without_value() {
    refused("file", &["file", "="]);
}

#[test]
fn number_that_is_none() {
    refused("stack=deep", &["stack", "deep"]);
}

#[test]
fn number_out_of_range() {
    refused("stack=100000", &["stack", "100000"]);
}

#[test]
fn two_files() {
    refused("file=/tmp/a,file=/tmp/b", &["file", "twice"]);
}

#[test]
fn pattern_with_a_star_inside() {
    refused("include=com.*.foo", &["com.*.foo"]);
}

#[test]
fn filter_file_that_is_not_there() {
    refused("filters=/no/such/filters.txt", &["/no/such/filters.txt"]);
}

#[test]
fn filter_file_with_a_bad_line() {
    let dir = Workdir::new();
    let file = dir.join("filters.txt");
    fs::write(&file, "com.foo.* * INCLUDE\ncom.bar.* * SOMETIMES\n").expect("the folder is ours");
    refused(&format!("filters={}", file.display()), &["filters.txt", "2", "SOMETIMES"]);
}

#[test]
fn tptp_profiler_that_martini_has_not() {
    refused("JPIAgent:server=standalone;CGProf", &["CGProf"]);
}
