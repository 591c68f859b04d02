//! The compiled classes that the agent and the command carry, `java/classes`, are what the sources in `java` say. They are kept in
//! the tree, so that a build needs no JDK.
//!
//! `MARTINI_UPDATE=1 cargo test --test java_classes` compiles them anew, with the javac of JDK 17.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bci_tests::jdk::{self, Jdk};

/// Other releases write other bytes for the same source.
const COMPILER: u32 = 17;
/// Class file version 52 runs on every JVM from 8 on, and `-source 8` knows no modules: the one way to compile into package
/// `java.lang` without patching `java.base`.
const HELPERS: [&str; 4] = ["-source", "8", "-target", "8"];
const DEMO: [&str; 2] = ["--release", "11"];
/// Which sources the classes were compiled from.
const SOURCES: &str = "SOURCES";

fn java() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("java")
}

/// The files below a folder with one of these extensions, by their paths in it.
fn files(folder: &Path, extension: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(next).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|its| its == extension) {
                let name = path.strip_prefix(folder).expect("it is below").to_owned();
                found.insert(name, fs::read(&path).expect("a readable file"));
            }
        }
    }
    found
}

/// The FNV-1a hash of some bytes: only to see that they are the same.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A line for each source: its hash and its path.
fn list(sources: &BTreeMap<PathBuf, Vec<u8>>) -> String {
    let mut list = String::new();
    for (path, bytes) in sources {
        writeln!(list, "{:016x} {}", hash(bytes), path.display()).expect("writing to a String");
    }
    list
}

fn compile(javac: &Jdk, flags: &[&str], folder: &Path, sources: &[&PathBuf]) {
    let mut command = javac.tool("javac");
    command.args(["-nowarn", "-Xlint:-options", "-g", "-encoding", "UTF-8", "-d"]).arg(folder).args(flags);
    let compiled = command.args(sources).current_dir(java()).output().expect("javac starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// What javac makes of the sources.
fn compiled(javac: &Jdk, sources: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let (demo, helpers): (Vec<_>, Vec<_>) = sources.keys().partition(|path| path.starts_with("demo"));
    compile(javac, &HELPERS, folder.path(), &helpers);
    compile(javac, &DEMO, folder.path(), &demo);
    files(folder.path(), "class")
}

#[test]
fn classes_are_those_of_the_sources() {
    let (java, classes) = (java(), java().join("classes"));
    let sources = files(&java, "java");
    let javac = jdk::all().iter().find(|jdk| jdk.has_javac && jdk.feature == COMPILER);
    if std::env::var_os("MARTINI_UPDATE").is_some() {
        let made = compiled(javac.expect("a JDK 17 with javac"), &sources);
        let _ = fs::remove_dir_all(&classes);
        for (name, bytes) in made {
            let path = classes.join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        fs::write(classes.join(SOURCES), list(&sources)).expect("a file");
    }
    let known = fs::read_to_string(classes.join(SOURCES)).expect("java/classes/SOURCES");
    let how = "run `MARTINI_UPDATE=1 cargo test --test java_classes` with a JDK 17";
    assert_eq!(known, list(&sources), "java/classes is older than java: {how}");
    let kept = files(&classes, "class");
    let names = |classes: &BTreeMap<PathBuf, Vec<u8>>| classes.keys().map(OsString::from).collect::<Vec<_>>();
    match javac {
        Some(javac) => {
            let made = compiled(javac, &sources);
            assert_eq!(names(&kept), names(&made), "{how}");
            let differ: Vec<_> =
                kept.iter().filter(|(name, bytes)| made[*name] != **bytes).map(|(name, _)| name).collect();
            assert!(differ.is_empty(), "{differ:?} are not what javac makes: {how}");
        }
        None => println!("no javac of JDK 17: only the sources were compared"),
    }
}
