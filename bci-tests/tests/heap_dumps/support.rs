//! How the tests of this binary get at heap dumps.

use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::heap_dump::load::{self, Loaded};
use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Profiled, Started};
use bci_tests::{martini, process};
use hprof::read::DumpFile;
use serde_json::Value;

/// Starts the program whose graph is known, with a chain of so many nodes, and waits until it is built.
#[track_caller]
pub(crate) fn start(profiled: Profiled<'_>, collector: Collector, chain: u64) -> Started {
    let flags = ["-Xmx512m".to_owned(), format!("-Dgraph.chain={chain}")];
    let mut program = profiled.flags(&flags).collector(collector).main("graph.Main").args(&["wait"]).start();
    program.wait_for("built");
    program
}

/// The file of Martini's dump with this number, beside a trace.
pub(crate) fn dump_of(trace: &Path, number: u32) -> PathBuf {
    let name = trace.file_stem().expect("a trace has a name").to_string_lossy();
    trace.with_file_name(format!("{name}-{number}.hprof"))
}

/// Asks Martini for its dump with this number, and waits until it is there.
#[track_caller]
pub(crate) fn request(program: &Started, number: u32) -> PathBuf {
    let trigger = format!("{}.dump", program.file.display());
    std::fs::write(&trigger, "").expect("the trigger can be made");
    let dump = dump_of(&program.file, number);
    process::wait_until(|| dump.is_file());
    assert!(!Path::new(&trigger).exists(), "the trigger is taken away");
    dump
}

/// Has the JVM dump its heap.
#[track_caller]
pub(crate) fn dumped_by_the_jvm(jdk: &Jdk, pid: u32, file: &Path) {
    process::run(jdk.tool("jcmd").arg(pid.to_string()).arg("GC.heap_dump").arg(file)).success();
    assert!(file.is_file(), "the JVM has dumped its heap");
}

/// Reads a dump as `martini heap` does.
#[track_caller]
pub(crate) fn read(file: &Path) -> (DumpFile, Loaded) {
    let dump = DumpFile::open(file).expect("it was written");
    let loaded = load::load(&dump, &mut |_, _| {}).expect("it can be read");
    assert_eq!(loaded.graph.problems().broken, None);
    (dump, loaded)
}

/// What `martini heap --json` says of a file.
#[track_caller]
pub(crate) fn report(file: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(&martini::built().command);
    let ran = process::run(command.args(["heap", "--json"]).args(arguments).arg(file)).success();
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    report["dumps"][0].clone()
}
