//! However a program ends, it says and returns what it does without the agent, and its trace has an end, or at least
//! ends with a complete element.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;

const CELL: &str = "endings.Main$Cell";

#[track_caller]
fn ends_as_without(ending: &str) {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("ending.trcxml");
        let agent = martini::built().agent_path(&format!("file={}", file.display()));
        let without = process::run(&mut java::program(jdk, &[], "endings.Main", &[ending]));
        let with = process::run(&mut java::with_agent(jdk, &[], Some(agent), "endings.Main", &[ending]));
        assert_eq!(with.status, without.status, "JDK {jdk}\n{}", with.err());
        assert_eq!(with.out(), without.out(), "JDK {jdk}");
        assert_eq!(with.err(), without.err(), "JDK {jdk}");

        let trace = Recorded::read(&file);
        assert!(trace.complete, "JDK {jdk}: the trace has no end");
        let cells = trace.of_class(CELL).count();
        assert!(if ending == "daemons" { cells >= 1000 } else { cells == 1000 }, "JDK {jdk}: {cells} cells");
        schema::check(&file, Schema::Strict);
        schema::validate(&file);
    }
}

#[test]
fn main_returns() {
    ends_as_without("return");
}

#[test]
fn system_exit() {
    ends_as_without("exit");
}

#[test]
fn runtime_halt() {
    ends_as_without("halt");
}

#[test]
fn an_exception_nobody_catches() {
    ends_as_without("throw");
}

/// Threads that allocate while the VM goes down.
#[test]
fn daemons_run_on() {
    ends_as_without("daemons");
}

/// SIGTERM runs the shutdown hooks and VMDeath like System.exit does.
#[test]
fn terminated() {
    let dir = Workdir::new();
    let file = dir.join("terminated.trcxml");
    let agent = martini::built().agent_path(&format!("file={}", file.display()));
    let mut running = Running::start(&mut java::with_agent(jdk::any(), &[], Some(agent), "endings.Main", &["never"]));
    running.wait_for("allocating");
    let told = Command::new("kill").arg(running.pid().to_string()).status().expect("kill is a command");
    assert!(told.success());
    assert_eq!(running.finish().status.code(), Some(128 + 15));
    let trace = Recorded::read(&file);
    assert!(trace.complete);
    schema::validate(&file);
}

/// Nobody can finish a trace after SIGKILL, but what is there is whole, and readable.
#[test]
fn killed() {
    for jdk in jdk::each_feature() {
        for patience in [0, 200, 700] {
            let dir = Workdir::new();
            let file = dir.join("killed.trcxml");
            let agent = martini::built().agent_path(&format!("file={}", file.display()));
            let mut command = java::with_agent(jdk, &[], Some(agent), "endings.Main", &["never"]);
            let mut running = Running::start(&mut command);
            running.wait_for("allocating");
            // Not a limit: three moments to be killed at, so that the writer is caught at different work.
            std::thread::sleep(Duration::from_millis(patience));
            running.kill();
            assert_eq!(running.finish().status.signal(), Some(9));

            let bytes = std::fs::read(&file).expect("the trace is there");
            assert!(bytes.ends_with(b"/>\n"), "JDK {jdk}: {:?}", tail(&bytes));
            let trace = Recorded::read(&file);
            assert!(!trace.complete, "JDK {jdk}: nobody can have written the end");
            schema::check(&file, Schema::Strict);
            schema::validate_unfinished(&file);

            let stats = process::run(Command::new(&martini::built().command).arg("stats").arg(&file)).success();
            assert!(stats.out().contains(CELL), "JDK {jdk}: {}", stats.out());
        }
    }
}

fn tail(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(200)..]).into_owned()
}
