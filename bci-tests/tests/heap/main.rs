//! Heap dumps made by JVMs, and what Martini makes of them: sizes to the byte, who holds what, leaks planted in a real program.

mod histogram;
mod known;
mod leaks;
mod own;
mod waste;

use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::heap_dump::load::{self, Loaded};
use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini::workspace;
use bci_tests::process;
use bci_tests::say::say;
use hprof::read::DumpFile;

/// A program of other people, and what it needs.
struct Program {
    jars: &'static [&'static str],
    main_class: &'static str,
    /// `{real}` stands for the folder with the inputs.
    args: &'static [&'static str],
}

const ECJ: Program = Program {
    jars: &["ecj-3.33.0.jar"],
    main_class: "org.eclipse.jdt.internal.compiler.batch.Main",
    args: &["-source", "11", "-target", "11", "-d", "out", "{real}/javac/Inventory.java"],
};

const HSQLDB: Program = Program {
    jars: &["hsqldb-2.7.2.jar", "sqltool-2.7.2.jar"],
    main_class: "org.hsqldb.cmdline.SqlTool",
    args: &["--inlineRc=url=jdbc:hsqldb:mem:orders,user=SA,password=", "{real}/hsqldb/orders.sql"],
};

const CLOJURE: Program = Program {
    jars: &["clojure-1.11.1.jar", "spec.alpha-0.3.218.jar", "core.specs.alpha-0.2.62.jar"],
    main_class: "clojure.main",
    args: &["{real}/clojure/primes.clj"],
};

/// The program, run by one of our main classes that holds the JVM at its end; `None`, with a word about it, where the jars are missing.
fn command(program: &Program, jdk: &Jdk, flags: &[&str], before: &[&str], folder: &Path) -> Option<Command> {
    let Some(jars) = std::env::var_os("MARTINI_REAL_PROGRAMS").map(PathBuf::from) else {
        say(&format!("{} is not tested: MARTINI_REAL_PROGRAMS names no folder with its jars", program.main_class));
        return None;
    };
    let own = std::env::split_paths(java::class_path());
    let path = std::env::join_paths(own.chain(program.jars.iter().map(|jar| jars.join(jar)))).expect("no colons");
    let input = workspace().join("bci-tests/real");
    let mut command = jdk.tool("java");
    command.current_dir(folder).args(flags).arg("-Xmx512m").arg("-cp").arg(path).args(before).arg(program.main_class);
    command.args(program.args.iter().map(|arg| arg.replace("{real}", &input.to_string_lossy())));
    Some(command)
}

/// Has a JVM dump its heap.
#[track_caller]
fn dump(jdk: &Jdk, pid: u32, file: &Path) {
    let _ = std::fs::remove_file(file);
    process::run(jdk.tool("jcmd").arg(pid.to_string()).arg("GC.heap_dump").arg(file)).success();
}

/// Reads a dump.
#[track_caller]
fn read(file: &Path) -> (DumpFile, Loaded) {
    let dump = DumpFile::open(file).expect("the JVM wrote it");
    let loaded = load::load(&dump, &mut |_, _| {}).expect("the JVM's dumps can be read");
    assert_eq!(loaded.graph.problems().broken, None);
    (dump, loaded)
}
