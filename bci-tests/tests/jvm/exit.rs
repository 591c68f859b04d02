//! However a program ends, it prints and returns what it does without the agent, and its trace has an end, or at least
//! ends with a complete element.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bci_tests::counted::{Counted, Site, Sum};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::waits::Waits;
use bci_tests::{martini, process};

const CELL: &str = "endings.Main$Cell";

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(main_returns);
    suite.each_jdk(system_exit);
    suite.each_jdk(runtime_halt);
    suite.each_jdk(an_exception_nobody_catches);
    suite.each_jdk(daemons_that_allocate_meanwhile);
    suite.any_jdk(terminated);
    suite.each_jdk_and(&[("monitors", "locks=on"), ("locks", "juc=on")], a_server_is_terminated);
    // Not a limit: three moments to be killed at, so that the writer is caught at different work.
    suite.each_jdk_and(&[("at_once", 0), ("after_200_ms", 200), ("after_700_ms", 700)], killed);
    suite.each_jdk(killed_while_counting);
}

fn program<'a>(jdk: &'a Jdk, end: &str) -> Profiled<'a> {
    Profiled::on(jdk).any_status().main("endings.Main").args(&[end])
}

#[track_caller]
fn ends_as_without(jdk: &Jdk, end: &str) -> usize {
    let without = program(jdk, end).without_agent().run();
    let with = program(jdk, end).run_and_read::<Recorded>();
    assert_eq!(with.status(), without.status(), "{}", with.err());
    assert_eq!(with.out(), without.out());
    assert_eq!(with.err(), without.err());
    with.trace.of_class(CELL).count()
}

fn main_returns(jdk: &Jdk) {
    assert_eq!(ends_as_without(jdk, "return"), 1000);
}

fn system_exit(jdk: &Jdk) {
    assert_eq!(ends_as_without(jdk, "exit"), 1000);
}

fn runtime_halt(jdk: &Jdk) {
    assert_eq!(ends_as_without(jdk, "halt"), 1000);
}

fn an_exception_nobody_catches(jdk: &Jdk) {
    assert_eq!(ends_as_without(jdk, "throw"), 1000);
}

/// Threads that allocate while the VM goes down.
fn daemons_that_allocate_meanwhile(jdk: &Jdk) {
    let cells = ends_as_without(jdk, "daemons");
    assert!(cells >= 1000, "{cells}");
}

/// SIGTERM runs the shutdown hooks and VMDeath like System.exit does.
fn terminated(jdk: &Jdk) {
    let mut running = program(jdk, "never").no_schema().start();
    running.wait_for("allocating");
    let sent = Command::new("kill").arg(running.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    assert_eq!(running.finish().status().code(), Some(128 + 15));
}

/// The thread that handles the signal halts the VM with the lock of the shutdown, for which the end of the program waits: the trace
/// names it as the owner after the VM's event of its end.
fn a_server_is_terminated(jdk: &Jdk, options: &str) {
    let program = Profiled::on(jdk).heap(Heap::Off).options(options).any_status();
    let mut running = program.main("lasting.Main").args(&["server"]).start();
    running.wait_for("ready");
    let sent = Command::new("kill").arg(running.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    let ran = running.finish_and_read::<Waits>();
    assert_eq!(ran.status().code(), Some(128 + 15));
    let still = ran.trace.still.iter().find(|still| still.thread == "DestroyJavaVM").expect("it waits for the other");
    assert_eq!(still.owner.as_deref(), Some("SIGTERM handler"));
}

/// Nobody can finish a trace after SIGKILL, but what is there is whole, and readable.
fn killed(jdk: &Jdk, after_millis: u64) {
    let mut running = program(jdk, "never").unfinished().start();
    running.wait_for("allocating");
    std::thread::sleep(Duration::from_millis(after_millis));
    running.kill();
    let ran = running.finish();
    assert_eq!(ran.status().signal(), Some(9));
    assert_ends_with_an_element(&ran.file);
    let out = stats(&ran.file);
    assert!(out.contains(CELL), "{out}");
}

/// What `heap=counts` has written by the time of the kill, a few seconds after the start, is there: the numbers so far, and what lived
/// when somebody asked.
fn killed_while_counting(jdk: &Jdk) {
    let mut running = program(jdk, "never").heap(Heap::Counts).unfinished().start();
    running.wait_for("allocating");
    let file = running.file.clone();
    let request = format!("{}.live", file.display());
    fs::write(&request, "").expect("the folder is ours");
    // Both are written in one go, so the second is behind the first.
    let has_live_counts = |text: &[u8]| String::from_utf8_lossy(text).contains("<liveCount ");
    process::wait_until(|| fs::read(&file).is_ok_and(|text| has_live_counts(&text)));
    assert!(!Path::new(&request).exists(), "the request was not taken away");
    let counted = Counted::read(&file).sites;
    process::wait_until(|| cells(&Counted::read(&file).sites) > cells(&counted));
    running.kill();
    let ran = running.finish_and_read::<Counted>();
    assert_eq!(ran.status().signal(), Some(9));
    assert_ends_with_an_element(&file);
    for name in ["endless-0", "endless-1", "endless-2"] {
        let account = ran.trace.threads.get(name).unwrap_or_else(|| panic!("no account of {name}"));
        assert!(account.instances > 1000 && account.vm_bytes > Some(16_000), "{account:?}");
    }
    let out = stats(&file);
    assert!(out.contains(CELL) && out.contains("live"), "{out}");
}

fn cells(sites: &BTreeMap<Site, Sum>) -> u64 {
    sites.iter().filter(|(site, _)| site.class == CELL).map(|(_, sum)| sum.instances).sum()
}

/// What `martini stats` prints.
#[track_caller]
fn stats(file: &Path) -> String {
    process::run(Command::new(&martini::built().command).args(["stats", "--wide"]).arg(file)).success().out()
}

#[track_caller]
fn assert_ends_with_an_element(file: &Path) {
    let bytes = fs::read(file).expect("the trace is there");
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(200)..]);
    assert!(end.ends_with("/>\n"), "{end:?}");
}
