//! A JDK, and small programs compiled with it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A tool of the JDK that the build used, by the same search: JAVA_HOME, the PATH, /usr/lib/jvm.
pub(crate) fn tool(name: &str) -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut installed: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    installed.sort();
    let bins = home.chain(installed).map(|home| home.join("bin"));
    let mut folders = on_path.into_iter().chain(bins);
    let with_javac = folders.find(|folder| folder.join("javac").is_file()).expect("a JDK is installed");
    with_javac.join(name)
}

/// Compiles a class with the given body into a folder.
pub(crate) fn compile(folder: &Path, name: &str, body: &str) {
    let source = folder.join(format!("{name}.java"));
    std::fs::write(&source, format!("public class {name} {{ {body} }}")).unwrap();
    let status = Command::new(tool("javac")).arg("-d").arg(folder).arg(&source).status().unwrap();
    assert!(status.success(), "{name} does not compile");
}
