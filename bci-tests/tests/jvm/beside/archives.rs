//! Archives of classes: the JDK's own, that of an application, and the AOT cache of JDK 25.

use std::env;
use std::path::{Path, PathBuf};

use bci_tests::jdk::{self, Jdk};
use bci_tests::profiled::Heap;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, process};

use super::{Seen, assert_whole, program};

pub(crate) fn tests(suite: &mut Suite) {
    for jdk in jdk::all() {
        let name = |what: &str| format!("beside::archives::{what}::jdk{}", jdk.version);
        if !jdk.home.join("lib/server/classes.jsa").is_file() {
            suite.skip(name("of_an_application"), "this runtime was linked without the JDK's archive");
            continue;
        }
        suite.add(name("of_an_application"), move || of_an_application(jdk));
        if jdk.feature >= 25 {
            suite.add(name("aot_cache"), move || aot_cache(jdk));
        }
    }
}

const MODES: [Heap; 3] = [Heap::Counts, Heap::Events, Heap::Vm];

/// The program in a jar, since the JVM makes no archive of classes in folders.
fn jar(folder: &Path) -> PathBuf {
    let jar = folder.join("endings.jar");
    let classes = env::split_paths(java::class_path()).find(|path| path.join("endings").is_dir());
    let classes = classes.expect("one folder has the program");
    let mut command = jdk::compiler().tool("jar");
    process::run(command.arg("-cf").arg(&jar).arg("-C").arg(classes).arg("endings")).success();
    jar
}

/// Made without the agent, since HotSpot refuses to make one beside any, and used in each mode.
#[track_caller]
fn used_in_each_mode(jdk: &Jdk, make: &str, used: &str) {
    let folder = Workdir::new();
    let jar = jar(folder.path());
    let archive = folder.join("classes.archive");
    let flag = |name: &str| format!("-XX:{name}={}", archive.display());
    let _made = program(jdk, Heap::Off).class_path(&jar).flags(&[flag(make)]).without_agent().run();
    assert!(archive.is_file(), "the JVM has made it");
    for heap in MODES {
        let ran = program(jdk, heap).class_path(&jar).flags(&[flag(used)]).run_and_read::<Seen>();
        assert_whole(&ran);
    }
}

fn of_an_application(jdk: &Jdk) {
    used_in_each_mode(jdk, "ArchiveClassesAtExit", "SharedArchiveFile");
}

fn aot_cache(jdk: &Jdk) {
    used_in_each_mode(jdk, "AOTCacheOutput", "AOTCache");
}
