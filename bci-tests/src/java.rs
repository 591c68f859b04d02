//! The Java programs of `bci-tests/java`, compiled once.
//!
//! Each folder below `java/` is named after the oldest Java that can run it. All end on one class path: a JVM loads of
//! newer ones only what a program asks for after a look at its own version.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::jdk::{self, Jdk};
use crate::martini::{profile_folder, workspace};
use crate::say::say;
use crate::{process, workdir};

/// The class path with all the programs.
pub fn class_path() -> &'static OsString {
    static CLASS_PATH: OnceLock<OsString> = OnceLock::new();
    CLASS_PATH.get_or_init(|| {
        let compiler = jdk::compiler();
        let mut folders: Vec<PathBuf> = Vec::new();
        for release in [8, 11, 17, 21, 25] {
            if release > compiler.feature {
                say(&format!("no compiler for Java {release}: its test programs are left out"));
                continue;
            }
            let compiled = compile(compiler, release, &folders);
            folders.push(compiled);
        }
        std::env::join_paths(folders).expect("the target folder has no colon in its path")
    })
}

/// A command that runs a program's main class.
pub fn program(jdk: &Jdk, flags: &[&str], main_class: &str, args: &[&str]) -> Command {
    with_agent(jdk, flags, None, main_class, args)
}

/// The same with a JVM option for the agent, if any.
pub fn with_agent(jdk: &Jdk, flags: &[&str], agent: Option<OsString>, main_class: &str, args: &[&str]) -> Command {
    let mut command = jdk.tool("java");
    command.args(flags).args(agent);
    command.arg("-cp").arg(class_path()).arg(main_class).args(args);
    command
}

/// Makes the jar of an agent in Java in a folder; its class is on the class path of the programs.
///
/// # Errors
/// What the tool or the file system says.
pub fn agent_jar(folder: &Path, class: &str) -> Result<PathBuf, String> {
    let (jar, manifest) = (folder.join(format!("{class}.jar")), folder.join(format!("{class}.mf")));
    let text = format!("Premain-Class: {class}\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n");
    fs::write(&manifest, text).map_err(|e| format!("{} cannot be written: {e}", manifest.display()))?;
    let made = jdk::compiler().tool("jar").arg("-cfm").arg(&jar).arg(&manifest).output();
    let made = made.map_err(|e| format!("jar does not start: {e}"))?;
    if made.status.success() { Ok(jar) } else { Err(format!("jar failed:\n{}", String::from_utf8_lossy(&made.stderr))) }
}

/// Compiles a source of `bci-tests/real` against the jars of others; the folder with its classes.
pub fn compile_real(source: &str, jars: &OsStr) -> PathBuf {
    let classes = workdir::shared();
    let mut javac = jdk::compiler().tool("javac");
    javac.args(["-nowarn", "-Xlint:-options", "-proc:none", "--release", "11", "-cp"]).arg(jars);
    process::run(javac.arg("-d").arg(&classes).arg(workspace().join("bci-tests/real").join(source))).success();
    classes
}

/// Compiles the sources for one release, unless the same have been compiled before.
fn compile(compiler: &Jdk, release: u32, class_path: &[PathBuf]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("java").join(release.to_string());
    let sources = sources(&folder);
    let mut hasher = DefaultHasher::new();
    (&compiler.version, class_path).hash(&mut hasher);
    for source in &sources {
        (source, fs::read(source).expect("a source file of this crate is readable")).hash(&mut hasher);
    }
    let place = profile_folder().join("bci-tests-java");
    let compiled = place.join(format!("{release}-{:016x}", hasher.finish()));
    if !compiled.is_dir() {
        fs::create_dir_all(&place).expect("the target folder is writable");
        let fresh = tempfile::tempdir_in(&place).expect("the target folder is writable");
        let path = std::env::join_paths(class_path).expect("the target folder has no colon in its path");
        let javac = compiler
            .tool("javac")
            .args(["-g", "-nowarn", "-Xlint:-options", "-proc:none", "-XDignore.symbol.file", "-encoding", "UTF-8"])
            .args(["--release", &release.to_string(), "-cp"])
            .arg(path)
            .arg("-d")
            .arg(fresh.path())
            .args(&sources)
            .output()
            .expect("javac starts");
        assert!(javac.status.success(), "javac failed:\n{}", String::from_utf8_lossy(&javac.stderr));
        // Whoever comes second finds the folder taken, with the same classes in it.
        if fs::rename(fresh.path(), &compiled).is_err() {
            assert!(compiled.is_dir(), "{} cannot be made", compiled.display());
        }
    }
    compiled
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a source folder of this crate is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
