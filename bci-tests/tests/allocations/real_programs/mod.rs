//! Programs that nobody here wrote, with every object recorded: they print and write what they do without the agent, the
//! trace is valid, and what lives in it at the end is what the JVM's own heap histogram shows.

mod coverage;
mod live_objects;
mod own_code;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bci_tests::histogram::{Histogram, Which};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::programs::{self, Program};
use bci_tests::read::TraceData;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    for program in [
        programs::javac(),
        programs::ecj(),
        programs::antlr4(),
        programs::hsqldb(),
        programs::ant(),
        programs::jflex(),
        programs::groovy(),
        programs::clojure(),
        programs::rhino(),
        programs::beanshell(),
    ] {
        let name = |jdk: &str| format!("real_programs::are_left_alone::{jdk}::{}", program.name);
        if let Some(reason) = program.missing() {
            suite.skip(name("any_jdk"), reason);
            continue;
        }
        let jdks = program.fitting();
        let mut ends = vec![jdks[0], jdks[jdks.len() - 1]];
        ends.dedup_by_key(|jdk| &jdk.home);
        for jdk in ends {
            suite.add(name(&format!("jdk{}", jdk.feature)), move || is_left_alone(program, jdk));
        }
    }
    coverage::tests(suite);
    own_code::tests(suite);
}

/// The program, by a main class that holds the JVM at its end.
fn held(program: Program, jdk: &Jdk) -> Profiled<'_> {
    program.behind(&["hold.Main"], jdk).flags(&["-Xmx1g"])
}

/// Runs it to its end in a folder, and looks at the heap of the JVM just before that if it is asked to.
#[track_caller]
fn run<T: TraceData>(profiled: Profiled<'_>, folder: &Path, look_on: Option<&Jdk>) -> (Ran<T>, Option<Histogram>) {
    fs::create_dir(folder).expect("the folder is ours");
    let mut running = profiled.in_folder(folder).any_status().start();
    running.wait_for("held");
    let seen = look_on.map(|jdk| Histogram::of(jdk, running.pid(), Which::Living));
    running.send("");
    (running.finish_and_read(), seen)
}

#[track_caller]
fn is_left_alone(program: Program, jdk: &Jdk) {
    // Both runs see the same folder, and find it empty.
    let profiled = held(program, jdk).heap(Heap::Events).both_schemas();
    let folder = profiled.dir().join("run");
    let (without, _) = run::<()>(held(program, jdk).without_agent(), &folder, None);
    let bare = without.dir.join("bare");
    fs::rename(&folder, &bare).expect("the folder is ours");
    let (with, living) = run::<Recorded>(profiled, &folder, Some(jdk));

    assert!(without.status().success(), "it fails without the agent\n{}\n{}", without.out(), without.err());
    assert_eq!(with.status(), without.status(), "{}", with.err());
    assert_eq!((program.normalise)(&with.out()), (program.normalise)(&without.out()), "standard output");
    assert_eq!(with.err(), without.err(), "standard error");
    let (files, bare_files) = (contents(&folder), contents(&bare));
    assert_eq!(files.keys().collect::<Vec<_>>(), bare_files.keys().collect::<Vec<_>>(), "files");
    for (name, bytes) in &files {
        assert!(*bytes == bare_files[name], "{} differs", name.display());
    }

    let trace = &with.trace;
    assert!(trace.objects.len() > 50_000, "only {} objects", trace.objects.len());
    let differences = live_objects::differences(&living.expect("looked at above"), trace, program.packages);
    assert!(differences.is_empty(), "live objects\n{}", differences.join("\n"));
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
