//! The agent and the Java programs, built anew where something has changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use bci_tests::jdk;
use bci_tests::martini::workspace;

/// Where everything is that a run needs.
#[derive(Clone)]
pub(crate) struct Built {
    /// `libmartini.so`.
    pub(crate) martini: PathBuf,
    /// The class path of the Java programs.
    pub(crate) classes: PathBuf,
    /// A folder on the same disk as the build, for traces.
    pub(crate) traces: PathBuf,
    /// The target folder, for whatever else is made.
    pub(crate) target: PathBuf,
}

/// Builds in the target folder of this program. The agent is always built with optimization.
pub(crate) fn build() -> Result<Built, String> {
    let program = env::current_exe().map_err(|e| format!("this program has no path: {e}"))?;
    let target = program.ancestors().nth(2).ok_or("this program lies in no target folder")?.to_owned();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "-p", "martini", "--target-dir"]).arg(&target);
    succeed(cargo.current_dir(workspace()))?;

    let classes = target.join("bench-java");
    compile(&[&source_folder("")], &[], &classes)?;

    let traces = target.join("bench-traces");
    fs::create_dir_all(&traces).map_err(|e| format!("{} cannot be made: {e}", traces.display()))?;
    let martini = target.join("release/libmartini.so");
    Ok(Built { martini, classes, traces, target })
}

/// The folder of the Java programs, or one inside it.
pub(crate) fn source_folder(name: &str) -> PathBuf {
    workspace().join("bci-tests/java-bench").join(name)
}

/// Compiles all Java sources of some folders, those in folders inside them not included.
pub(crate) fn compile(folders: &[&Path], class_path: &[&Path], classes: &Path) -> Result<(), String> {
    let path = env::join_paths(class_path).map_err(|e| e.to_string())?;
    let mut javac = jdk::compiler().tool("javac");
    javac.args(["-nowarn", "-Xlint:-options", "-proc:none", "--release", "11", "-cp"]).arg(path);
    javac.arg("-d").arg(classes);
    for folder in folders {
        javac.args(java_files(folder)?);
    }
    succeed(&mut javac)
}

fn java_files(folder: &Path) -> Result<Vec<OsString>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{} cannot be read: {e}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == "java")).map(OsString::from).collect())
}

/// Unpacks files of a jar into a folder; all of them if none is named.
pub(crate) fn unpack(jar: &Path, files: &[&str], folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{} cannot be made: {e}", folder.display()))?;
    succeed(jdk::compiler().tool("jar").arg("-xf").arg(jar).args(files).current_dir(folder))
}

/// Runs a command; the error has what it said.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?} does not start: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}
