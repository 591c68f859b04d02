//! Programs that nobody here wrote, with every object recorded: they say and write what they do without the agent, the
//! trace is valid, and what lives in it at the end is what the JVM's own heap histogram shows.

mod living;
mod programs;
mod truth;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::histogram::{Histogram, Which};
use bci_tests::java;
use bci_tests::jdk::{self, Jdk};
use bci_tests::martini::{self, workspace};
use bci_tests::process::{Finished, Running};
use bci_tests::recorded::Recorded;
use bci_tests::say::say;
use bci_tests::schema::{self, Schema};
use bci_tests::workdir::Workdir;

use programs::Program;

/// The folder with the programs' jars, if the machine has it.
fn jars() -> Option<PathBuf> {
    std::env::var_os("MARTINI_REAL_PROGRAMS").map(PathBuf::from)
}

fn command(program: &Program, jdk: &Jdk, flags: &[&str], agent: Option<OsString>, folder: &Path) -> Command {
    let jars = jars().unwrap_or_default();
    let own = std::env::split_paths(java::class_path());
    let path = std::env::join_paths(own.chain(program.jars.iter().map(|jar| jars.join(jar)))).expect("no colons");
    let input = workspace().join("bci-tests/real");
    let bench = workspace().join("bci-tests/real-bench");
    let args = program.args.iter();
    let args = args.map(|a| a.replace("{real}", &input.to_string_lossy()).replace("{bench}", &bench.to_string_lossy()));
    let mut command = jdk.tool("java");
    command.current_dir(folder).args(flags).args(agent).arg("-Xmx1g").arg("-cp").arg(path);
    command.arg("hold.Main").arg(program.main_class).args(args);
    command
}

/// Runs it to its end and looks at the heap of the JVM just before that.
fn run(command: &mut Command, jdk: &Jdk, look: bool) -> (Finished, Option<Histogram>) {
    let mut running = Running::start(command);
    running.wait_for("held");
    let seen = look.then(|| Histogram::of(jdk, running.pid(), Which::Living));
    running.tell("");
    (running.finish(), seen)
}

#[track_caller]
fn check(program: &Program, jdk: &Jdk) {
    let place = format!("{} on JDK {jdk}", program.name);
    let dir = Workdir::new();
    // Both runs see the same folder, and find it empty.
    let (folder, bare, file) = (dir.join("run"), dir.join("bare"), dir.join("trace.trcxml"));
    fs::create_dir(&folder).expect("the folder is ours");
    let (without, _) = run(&mut command(program, jdk, &[], None, &folder), jdk, false);
    fs::rename(&folder, &bare).expect("the folder is ours");
    fs::create_dir(&folder).expect("the folder is ours");
    let agent = martini::built().agent_path(&format!("heap=events,file={}", file.display()));
    let (with, living) = run(&mut command(program, jdk, &[], Some(agent), &folder), jdk, true);

    assert!(without.status.success(), "{place} fails without the agent\n{}\n{}", without.out(), without.err());
    assert_eq!(with.status, without.status, "{place}\n{}", with.err());
    assert_eq!((program.normalise)(&with.out()), (program.normalise)(&without.out()), "{place}: standard output");
    assert_eq!(with.err(), without.err(), "{place}: standard error");
    let (files, bare_files) = (contents(&folder), contents(&bare));
    assert_eq!(files.keys().collect::<Vec<_>>(), bare_files.keys().collect::<Vec<_>>(), "{place}: files");
    for (name, bytes) in &files {
        assert!(*bytes == bare_files[name], "{place}: {} differs", name.display());
    }

    schema::check(&file, Schema::Strict);
    schema::check(&file, Schema::Lenient);
    schema::validate(&file);
    let trace = Recorded::read(&file);
    assert!(trace.complete, "{place}");
    assert!(trace.objects.len() > 50_000, "{place}: only {} objects", trace.objects.len());
    let differences = living::differences(&living.expect("looked at above"), &trace, program.packages);
    assert!(differences.is_empty(), "{place}: live objects\n{}", differences.join("\n"));
}

/// Every file below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("the folder is ours") {
            let path = entry.expect("the folder is ours").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("found below it").to_owned();
                files.insert(name, fs::read(&path).expect("the program wrote it"));
            }
        }
    }
    files
}

/// The JDKs here that the program runs on; none, with a word about it, where its jars are missing.
fn fitting(program: &Program) -> Vec<&'static Jdk> {
    if !program.jars.is_empty() && jars().is_none() {
        say(&format!("{} is not tested: MARTINI_REAL_PROGRAMS names no folder with its jars", program.name));
        return Vec::new();
    }
    let fits = |jdk: &&Jdk| program.newest.is_none_or(|newest| jdk.feature <= newest);
    let fitting: Vec<&'static Jdk> = if program.needs_compiler {
        jdk::all().iter().filter(|jdk| jdk.has_javac).filter(fits).collect()
    } else {
        jdk::each_feature().into_iter().filter(fits).collect()
    };
    if fitting.is_empty() {
        say(&format!("{} is not tested: no JDK here runs it", program.name));
    }
    fitting
}

/// On the oldest and the newest JDK that the program runs on.
#[track_caller]
fn on_the_oldest_and_newest(program: &Program) {
    let fitting = fitting(program);
    let (Some(oldest), Some(newest)) = (fitting.first(), fitting.last()) else { return };
    check(program, oldest);
    if oldest.home != newest.home {
        check(program, newest);
    }
}

macro_rules! tests {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                on_the_oldest_and_newest(&programs::$name());
            }
        )+
    };
}

tests! { javac ecj antlr4 hsqldb ant jflex groovy clojure rhino beanshell }
