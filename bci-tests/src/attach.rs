//! Asks JVMs that run.

use std::path::Path;

use attach::{AttachError, Pid, Process, Target};

/// Has the JVM of that number load a library as an agent, with these options; its answer.
///
/// # Errors
/// It does not answer.
pub fn load(pid: u32, library: &Path, options: &str) -> Result<String, AttachError> {
    execute(pid, "load", &[library.to_str().expect("the target folder is text"), "true", options])
}

/// The number of classes that it has, by its own account of its loaders.
///
/// # Errors
/// It does not answer.
pub fn classes(pid: u32) -> Result<u64, AttachError> {
    let loaders = execute(pid, "jcmd", &["VM.classloader_stats"])?;
    let total = loaders.lines().find_map(|line| line.trim().strip_prefix("Total = "));
    let classes = total.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(classes.unwrap_or_else(|| panic!("no number of classes in {loaders}")))
}

fn execute(pid: u32, command: &str, arguments: &[&str]) -> Result<String, AttachError> {
    Ok(Target::open(Process::find(Pid(pid))?)?.execute(command, arguments)?.text)
}
