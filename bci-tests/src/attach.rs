//! Asks a JVM that runs to load an agent.

use std::path::Path;

use attach::{AttachError, Pid, Process, Target};

/// Has the JVM of that number load a library as an agent, with these options; its answer.
///
/// # Errors
/// It does not answer.
pub fn load(pid: u32, library: &Path, options: &str) -> Result<String, AttachError> {
    let library = library.to_str().expect("the target folder is text");
    let target = Target::open(Process::find(Pid(pid))?)?;
    Ok(target.execute("load", &[library, "true", options])?.text)
}
