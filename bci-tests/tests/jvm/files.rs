//! What happens to files that are there already: nothing is written through a symbolic link or over something else, and what is
//! written is its owner's alone.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::process::{self, Finished};
use bci_tests::read::{self, Judged};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{jdk, martini};

/// What the user would not like to lose.
const KEPT: &str = "to be kept\n";

/// Any other user.
const OTHER: u32 = 65_534;

pub(crate) fn tests(suite: &mut Suite) {
    let options = [("trace", "file"), ("lock_log", "locklog")];
    suite.jdks(..).of(&[jdk::any().feature]).each_and(&options, a_symbolic_link_is_not_followed);
    suite.jdks(..).of(&[jdk::any().feature]).each_and(&options, a_file_of_something_else_stays);
    suite.any_jdk(a_file_with_two_names_stays);
    suite.any_jdk(a_file_of_another_user_stays);
    suite.any_jdk(an_old_trace_becomes_its_owners_alone);
    suite.any_jdk(a_default_name_that_is_taken_becomes_the_next);
    suite.any_jdk(standard_output_is_a_place_for_a_trace);
}

/// The program, which ends with status 7, with these options of the agent.
fn java(jdk: &Jdk, options: &str) -> Command {
    let mut java = jdk.tool("java");
    java.arg(martini::built().agent_path(options));
    java.arg("-cp").arg(java::class_path()).args(["endings.Main", "exit"]);
    java
}

/// Panics unless the program did not start, and the agent said so in one line with all of `words`.
#[track_caller]
fn is_refused(ran: &Finished, words: &[&str]) {
    assert!(!ran.status.success() && ran.status.code() != Some(7), "the program ran");
    assert!(!ran.out().contains("1000 cells"), "the program ran");
    let err = ran.err();
    let ours: Vec<&str> = err.lines().filter(|line| line.starts_with("martini: ")).collect();
    assert!(ours.len() == 1 && words.iter().all(|word| ours[0].contains(word)), "{err}");
}

#[track_caller]
fn is_whole(trace: &Path) {
    let trace = read::trace(trace, Recorded::default(), Judged::Valid);
    assert_eq!(trace.of_class("endings.Main$Cell").count(), 1000);
}

#[track_caller]
fn is_private(file: &Path) {
    assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600, "{}", file.display());
}

/// Options that write the trace or the lock log to `path`, and all else into the folder.
fn writing(option: &str, path: &Path, dir: &Workdir) -> String {
    let (path, other) = (path.display(), dir.join("other.trcxml"));
    if option == "file" { format!("file={path}") } else { format!("{option}={path},file={}", other.display()) }
}

fn a_symbolic_link_is_not_followed(jdk: &Jdk, option: &str) {
    let dir = Workdir::new();
    let (kept, link) = (dir.join("keep.txt"), dir.join("link"));
    fs::write(&kept, KEPT).expect("the folder is ours");
    symlink(&kept, &link).expect("the folder is ours");
    let ran = process::run(&mut java(jdk, &writing(option, &link, &dir)));
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), KEPT);
    is_refused(&ran, &[&link.to_string_lossy(), "symbolic link", option]);
    // One whose target is not there makes none.
    fs::remove_file(&kept).expect("the folder is ours");
    is_refused(&process::run(&mut java(jdk, &writing(option, &link, &dir))), &["symbolic link"]);
    assert!(!kept.exists());
}

fn a_file_of_something_else_stays(jdk: &Jdk, option: &str) {
    let dir = Workdir::new();
    let kept = dir.join("keep.txt");
    fs::write(&kept, KEPT).expect("the folder is ours");
    let ran = process::run(&mut java(jdk, &writing(option, &kept, &dir)));
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), KEPT);
    is_refused(&ran, &[&kept.to_string_lossy(), option]);
}

/// An old trace, to be written over.
fn old_trace(path: &Path) {
    fs::write(path, trace::writer::DOCUMENT_START).expect("the folder is ours");
}

fn a_file_with_two_names_stays(jdk: &Jdk) {
    let dir = Workdir::new();
    let (first, second) = (dir.join("first.trcxml"), dir.join("second.trcxml"));
    old_trace(&first);
    fs::hard_link(&first, &second).expect("the folder is ours");
    let ran = process::run(&mut java(jdk, &format!("file={}", second.display())));
    assert_eq!(fs::read(&first).expect("it is there"), trace::writer::DOCUMENT_START);
    is_refused(&ran, &["second.trcxml", "hard link"]);
}

fn a_file_of_another_user_stays(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("theirs.trcxml");
    old_trace(&file);
    if chown(&file, Some(OTHER), None).is_err() {
        bci_tests::say::say("only root can give a file away: not tested");
        return;
    }
    let ran = process::run(&mut java(jdk, &format!("file={}", file.display())));
    assert_eq!(fs::read(&file).expect("it is there"), trace::writer::DOCUMENT_START);
    is_refused(&ran, &["theirs.trcxml", "another user"]);
}

fn an_old_trace_becomes_its_owners_alone(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("old.trcxml");
    old_trace(&file);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the file is ours");
    assert_eq!(process::run(&mut java(jdk, &format!("file={}", file.display()))).status.code(), Some(7));
    is_private(&file);
    is_whole(&file);
}

/// As in two containers that share a folder, in each of which the JVM is process 1.
fn a_default_name_that_is_taken_becomes_the_next(jdk: &Jdk) {
    let dir = Workdir::new();
    let mut shell = Command::new("sh");
    // The JVM has the id of the shell that becomes it.
    let script = "echo to be kept > t-$$.trcxml; echo to be kept > t-$$-2.trcxml; echo to be kept > l-$$; exec \"$@\"";
    shell.current_dir(dir.path()).args(["-c", script, "sh"]);
    let java = java(jdk, "file=t-%p.trcxml,heap=events,locklog=l-%p");
    shell.arg(java.get_program()).args(java.get_args());
    assert_eq!(process::run(&mut shell).status.code(), Some(7));
    let files = fs::read_dir(dir.path()).expect("the folder is ours").map(|entry| entry.expect("an entry").path());
    let (kept, new): (Vec<_>, Vec<_>) =
        files.partition(|file| fs::read(file).is_ok_and(|text| text == KEPT.as_bytes()));
    assert_eq!((kept.len(), new.len()), (3, 2), "{kept:?} {new:?}");
    let (traces, logs): (Vec<_>, Vec<_>) =
        new.into_iter().partition(|file| file.extension().is_some_and(|extension| extension == "trcxml"));
    assert!(traces[0].to_string_lossy().ends_with("-3.trcxml") && logs[0].to_string_lossy().ends_with("-2"));
    is_whole(&traces[0]);
    is_private(&traces[0]);
    is_private(&logs[0]);
}

/// `/dev/stdout` is a symbolic link; what it leads to is appended to, so that nothing is lost of a file that the shell opened.
fn standard_output_is_a_place_for_a_trace(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("out");
    fs::write(&file, KEPT).expect("the folder is ours");
    let number = file.metadata().expect("it is there").ino();
    let appending = fs::OpenOptions::new().append(true).open(&file).expect("the file is ours");
    let mut java = java(jdk, "file=/dev/stdout");
    let status = java.stdout(Stdio::from(appending)).stderr(Stdio::null()).status().expect("java starts");
    assert_eq!(status.code(), Some(7));
    let text = fs::read_to_string(&file).expect("it is there");
    assert_eq!(file.metadata().expect("it is there").ino(), number);
    let rest = text.strip_prefix(KEPT).expect("what was there stays");
    assert!(rest.contains("<TRACE>") && rest.contains("</TRACE>"), "{rest}");
}
