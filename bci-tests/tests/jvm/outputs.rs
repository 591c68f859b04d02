//! Traces that cannot be written, or go elsewhere than into a plain file.

use std::fs;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Profiled, Ran};
use bci_tests::read::{self, Judged};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

pub(crate) fn tests(suite: &mut Suite) {
    suite.any_jdk(full_disk);
    suite.any_jdk(output_that_cannot_be_opened);
    suite.any_jdk(a_folder_instead_of_a_file);
    suite.any_jdk(an_old_trace_is_replaced);
    suite.any_jdk(the_process_id_in_the_name);
    suite.any_jdk(zip);
    suite.any_jdk(named_pipe);
}

/// A program that ends with status 7, and whose trace is the test's business.
fn program(jdk: &Jdk) -> Profiled<'_> {
    Profiled::on(jdk).any_status().trace_unread().main("endings.Main").args(&["exit"])
}

fn run(jdk: &Jdk, options: &str) -> Ran {
    program(jdk).spelled(options).run()
}

/// The whole trace is there, and has all objects.
#[track_caller]
fn is_whole(file: &Path) {
    let trace = read::trace(file, Recorded::default(), Judged::Valid);
    assert_eq!(trace.of_class("endings.Main$Cell").count(), 1000);
}

/// Panics unless the program did what it does without agent, and the agent said one line about `place`.
#[track_caller]
fn only_the_trace_is_lost(ran: &Ran, place: &str) {
    assert_eq!(ran.status().code(), Some(7), "{}", ran.err());
    assert_eq!(ran.out(), "1000 cells ä\n");
    let err = ran.err();
    let ours: Vec<&str> = err.lines().filter(|line| *line != "to standard error").collect();
    assert!(ours.len() == 1 && ours[0].contains("martini") && ours[0].contains(place), "{ours:?}");
}

/// A full disk stops the trace, not the program.
fn full_disk(jdk: &Jdk) {
    only_the_trace_is_lost(&run(jdk, "file=/dev/full"), "/dev/full");
}

/// An output that cannot be opened is known before the program starts; like every bad option it stops the JVM.
fn output_that_cannot_be_opened(jdk: &Jdk) {
    let dir = Workdir::new();
    let missing = dir.join("no/such/folder/x.trcxml");
    let ran = run(jdk, &format!("file={}", missing.display()));
    assert!(!ran.status().success());
    assert!(!ran.out().contains("1000 cells"), "the program ran");
    let err = ran.err();
    let ours: Vec<&str> = err.lines().filter(|line| line.starts_with("martini")).collect();
    assert!(ours.len() == 1 && ours[0].contains(&*missing.to_string_lossy()), "{err}");
}

fn a_folder_instead_of_a_file(jdk: &Jdk) {
    let dir = Workdir::new();
    let ran = run(jdk, &format!("file={}", dir.path().display()));
    assert!(!ran.status().success());
    assert!(ran.err().contains(&*dir.path().to_string_lossy()), "{}", ran.err());
}

/// A trace that is there already is replaced, whole.
fn an_old_trace_is_replaced(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("old.trcxml");
    let old = [trace::writer::DOCUMENT_START, &b"x".repeat(50_000_000)].concat();
    fs::write(&file, old).expect("the folder is ours");
    assert_eq!(run(jdk, &format!("file={}", file.display())).status().code(), Some(7));
    is_whole(&file);
}

fn the_process_id_in_the_name(jdk: &Jdk) {
    let dir = Workdir::new();
    assert_eq!(run(jdk, &format!("file={}/%p.trcxml", dir.path().display())).status().code(), Some(7));
    let names: Vec<String> = fs::read_dir(dir.path())
        .expect("the folder is ours")
        .map(|entry| entry.expect("the folder is ours").file_name().to_string_lossy().into_owned())
        .collect();
    let [name] = &names[..] else { panic!("{names:?}") };
    assert!(name.strip_suffix(".trcxml").is_some_and(|pid| pid.parse::<u32>().is_ok()), "{name}");
}

fn zip(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("zipped.trcxml");
    assert_eq!(run(jdk, &format!("file={},format=zip", file.display())).status().code(), Some(7));
    let bytes = fs::read(&file).expect("the trace is there");
    assert!(bytes.starts_with(b"PK\x03\x04"));
    is_whole(&file);
}

fn named_pipe(jdk: &Jdk) {
    let dir = Workdir::new();
    let (pipe, copy) = (dir.join("pipe"), dir.join("copy.trcxml"));
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is a command");
    assert!(made.success());
    let reader = {
        let (pipe, copy) = (pipe.clone(), copy.clone());
        std::thread::spawn(move || fs::write(copy, fs::read(pipe)?))
    };
    assert_eq!(run(jdk, &format!("file={}", pipe.display())).status().code(), Some(7));
    reader.join().expect("the reader does not panic").expect("the pipe can be read");
    is_whole(&copy);
}
