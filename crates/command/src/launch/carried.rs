//! The agents that the command carries in its own file, and where they are put so that a JVM can load them: into a folder of the
//! user's own, under a name made of their contents.

use std::fs::{self, DirBuilder, Permissions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::bail;
use rustix::fs::StatVfsMountFlags;

use crate::exit::sentence;
use crate::launch::elf::Platform;

/// Bytes of each agent, for different processors and C libraries.
pub type Agents = &'static [&'static [u8]];

/// What this command carries; set once, before anything else.
static AGENTS: OnceLock<Agents> = OnceLock::new();

/// Says which agents the command carries.
pub(crate) fn carry(agents: Agents) {
    AGENTS.set(agents).expect("called once");
}

/// The agent's file name.
pub(crate) const NAME: &str = "libmartini.so";

/// For the user alone.
const PRIVATE: u32 = 0o700;
/// What others must not have.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The agent for a program, or if that is not known, for this system's own programs; `None` if no agent is carried. One that does not
/// fit is better than none: what is wrong with it is said.
pub(super) fn fitting(program: Option<Platform>) -> Option<&'static [u8]> {
    let platform = program.or_else(|| Platform::of(Path::new("/bin/sh")).ok().flatten());
    let agents = || AGENTS.get().into_iter().copied().flatten().copied();
    let fits = |agent: &&[u8]| {
        let agent = Platform::of_library_with(agent);
        platform.zip(agent).is_some_and(|(program, agent)| program.misfit(agent).is_none())
    };
    agents().find(fits).or_else(|| agents().next())
}

/// Puts an agent into the first of the user's folders that takes it, unless it is there.
///
/// # Errors
/// None takes it: one sentence.
pub(super) fn unpack(agent: &[u8]) -> anyhow::Result<PathBuf> {
    let mut refused = Vec::new();
    for folder in folders() {
        match unpack_into(&folder, agent) {
            Ok(path) => return Ok(path),
            Err(why) => refused.push(format!("{}: {}", folder.display(), sentence(&why))),
        }
    }
    bail!(
        "no folder for the agent {NAME} ({}); set XDG_CACHE_HOME to one that is not mounted noexec",
        refused.join("; ")
    )
}

/// The number of a file's contents, for its folder's name.
pub(crate) fn number_of(contents: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(contents);
    format!("{:016x}", hasher.finish())
}

/// Where an agent may be put.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").into_iter().chain(variable("HOME").map(|home| home.join(".cache")));
    let temporary = std::env::temp_dir().join(format!("martini-{}", rustix::process::geteuid().as_raw()));
    cache.map(|cache| cache.join("martini")).chain([temporary]).collect()
}

fn unpack_into(folder: &Path, agent: &[u8]) -> anyhow::Result<PathBuf> {
    // The name is not trusted: contents are compared below.
    let place = folder.join(number_of(agent));
    for made in [folder, &place] {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(made)?;
        let found = fs::symlink_metadata(made)?;
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !is_own || found.mode() & WRITABLE_BY_OTHERS != 0 {
            bail!("it is not a folder that only you can change");
        }
    }
    if rustix::fs::statvfs(&place).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
        bail!("its file system is mounted noexec");
    }
    let path = place.join(NAME);
    if !has(&path, agent)? {
        // JVMs may have the file that is there: it is replaced, not written.
        let mut file = tempfile::NamedTempFile::new_in(&place)?;
        file.write_all(agent)?;
        file.as_file().set_permissions(Permissions::from_mode(PRIVATE))?;
        file.persist(&path)?;
    }
    Ok(path)
}

/// Whether a file has these contents.
fn has(path: &Path, contents: &[u8]) -> io::Result<bool> {
    match fs::read(path) {
        Ok(found) => Ok(found == contents),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_put_once_and_mended() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("cache/martini");
        let path = unpack_into(&folder, b"agent").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        assert_eq!(path.file_name().unwrap(), NAME);
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, PRIVATE);
        let inode = fs::metadata(&path).unwrap().ino();
        assert_eq!(unpack_into(&folder, b"agent").unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
        fs::write(&path, b"agen").unwrap();
        assert_eq!(unpack_into(&folder, b"agent").unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        assert_ne!(unpack_into(&folder, b"other").unwrap(), path);
    }

    #[test]
    fn a_folder_of_others_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("martini");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let refusal = unpack_into(&folder, b"agent").unwrap_err().to_string();
        assert!(refusal.contains("only you can change"), "{refusal}");
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(unpack_into(&link, b"agent").is_err());
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(unpack_into(&file, b"agent").is_err());
        // Only root may give it away.
        let foreign = home.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        if std::os::unix::fs::chown(&foreign, Some(65534), None).is_ok() {
            assert!(unpack_into(&foreign, b"agent").is_err());
        }
    }
}
