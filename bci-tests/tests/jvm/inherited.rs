//! An agent that a JVM got by an environment variable, from a command that was not about this JVM: whatever is wrong, the program
//! runs as it does without agent, and one line says why it is not profiled.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{self, Finished, Running};
use bci_tests::read::{self, Judged};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

/// The user of a child process that is not ours.
const OTHER: u32 = 65_534;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(a_folder_that_is_gone);
    suite.each_jdk(a_folder_of_another_user);
    suite.each_jdk(a_file_that_another_jvm_writes);
    suite.each_jdk(a_file_of_something_else);
    suite.any_jdk(a_pipe_that_nobody_reads);
    suite.each_jdk(options_of_another_version);
    suite.each_jdk(a_second_agent);
    suite.each_jdk(a_second_copy_of_the_agent);
    suite.each_jdk(switched_off);
    suite.any_jdk(other_variables);
    suite.any_jdk(typed_twice);
}

const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// The program, which ends with status 7, with an agent in an environment variable.
fn inheriting(jdk: &Jdk, variable: &str, options: &str) -> Command {
    let mut java = jdk.tool("java");
    java.env(variable, martini::built().agent_path(options));
    java.arg("-cp").arg(java::class_path()).args(["endings.Main", "exit"]);
    java
}

/// Panics unless the program did what it does without agent, and the agent said one line with all of `words`.
#[track_caller]
fn runs_without(ran: &Finished, words: &[&str]) {
    let err = ran.err();
    assert_eq!((ran.status.code(), ran.out().as_str()), (Some(7), "1000 cells ä\n"), "{err}");
    // The JVM and its launcher say which variables they read.
    let of_jvm = |line: &&str| !line.starts_with("Picked up ") && !line.starts_with("NOTE: Picked up ");
    let lines: Vec<&str> = err.lines().filter(of_jvm).filter(|line| *line != "to standard error").collect();
    let [line] = lines[..] else { panic!("{err}") };
    assert!(line.starts_with("martini: ") && words.iter().all(|word| line.contains(word)), "{line}");
}

fn a_folder_that_is_gone(jdk: &Jdk) {
    let dir = Workdir::new();
    let options = format!("file={}/gone/t-%p.trcxml", dir.path().display());
    let ran = process::run(&mut inheriting(jdk, TOOL_OPTIONS, &options));
    runs_without(&ran, &["not profiled", "/gone/t-"]);
}

fn a_folder_of_another_user(jdk: &Jdk) {
    let dir = Workdir::new();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("the folder is ours");
    let options = format!("file={}", dir.join("t-%p.trcxml").display());
    let mut java = inheriting(jdk, TOOL_OPTIONS, &options);
    // Without the right to become another user the folder is made one that nobody can write to.
    let status = Command::new("true").uid(OTHER).status();
    if status.is_ok() {
        java.uid(OTHER).gid(OTHER).current_dir("/");
    } else {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).expect("the folder is ours");
    }
    runs_without(&process::run(&mut java), &["not profiled", "ermission denied"]);
}

fn endless(jdk: &Jdk, options: &str) -> Command {
    let mut java = jdk.tool("java");
    java.arg(martini::built().agent_path(options));
    java.arg("-cp").arg(java::class_path()).args(["graph.Main", "wait"]);
    java
}

/// Even if it was typed: what else runs is not what somebody typed wrongly.
fn a_file_that_another_jvm_writes(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("one.trcxml");
    let options = format!("file={},heap=vm", file.display());
    let mut first = Running::start(&mut endless(jdk, &options));
    first.wait_for("built");
    let words = ["not profiled", "another process", "one.trcxml"];
    runs_without(&process::run(&mut inheriting(jdk, TOOL_OPTIONS, &options)), &words);
    let mut typed = jdk.tool("java");
    typed.arg(martini::built().agent_path(&options));
    typed.arg("-cp").arg(java::class_path()).args(["endings.Main", "exit"]);
    runs_without(&process::run(&mut typed), &words);
    first.finish().success();
    read::trace(&file, Recorded::default(), Judged::Valid);
}

fn a_file_of_something_else(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("keep.txt");
    fs::write(&file, "to be kept").expect("the folder is ours");
    let options = format!("file={}", file.display());
    runs_without(&process::run(&mut inheriting(jdk, TOOL_OPTIONS, &options)), &["not profiled", "keep.txt"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "to be kept");
}

fn a_pipe_that_nobody_reads(jdk: &Jdk) {
    let dir = Workdir::new();
    let pipe = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is a command").success());
    let ran = process::run(&mut inheriting(jdk, TOOL_OPTIONS, &format!("file={}", pipe.display())));
    runs_without(&ran, &["not profiled", "no reader"]);
}

/// As when an older or newer Martini put them there.
fn options_of_another_version(jdk: &Jdk) {
    let ran = process::run(&mut inheriting(jdk, TOOL_OPTIONS, "hepa=events"));
    runs_without(&ran, &["not profiled", "unknown option 'hepa'"]);
}

fn is_whole(file: &Path) {
    let trace = read::trace(file, Recorded::default(), Judged::Valid);
    assert_eq!(trace.of_class("endings.Main$Cell").count(), 1000);
}

/// `martini run` inside `martini run`: the first agent profiles the JVM.
fn a_second_agent(jdk: &Jdk) {
    let dir = Workdir::new();
    let (first, second) = (dir.join("first.trcxml"), dir.join("second.trcxml"));
    let inherited = inheriting(jdk, TOOL_OPTIONS, &format!("file={}", first.display()));
    let mut java = jdk.tool("java");
    java.envs(inherited.get_envs().filter_map(|(name, value)| Some((name, value?))));
    java.arg(martini::built().agent_path(&format!("file={}", second.display()))).args(inherited.get_args());
    runs_without(&process::run(&mut java), &["twice"]);
    is_whole(&first);
    assert!(!second.exists());
}

/// Two files with the same agent are two libraries to the JVM.
fn a_second_copy_of_the_agent(jdk: &Jdk) {
    let dir = Workdir::new();
    let (first, second) = (dir.join("first.trcxml"), dir.join("second.trcxml"));
    let copy = dir.join("libmartini.so");
    fs::copy(&martini::built().agent, &copy).expect("the folder is ours");
    let inherited = inheriting(jdk, TOOL_OPTIONS, &format!("heap=counts,file={}", first.display()));
    let mut java = jdk.tool("java");
    java.envs(inherited.get_envs().filter_map(|(name, value)| Some((name, value?))));
    java.arg(format!("-agentpath:{}=heap=counts,file={}", copy.display(), second.display()));
    java.args(inherited.get_args());
    runs_without(&process::run(&mut java), &["another copy"]);
    read::trace(&first, Recorded::default(), Judged::Valid);
    assert!(!second.exists());
}

/// `MARTINI_OFF=1`: the program's output is what it is without agent, whatever the options are.
fn switched_off(jdk: &Jdk) {
    let dir = Workdir::new();
    let file = dir.join("t.trcxml");
    for options in [format!("file={}", file.display()), "hepa=events".to_owned()] {
        let mut java = jdk.tool("java");
        java.arg(martini::built().agent_path(&options)).env("MARTINI_OFF", "1");
        java.arg("-cp").arg(java::class_path()).args(["endings.Main", "exit"]);
        let ran = process::run(&mut java);
        assert_eq!((ran.status.code(), ran.out().as_str()), (Some(7), "1000 cells ä\n"));
        assert_eq!(ran.err(), "to standard error\n");
    }
    assert!(!file.exists());
}

fn other_variables(jdk: &Jdk) {
    for variable in ["_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"] {
        runs_without(&process::run(&mut inheriting(jdk, variable, "hepa=events")), &["unknown option 'hepa'"]);
    }
}

/// Two agents on one command line are what somebody typed wrongly.
fn typed_twice(jdk: &Jdk) {
    let dir = Workdir::new();
    let mut java = jdk.tool("java");
    for name in ["first", "second"] {
        java.arg(martini::built().agent_path(&format!("file={}", dir.join(name).display())));
    }
    let ran = process::run(java.arg("-version"));
    assert!(!ran.status.success());
    assert_eq!(ran.err().lines().filter(|line| line.starts_with("martini: the agent is loaded twice")).count(), 1);
}
