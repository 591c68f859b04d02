//! NetBeans' and VisualVM's library, which counts instances, bytes, roots, and what references lead to.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bci_tests::jdk;
use bci_tests::martini::{profile_folder, workspace};
use bci_tests::process;
use bci_tests::workdir::Workdir;

use super::{Counts, Reader, add};

pub(super) struct NetBeans {
    class_path: OsString,
}

impl NetBeans {
    /// The library in a folder, and a program that asks it.
    pub(super) fn find(folder: &Path) -> Option<NetBeans> {
        let library = Self::library(folder)?;
        let compiled = profile_folder().join("bci-tests-java-readers");
        let source = workspace().join("bci-tests/java-readers/HeapLibrary.java");
        let mut javac = jdk::compiler().tool("javac");
        process::run(javac.args(["-proc:none", "-cp"]).arg(&library).arg("-d").arg(&compiled).arg(source)).success();
        let class_path = env::join_paths([library, compiled]).expect("no colons");
        Some(NetBeans { class_path })
    }

    fn library(folder: &Path) -> Option<PathBuf> {
        let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
        let is_library = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("org-netbeans-lib-profiler") && name.ends_with(".jar")
        };
        files.find(is_library)
    }
}

impl Reader for NetBeans {
    fn name(&self) -> &'static str {
        "NetBeans' library"
    }

    fn count(&self, dumps: &[PathBuf]) -> Result<Vec<Counts>, String> {
        // It keeps its tables in files.
        let place = Workdir::new();
        let mut temporary = OsString::from("-Djava.io.tmpdir=");
        temporary.push(place.path());
        let mut java = jdk::compiler().tool("java");
        let ran = process::run(java.arg(temporary).arg("-cp").arg(&self.class_path).arg("HeapLibrary").args(dumps));
        if !ran.status.success() || !ran.err().is_empty() {
            return Err(ran.err());
        }
        let mut all: Vec<Counts> = Vec::new();
        for line in ran.out().lines() {
            if line.starts_with("dump ") {
                all.push(Counts::new());
                continue;
            }
            let (kind, rest) = line.split_once(' ').expect("a kind of line");
            let numbers = if kind == "class" { 3 } else { 1 };
            let mut words = rest.splitn(numbers + 1, ' ');
            let numbers: Vec<u64> =
                words.by_ref().take(numbers).map(|number| number.parse().expect("a number")).collect();
            let name = words.next().expect("a name");
            add(all.last_mut().expect("a dump is announced first"), format!("{kind} {name}"), &numbers);
        }
        Ok(all)
    }
}
