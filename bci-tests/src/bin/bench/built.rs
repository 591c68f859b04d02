//! The agents and the Java programs, built anew where something has changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use bci_tests::jdk;
use bci_tests::martini::workspace;

/// Where everything is that a run needs.
pub(crate) struct Built {
    /// `libmartini.so`.
    pub(crate) martini: PathBuf,
    /// `libfloor_agent.so`.
    pub(crate) floor: PathBuf,
    /// The class path of the Java programs.
    pub(crate) classes: PathBuf,
    /// A folder on the same disk as the build, for traces.
    pub(crate) traces: PathBuf,
}

/// Builds in the target folder of this program. Agents are always built with optimization.
pub(crate) fn build() -> Result<Built, String> {
    let program = env::current_exe().map_err(|e| format!("this program has no path: {e}"))?;
    let target = program.ancestors().nth(2).ok_or("this program lies in no target folder")?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "-p", "martini", "-p", "floor-agent", "--target-dir"]).arg(target);
    succeed(cargo.current_dir(workspace()))?;

    let classes = target.join("bench-java");
    let sources = workspace().join("bci-tests/java-bench");
    let mut javac = jdk::compiler().tool("javac");
    javac.args(["-nowarn", "-Xlint:-options", "--release", "11", "-d"]).arg(&classes);
    succeed(javac.args(java_files(&sources)?))?;

    let traces = target.join("bench-traces");
    fs::create_dir_all(&traces).map_err(|e| format!("{} cannot be made: {e}", traces.display()))?;
    let release = target.join("release");
    Ok(Built { martini: release.join("libmartini.so"), floor: release.join("libfloor_agent.so"), classes, traces })
}

fn java_files(folder: &Path) -> Result<Vec<OsString>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{} cannot be read: {e}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == "java")).map(OsString::from).collect())
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?} does not start: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}
