//! However a program ends, it says and returns what it does without the agent, and its trace has an end, or at least
//! ends with a complete element.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

use bci_tests::counted::{Counted, Markers, Site, Sum};
use bci_tests::java;
use bci_tests::jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;

const NO_MARKERS: Markers = Markers { begin: "", end: "" };

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

/// What `heap=counts` has written by the time of the kill is there: the numbers so far, and what lived when somebody asked.
#[test]
fn killed_while_counting() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("counting.trcxml");
        let agent = martini::built().agent_path(&format!("heap=counts,every=1,file={}", file.display()));
        let mut running = Running::start(&mut java::with_agent(jdk, &[], Some(agent), "endings.Main", &["never"]));
        running.wait_for("allocating");
        let request = dir.join("counting.trcxml.live");
        std::fs::write(&request, "").expect("the folder is ours");
        // Both are written in one go, so the second is behind the first.
        wait_until(|| std::fs::read(&file).is_ok_and(|text| String::from_utf8_lossy(&text).contains("<liveCount ")));
        assert!(!request.exists(), "JDK {jdk}: the request was not taken away");
        let counted = Counted::read(&file, NO_MARKERS).sites;
        wait_until(|| cells(&Counted::read(&file, NO_MARKERS).sites) > cells(&counted));
        running.kill();
        assert_eq!(running.finish().status.signal(), Some(9));

        let bytes = std::fs::read(&file).expect("the trace is there");
        assert!(bytes.ends_with(b"/>\n"), "JDK {jdk}: {:?}", tail(&bytes));
        schema::check(&file, Schema::Strict);
        schema::validate_unfinished(&file);
        let trace = Counted::read(&file, NO_MARKERS);
        assert!(!trace.complete, "JDK {jdk}: nobody can have written the end");
        for name in ["endless-0", "endless-1", "endless-2"] {
            let account = trace.threads.get(name).unwrap_or_else(|| panic!("JDK {jdk}: no account of {name}"));
            assert!(account.instances > 1000 && account.vm_bytes > Some(16_000), "JDK {jdk}: {account:?}");
        }
        let stats = process::run(Command::new(&martini::built().command).arg("stats").arg(&file)).success();
        assert!(stats.out().contains(CELL) && stats.out().contains("live"), "JDK {jdk}: {}", stats.out());
    }
}

fn cells(sites: &BTreeMap<Site, Sum>) -> u64 {
    sites.iter().filter(|(site, _)| site.class == CELL).map(|(_, sum)| sum.instances).sum()
}

/// Waits for what must come, unless the test's own time is up.
fn wait_until(is_there: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(300), "waited in vain");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn tail(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(200)..]).into_owned()
}
