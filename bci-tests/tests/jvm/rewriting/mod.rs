//! Rewritten classes on real JVMs: packs of classes, and a JVM that swaps classes as it loads them.

mod made_classes;
mod real_classes;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bci_tests::jdk::{self, Jdk};
use bci_tests::process;
use bci_tests::suite::Suite;
use bci_tests::workdir;

pub(crate) fn tests(suite: &mut Suite) {
    real_classes::tests(suite);
    made_classes::tests(suite);
}

/// The compiled Java side.
pub(crate) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Compiles it, once for each test binary, for Java 11.
    pub(crate) fn get() -> &'static Tools {
        static TOOLS: OnceLock<Tools> = OnceLock::new();
        TOOLS.get_or_init(|| {
            let folder = workdir::shared();
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jvm/rewriting/java");
            let classes = folder.join("classes");
            let mut javac = jdk::compiler().tool("javac");
            javac.args(["--release", "11", "-nowarn", "-Xlint:-options", "-d"]).arg(&classes);
            process::run(javac.args(java_files(&sources.join("tool")))).success();

            // A class of java.lang is found by every class, whatever its loader and module.
            let mut patch = OsString::from("java.base=");
            patch.push(sources.join("probe"));
            let mut javac = jdk::compiler().tool("javac");
            javac.args(["-source", "11", "-target", "11", "-nowarn", "-Xlint:-options", "-d"]);
            javac.arg(folder.join("probe")).arg("--patch-module").arg(patch);
            process::run(javac.args(java_files(&sources.join("probe/java/lang")))).success();

            let manifest = folder.join("MANIFEST.MF");
            fs::write(&manifest, "Premain-Class: SwapAgent\nCan-Retransform-Classes: true\n").unwrap();
            let mut jar = jdk::compiler().tool("jar");
            jar.arg("cfm").arg(folder.join("tools.jar")).arg(manifest).arg("-C").arg(classes).arg(".");
            process::run(&mut jar).success();
            Tools { folder }
        })
    }

    fn jar(&self) -> PathBuf {
        self.folder.join("tools.jar")
    }

    /// Packs the module image of a JDK.
    pub(crate) fn pack_image(&self, jdk: &Jdk) -> Pack {
        self.pack(jdk, &format!("image-{}", jdk.version), &[PathBuf::from("jrt")])
    }

    /// Packs the classes of jars.
    pub(crate) fn pack(&self, jdk: &Jdk, name: &str, sources: &[PathBuf]) -> Pack {
        let file = self.folder.join(format!("{name}.pack"));
        if !file.is_file() {
            // Tests of one binary run at the same time and may want the same pack.
            let fresh = tempfile::NamedTempFile::new_in(&self.folder).unwrap();
            let mut java = jdk.tool("java");
            java.arg("-cp").arg(self.jar()).arg("PackClasses").arg(fresh.path()).args(sources);
            process::run(&mut java).success();
            fresh.persist(&file).unwrap();
        }
        let bytes = fs::read(&file).unwrap();
        Pack { file, bytes }
    }

    /// Writes a pack that has, at the place of each class of another, what to load instead of it.
    pub(crate) fn write_replacements(&self, name: &str, replacements: &[Option<Vec<u8>>]) -> PathBuf {
        let mut bytes = Vec::new();
        for class in replacements {
            let class = class.as_deref().unwrap_or_default();
            bytes.extend_from_slice(&u32::try_from(class.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(class);
        }
        let file = self.folder.join(name);
        fs::write(&file, bytes).unwrap();
        file
    }

    /// A JVM that verifies every class, those of the JDK too; classes of a pack can be swapped as they are loaded.
    pub(crate) fn verifying_jvm(&self, jdk: &Jdk, swap: Option<(&Pack, &Path)>) -> Command {
        let mut java = jdk.tool("java");
        java.args(["-Xmx2g", "-Xshare:off", "--add-modules", "ALL-SYSTEM", "-XX:+UnlockDiagnosticVMOptions"]);
        java.args(["-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote", "--patch-module"]);
        java.arg(joined(&[OsString::from("java.base="), self.folder.join("probe").into()]));
        if let Some((pack, replacements)) = swap {
            let comma = OsString::from(",");
            let agent = [OsString::from("-javaagent:"), self.jar().into(), OsString::from("=")];
            java.arg(joined(&[joined(&agent), pack.file.clone().into(), comma, replacements.into()]));
        }
        java.arg("-cp").arg(self.jar());
        java
    }

    /// Links every class of the pack in such a JVM, from the image or from these jars.
    pub(crate) fn link(&self, jdk: &Jdk, pack: &Pack, replacements: Option<&Path>, jars: &[PathBuf]) -> Linked {
        let mut java = self.verifying_jvm(jdk, replacements.map(|file| (pack, file)));
        java.arg("LinkAll").arg(&pack.file).args(jars);
        Linked::read(&process::run(&mut java).success().out())
    }
}

/// A file of classes, and what is in it.
pub(crate) struct Pack {
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Pack {
    /// The classes in order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &[u8]> {
        support::pack::classes(&self.bytes)
    }
}

/// What `LinkAll` found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Linked {
    /// The number of classes that link.
    pub(crate) linked: u64,
    /// Classes that the JVM rejects, and its words.
    pub(crate) broken: BTreeMap<String, String>,
    /// Classes that cannot be loaded for another reason, mostly that a class they need is not there.
    pub(crate) absent: BTreeSet<String>,
    /// How often the probe was called for arrays, at `new`, in constructors.
    pub(crate) calls: BTreeMap<String, u64>,
}

impl Linked {
    fn read(text: &str) -> Self {
        let mut found = Linked::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "linked" => found.linked = rest.parse().unwrap(),
                "broken" => {
                    let (class, why) = rest.split_once(' ').unwrap();
                    found.broken.insert(class.to_owned(), why.to_owned());
                }
                "absent" => {
                    found.absent.insert(rest.to_owned());
                }
                "arrays" | "news" | "objects" => {
                    found.calls.insert(word.to_owned(), rest.parse().unwrap());
                }
                _ => {}
            }
        }
        found
    }
}

fn java_files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn joined(parts: &[OsString]) -> OsString {
    let mut whole = OsString::new();
    parts.iter().for_each(|part| whole.push(part));
    whole
}
