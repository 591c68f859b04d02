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
use bci_tests::workdir::Workdir;
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
    suite.each_jdk(killed_within_the_first_second);
    let native = [("main_thread", "native"), ("other_thread", "native_elsewhere")];
    suite.each_jdk_and(&native, native_code_exits);
    suite.each_jdk(a_process_that_native_code_forks_exits);
    suite.each_jdk_and(&[("exits", AT_ONCE), ("aborts", ABORTS)], native_code_ends_the_process_at_once);
    let full = [("main_thread", "fill"), ("other_thread", "fill_elsewhere"), ("array", "array")];
    suite.each_jdk_and(&full, the_jvm_exits_without_memory);
    suite.each_jdk(the_jvm_does_not_exit_for_a_thread);
    suite.each_jdk_and(&[("counts", Heap::Counts), ("vm", Heap::Vm)], a_heap_is_dumped_before_the_jvm_exits);
    suite.each_jdk(a_heap_is_dumped_before_the_jvm_crashes);
    suite.each_jdk(a_stack_overflows);
}

// What native code does: `exit`, `_exit`, `abort`, or `exit` in a process that it forks.
const EXITS: &str = "0";
const AT_ONCE: &str = "1";
const ABORTS: &str = "2";
const FORKS: &str = "3";

/// A flag of the JVM that names the library.
fn library() -> String {
    format!("-Dlibrary={}", native_code::library(&martini::profile_folder()).display())
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

/// `exit` in native code sends no VMDeath, and the trace has its end.
fn native_code_exits(jdk: &Jdk, end: &str) {
    let library = library();
    let run = |heap| {
        let program = Profiled::on(jdk).heap(heap).any_status().flags(&[&library]).main("endings.Main");
        program.args(&[end, EXITS])
    };
    let without = run(Heap::Events).without_agent().run();
    let events = run(Heap::Events).run_and_read::<Recorded>();
    assert!(events.trace.of_class(CELL).count() >= 1000);
    let counts = run(Heap::Counts).run_and_read::<Counted>();
    assert!(cells(&counts.trace.sites) >= 1000);
    for (status, out, err) in
        [(events.status(), events.out(), events.err()), (counts.status(), counts.out(), counts.err())]
    {
        assert_eq!((status.code(), out, err), (Some(5), without.out(), without.err()));
    }
}

/// The child has what the JVM has registered for its exit, and leaves the trace alone.
fn a_process_that_native_code_forks_exits(jdk: &Jdk) {
    let program = program(jdk, "native").flags(&[library()]).args(&[FORKS]);
    let ran = program.run_and_read::<Recorded>();
    assert_eq!((ran.status().code(), ran.out().as_str()), (Some(0), "1000 cells ä\nwent on\n"));
    assert_eq!(ran.trace.of_class(CELL).count(), 1000);
}

fn native_code_ends_the_process_at_once(jdk: &Jdk, way: &str) {
    let folder = Workdir::new();
    let flags = [library(), "-XX:-CreateCoredumpOnCrash".into()];
    let program = program(jdk, "native").flags(&flags).args(&[way]).in_folder(folder.path()).unfinished();
    let ran = program.run();
    assert!(!ran.status().success());
    assert!(ran.out().starts_with("1000 cells"), "{}", ran.out());
    assert_ends_with_an_element(&ran.file);
    assert!(stats(&ran.file).contains("the trace was cut off"));
}

/// A JVM with little room that ends when it has none; `-Xlog` leaves out the line by which it says that an agent is told.
fn full<'a>(jdk: &'a Jdk, heap: Heap, flag: &str, end: &str) -> Profiled<'a> {
    let flags = ["-Xmx48m", "-Xlog:jvmti=off", "-XX:-CreateCoredumpOnCrash", flag];
    Profiled::on(jdk).heap(heap).any_status().flags(&flags).main("endings.Main").args(&[end])
}

const EXIT: &str = "-XX:+ExitOnOutOfMemoryError";

/// The VM exits before it tells an agent; the agent does so in its place.
fn the_jvm_exits_without_memory(jdk: &Jdk, end: &str) {
    let without = full(jdk, Heap::Counts, EXIT, end).without_agent().run();
    let with = full(jdk, Heap::Counts, EXIT, end).run_and_read::<Counted>();
    assert_eq!(with.status().code(), Some(3));
    assert_eq!((with.status(), with.out(), with.err()), (without.status(), without.out(), without.err()));
    assert!(cells(&with.trace.sites) >= 1000);
}

fn the_jvm_does_not_exit_for_a_thread(jdk: &Jdk) {
    let ran = full(jdk, Heap::Counts, EXIT, "thread").run_and_read::<Counted>();
    assert_eq!(ran.status().code(), Some(0));
    assert!(ran.out().ends_with("no thread\n"), "{}", ran.out());
}

fn a_heap_is_dumped_before_the_jvm_exits(jdk: &Jdk, heap: Heap) {
    let ran = full(jdk, heap, EXIT, "fill").option("dump", "oom").run();
    assert_eq!(ran.status().code(), Some(3), "{}", ran.err());
    assert!(ran.err().lines().all(|line| line == "to standard error"), "{}", ran.err());
    assert_holds_the_list(&ran.file);
}

/// Only the VM can crash as it does: it writes the dump itself, and a line says so at the start.
fn a_heap_is_dumped_before_the_jvm_crashes(jdk: &Jdk) {
    let folder = Workdir::new();
    let crash = || full(jdk, Heap::Counts, "-XX:+CrashOnOutOfMemoryError", "fill").in_folder(folder.path());
    let without = crash().without_agent().run();
    let with = crash().option("dump", "oom").unfinished().run();
    assert_eq!(with.status(), without.status());
    assert!(with.err().contains("CrashOnOutOfMemoryError the JVM ends before dump=oom is told"), "{}", with.err());
    assert_holds_the_list(&with.file);
    assert_ends_with_an_element(&with.file);
}

/// The dump beside the trace has what filled the heap.
#[track_caller]
fn assert_holds_the_list(trace: &Path) {
    let dump = trace.with_file_name(format!("{}-1.hprof", trace.file_stem().unwrap_or_default().to_string_lossy()));
    let out = process::run(Command::new(&martini::built().command).args(["heap", "--wide"]).arg(&dump)).success().out();
    assert!(out.contains("byte[]"), "{out}");
}

/// A program that runs out of stack is not one that ends without VMDeath.
fn a_stack_overflows(jdk: &Jdk) {
    assert_eq!(ends_as_without(jdk, "overflow"), 1000);
}

/// Counts are written early, too.
fn killed_within_the_first_second(jdk: &Jdk) {
    let mut running = program(jdk, "never").heap(Heap::Counts).unfinished().start();
    running.wait_for("allocating");
    let file = running.file.clone();
    process::wait_until(|| cells(&Counted::read(&file).sites) > 1000);
    running.kill();
    let ran = running.finish_and_read::<Counted>();
    assert_ends_with_an_element(&file);
    assert!(cells(&ran.trace.sites) > 1000);
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
