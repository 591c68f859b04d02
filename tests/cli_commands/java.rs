//! A JDK, and small programs compiled with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::jdk;

/// A tool of the first JDK that has a compiler.
pub(crate) fn tool(name: &str) -> PathBuf {
    let with_javac = jdk::all().iter().find(|jdk| jdk.has_javac).expect("a JDK is installed");
    with_javac.home.join("bin").join(name)
}

/// The path of `java`.
pub(crate) fn java() -> String {
    tool("java").to_str().unwrap().to_owned()
}

/// Compiles a class with the given body into a folder.
pub(crate) fn compile(folder: &Path, name: &str, body: &str) {
    let source = folder.join(format!("{name}.java"));
    std::fs::write(&source, format!("public class {name} {{ {body} }}")).unwrap();
    let status = Command::new(tool("javac")).arg("-d").arg(folder).arg(&source).status().unwrap();
    assert!(status.success(), "{name} does not compile");
}
