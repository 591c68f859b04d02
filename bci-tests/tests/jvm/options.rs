//! Options that are not understood: the JVM does not start with a half-understood profiler, and says why in one line.

use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

pub(crate) fn tests(suite: &mut Suite) {
    suite.any_jdk(unknown_key);
    suite.any_jdk(unknown_value);
    suite.any_jdk(key_without_value);
    suite.any_jdk(number_that_is_none);
    suite.any_jdk(number_out_of_range);
    suite.any_jdk(two_files);
    suite.any_jdk(pattern_with_a_star_inside);
    suite.any_jdk(filter_file_that_is_not_there);
    suite.any_jdk(filter_file_with_a_bad_line);
    suite.any_jdk(tptp_profiler_that_martini_has_not);
}

/// Panics unless the JVM refuses to start, with one line of ours that holds all of `words`.
#[track_caller]
fn refused(jdk: &Jdk, options: &str, words: &[&str]) {
    let profiled = Profiled::on(jdk).spelled(options).any_status().trace_unread();
    let ran = profiled.main("endings.Main").args(&["return"]).run();
    assert!(!ran.status().success(), "the JVM started with {options:?}");
    // The JVM has its own word to say, on standard output.
    assert!(!ran.out().contains("1000 cells"), "the program ran with {options:?}");
    let err = ran.err();
    let ours: Vec<&str> = err.lines().filter(|line| line.starts_with("martini")).collect();
    assert!(ours.len() == 1, "{options:?}: {err}");
    for word in words {
        assert!(ours[0].contains(word), "{options:?}: {:?} does not say {word:?}", ours[0]);
    }
}

fn unknown_key(jdk: &Jdk) {
    refused(jdk, "hepa=events", &["hepa", "heap"]);
}

fn unknown_value(jdk: &Jdk) {
    refused(jdk, "heap=everything", &["heap", "everything", "events"]);
}

fn key_without_value(jdk: &Jdk) {
    refused(jdk, "file", &["file", "="]);
}

fn number_that_is_none(jdk: &Jdk) {
    refused(jdk, "stack=deep", &["stack", "deep"]);
}

fn number_out_of_range(jdk: &Jdk) {
    refused(jdk, "stack=100000", &["stack", "100000"]);
}

fn two_files(jdk: &Jdk) {
    refused(jdk, "file=/tmp/a,file=/tmp/b", &["file", "twice"]);
}

fn pattern_with_a_star_inside(jdk: &Jdk) {
    refused(jdk, "include=com.*.foo", &["com.*.foo"]);
}

fn filter_file_that_is_not_there(jdk: &Jdk) {
    refused(jdk, "filters=/no/such/filters.txt", &["/no/such/filters.txt"]);
}

fn filter_file_with_a_bad_line(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("filters.txt");
    fs::write(&file, "com.foo.* * INCLUDE\ncom.bar.* * SOMETIMES\n").expect("the folder is ours");
    refused(jdk, &format!("filters={}", file.display()), &["filters.txt", "2", "SOMETIMES"]);
}

fn tptp_profiler_that_martini_has_not(jdk: &Jdk) {
    refused(jdk, "JPIAgent:server=standalone;CGProf", &["CGProf"]);
}
