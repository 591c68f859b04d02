//! `martini run` on a real JVM: counts where nobody asks for more, and the coverage at the end.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::java::{compile, java};
use crate::support::{Ended, end, martini};

/// Allocates 200 MB on a thread of its own, so that what happens in starting and ending weighs little.
const PROGRAM: &str = "
    static volatile Object sink;
    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> { for (int i = 0; i < 200_000; i++) { sink = new byte[984]; } }, \"maker\");
        thread.start();
        thread.join();
        if (args.length > 0) { System.exit(Integer.parseInt(args[0])); }
    }";

fn place() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path(), "Program", PROGRAM);
    folder
}

fn run(folder: &Path, options: &[&str], program: &[&str]) -> Ended {
    let java = java();
    let arguments = [&["run"], options, &[&java, "-XX:-DoEscapeAnalysis", "-cp", ".", "Program"], program].concat();
    end(martini().current_dir(folder).args(arguments))
}

fn coverage_of(ended: &Ended) -> &str {
    ended.err.lines().find(|line| line.starts_with("coverage: ")).unwrap_or_else(|| panic!("{}", ended.err))
}

#[test]
fn without_options_sites_are_counted() {
    let folder = place();
    let ended = run(folder.path(), &["--file", "t.trcxml"], &[]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let row = ended.err.lines().skip_while(|line| !line.ends_with("  where, in your code")).nth(1);
    let is_found = |row: &str| row.contains("  190.7 MiB ") && row.ends_with("  Program.lambda$main$0(Program.java:4)");
    assert!(row.is_some_and(is_found), "{}", ended.err);
    let coverage = coverage_of(&ended);
    assert!(coverage.contains(" that the JVM accounted for are counted, "), "{coverage}");
    assert!(coverage.contains("lowest coverage of any thread over 10 MB: \"maker\", "), "{coverage}");
    let trace = std::fs::read_to_string(folder.path().join("t.trcxml")).unwrap();
    assert!(!trace.contains("<objAlloc "));
    assert!(trace.len() < 2_000_000, "{}", trace.len());
    // The sampler took some of the 190 MiB, with their callers.
    assert!(trace.contains("<allocSample ") && trace.contains("key=\"callers.interval\""));
}

#[test]
fn callers_can_be_left_out() {
    let folder = place();
    let ended = run(folder.path(), &["--file", "t.trcxml", "--callers", "off"], &[]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let trace = std::fs::read_to_string(folder.path().join("t.trcxml")).unwrap();
    assert!(trace.contains("<allocCount ") && !trace.contains("<allocSample ") && !trace.contains("callers.interval"));
}

#[test]
fn what_only_objects_have_asks_for_events() {
    let folder = place();
    let options = ["--file", "t.trcxml", "--allocsites", "--include", "Program*"];
    let ended = run(folder.path(), &options, &[]);
    assert!(ended.err.contains("  where, in your code\n"), "{}", ended.err);
    assert!(coverage_of(&ended).contains("filters leave classes out of the trace"), "{}", ended.err);
}

#[test]
fn a_trace_that_is_exact_enough_passes() {
    let folder = place();
    for options in [&["--file", "t.trcxml"][..], &["--file", "t.zip", "--format", "zip"], &["--quiet"]] {
        let ended = run(folder.path(), &[options, &["--require-exact", "99"]].concat(), &[]);
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(!ended.err.contains("--require-exact"), "{}", ended.err);
    }
}

/// A third of the few bytes of `java -version` is the VM's own.
#[test]
fn what_the_vm_makes_itself_is_not_held_against_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "--file", "t.trcxml", "--require-exact", "99.9", &java(), "-version"];
    let ended = end(martini().current_dir(folder.path()).args(arguments));
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(!coverage_of(&ended).starts_with("coverage: 99.9"), "{}", ended.err);
}

#[test]
fn a_trace_that_is_not_exact_enough_fails_with_a_sentence() {
    let folder = place();
    let exact = ["--quiet", "--file", "t.trcxml", "--require-exact"];
    let ended = run(folder.path(), &[&exact[..], &["100", "--exclude", "byte"]].concat(), &[]);
    assert_eq!((ended.status, ended.out.as_str()), (125, ""));
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(
        ended.err.starts_with("martini: ") && ended.err.contains("filters leave classes out of the trace"),
        "{}",
        ended.err
    );
    let ended = run(folder.path(), &[&exact[..], &["100", "--limit", "100k", "--heap", "events"]].concat(), &[]);
    assert_eq!(ended.status, 125);
    assert!(ended.err.contains("unknown: the trace was ended at its limit"), "{}", ended.err);
    // The program's own failure comes first.
    let ended = run(folder.path(), &[&exact[..], &["100", "--exclude", "byte"]].concat(), &["3"]);
    assert_eq!(ended.status, 3);
}

#[test]
fn no_trace_is_not_exact() {
    let folder = place();
    let mut command = martini();
    let ended = end(command.current_dir(folder.path()).args(["run", "-q", "--require-exact", "1", "true"]));
    assert_eq!(ended.status, 125);
    assert!(ended.err.contains("--require-exact needs 1 %, but there is no trace"), "{}", ended.err);
    for wrong in ["-1", "101", "NaN", "all"] {
        let ended = end(martini().args(["run", &format!("--require-exact={wrong}"), "true"]));
        assert_eq!(ended.status, 2, "{wrong}");
        assert!(ended.err.contains("give a percentage from 0 to 100"), "{}", ended.err);
    }
}

/// A program that allocates for some seconds, seen on a terminal that `script` makes.
#[test]
fn a_terminal_is_left_to_the_program_while_it_runs() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no `script` to make a terminal");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let body = "static volatile Object sink;
        public static void main(String[] args) throws Exception {
            for (int i = 0; i < 300; i++) { for (int j = 0; j < 100; j++) { sink = new int[j]; } Thread.sleep(10); }
            System.out.println(\"the last line\");
        }";
    compile(folder.path(), "Slow", body);
    let line = format!("'{}' run --heap events '{}' -cp . Slow", env!("CARGO_BIN_EXE_martini"), java());
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    let (before, behind) = shown.split_once("the last line").expect("the program prints it");
    assert!(before.trim().is_empty() && behind.contains("martini:"), "{shown}");
}
