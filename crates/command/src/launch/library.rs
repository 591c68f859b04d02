//! Finds the agent, `libmartini.so`, that belongs to this command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::launch::carried::{self, NAME};
use crate::launch::elf::Platform;

/// Names the agent's file where it does not lie beside the command.
const VARIABLE: &str = "MARTINI_AGENT";

/// The agent's absolute path: the one that is named, one that this command carries and that fits the program, or what lies beside it.
///
/// # Errors
/// There is none, or none can be put where a JVM can load it: one sentence.
pub(crate) fn find(program: Option<Platform>) -> anyhow::Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    if let (None, Some(carried)) = (&named, carried::fitting(program)) {
        return carried::unpack(carried);
    }
    let executable = std::env::current_exe()?;
    let found = look(named.as_deref(), executable.parent().unwrap_or(Path::new("/")))?;
    // The JVM cuts `-agentpath:PATH=OPTIONS` at the first `=`.
    if found.as_os_str().as_encoded_bytes().contains(&b'=') {
        return carried::unpack(&std::fs::read(found)?);
    }
    Ok(found)
}

/// The same agent where JVMs of all users can load it: a start script may give up its rights, and a JVM that cannot read its agent does
/// not start. Unlike the user's own folder that place may be emptied by the system, so it serves one run.
///
/// # Errors
/// There is no such place: the reason, a part of a sentence.
pub(crate) fn for_all_users(agent: &Path) -> Result<PathBuf, String> {
    if carried::is_open(agent).unwrap_or(false) {
        return Ok(agent.to_owned());
    }
    let contents = std::fs::read(agent).map_err(|error| error.to_string())?;
    carried::unpack_for_all(&contents)
}

fn look(named: Option<&OsStr>, folder: &Path) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        let path = std::path::absolute(named)?;
        if !path.is_file() {
            bail!(
                "{VARIABLE} is set to {}, which does not exist; set it to the path of {NAME}, or unset it",
                path.display()
            );
        }
        return Ok(path);
    }
    // cargo puts a library beside the command when it was asked for, and into deps/ when it is only needed: the newer one is ours.
    let places = [folder.join("deps").join(NAME), folder.join(NAME)].into_iter();
    let found = places.filter_map(|path| Some((std::fs::metadata(&path).ok()?.modified().ok()?, path)));
    if let Some((_, path)) = found.max_by_key(|(modified, _)| *modified) {
        return Ok(path);
    }
    bail!(
        "this command was built without the agent {NAME}, and it is not beside it in {}; build it with `cargo build \
         --release`, or set {VARIABLE} to its path",
        folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_looked_for_beside_the_command_and_in_deps() {
        let folder = tempfile::tempdir().unwrap();
        let missing = look(None, folder.path()).unwrap_err().to_string();
        assert!(missing.contains("cargo build") && missing.contains(VARIABLE), "{missing}");
        std::fs::create_dir(folder.path().join("deps")).unwrap();
        let in_deps = folder.path().join("deps").join(NAME);
        std::fs::write(&in_deps, "").unwrap();
        assert_eq!(look(None, folder.path()).unwrap(), in_deps);
        let beside = folder.path().join(NAME);
        let newer = std::fs::metadata(&in_deps).unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
        std::fs::File::create(&beside).unwrap().set_modified(newer).unwrap();
        assert_eq!(look(None, folder.path()).unwrap(), beside);
        std::fs::File::create(&in_deps).unwrap().set_modified(newer + std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(look(None, folder.path()).unwrap(), in_deps);
    }

    #[test]
    fn a_named_agent_must_be_there_and_loadable() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("a=b.so");
        let look = || look(Some(named.as_os_str()), Path::new("/"));
        assert!(look().unwrap_err().to_string().contains("which does not exist"));
        std::fs::write(&named, "").unwrap();
        assert_eq!(look().unwrap(), named);
    }
}
