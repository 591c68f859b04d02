//! The Java compiler, for build scripts.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The javac of JAVA_HOME, of the PATH, or of the first JDK under /usr/lib/jvm.
pub(crate) fn find_javac() -> PathBuf {
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|e| e.path());
    let mut homes: Vec<PathBuf> = installed.collect();
    homes.sort();
    let in_path = env::var_os("PATH").map(|p| env::split_paths(&p).map(|d| d.join("javac")).collect::<Vec<_>>());
    env::var_os("JAVA_HOME")
        .map(|h| PathBuf::from(h).join("bin/javac"))
        .into_iter()
        .chain(in_path.unwrap_or_default())
        .chain(homes.into_iter().map(|h| h.join("bin/javac")))
        .find(|p| p.is_file())
        .unwrap_or_else(|| panic!("no javac found: install a JDK (17 or newer), or set JAVA_HOME to one"))
}

/// Compiles sources into a folder, which is emptied before.
pub(crate) fn compile(javac: &Path, flags: &[&str], sources: &[PathBuf], out: &Path) {
    let _ = fs::remove_dir_all(out);
    fs::create_dir_all(out).expect("OUT_DIR is writable");
    let result = Command::new(javac)
        .args(["-nowarn", "-Xlint:-options", "-g", "-encoding", "UTF-8", "-d"])
        .arg(out)
        .args(flags)
        .args(sources)
        .output()
        .unwrap_or_else(|e| panic!("{} does not start: {e}", javac.display()));
    assert!(
        result.status.success(),
        "{} failed on {sources:?}:\n{}",
        javac.display(),
        String::from_utf8_lossy(&result.stderr)
    );
}
