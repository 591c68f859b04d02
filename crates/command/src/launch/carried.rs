//! The agents that the command carries in its own file, and where they are put so that a JVM can load them: into a folder that only
//! the user can change, under a name made of their contents.

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
/// For JVMs of every user.
const OPEN: u32 = 0o755;
/// What others must not have.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Of a folder: others may put files there, but take away only their own.
const STICKY: u32 = 0o1000;
/// Of a folder: others may reach what is in it.
const PASSABLE_BY_OTHERS: u32 = 0o001;
/// Of a file.
const READABLE_BY_OTHERS: u32 = 0o004;
/// Where every user's JVM finds what is there, if it is not in a file system of its own; `/tmp` is the first that such JVMs have. Only
/// root may write into the first.
const SHARED: [&str; 2] = ["/var/cache", "/var/tmp"];
const TMP: &str = "/tmp";

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
    unpack_into_one(&folders(), agent, PRIVATE).map_err(|refused| {
        anyhow::anyhow!(
            "no folder for the agent {NAME} ({refused}); set XDG_CACHE_HOME to one that is not mounted noexec"
        )
    })
}

/// Puts an agent where JVMs of all users can load it: a JVM whose agent it cannot read does not start.
///
/// # Errors
/// There is no such place: the folders, and what is wrong with each.
pub(super) fn unpack_for_all(agent: &[u8]) -> Result<PathBuf, String> {
    let shared = SHARED.iter().map(PathBuf::from);
    let folders = shared.chain([std::env::temp_dir(), TMP.into()]).map(|folder| own_folder_in(&folder));
    unpack_into_one(&folders.collect::<Vec<_>>(), agent, OPEN)
}

fn unpack_into_one(folders: &[PathBuf], agent: &[u8], mode: u32) -> Result<PathBuf, String> {
    let mut refused = Vec::new();
    for folder in folders {
        match unpack_into(folder, agent, mode) {
            Ok(path) => return Ok(path),
            Err(why) => refused.push(format!("{}: {}", folder.display(), sentence(&why))),
        }
    }
    Err(refused.join("; "))
}

/// Whether JVMs of all users can load a file, and only its owner and root can put another one in its place.
pub(super) fn is_open(path: &Path) -> io::Result<bool> {
    let path = path.canonicalize()?;
    let owner = rustix::process::geteuid().as_raw();
    for folder in path.ancestors().skip(1) {
        let found = fs::metadata(folder)?;
        let is_guarded = found.mode() & WRITABLE_BY_OTHERS == 0 || found.mode() & STICKY != 0;
        if found.mode() & PASSABLE_BY_OTHERS == 0 || !is_guarded || ![0, owner].contains(&found.uid()) {
            return Ok(false);
        }
    }
    let found = fs::metadata(&path)?;
    Ok(found.mode() & READABLE_BY_OTHERS != 0 && found.mode() & WRITABLE_BY_OTHERS == 0)
}

/// The number of a file's contents, for its folder's name.
pub(crate) fn number_of(contents: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(contents);
    format!("{:016x}", hasher.finish())
}

/// Where an agent may be put for the user's own JVMs.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").into_iter().chain(variable("HOME").map(|home| home.join(".cache")));
    cache
        .map(|cache| cache.join("martini"))
        .chain([std::env::temp_dir(), TMP.into()].map(|folder| own_folder_in(&folder)))
        .collect()
}

/// The user's folder in one that is everybody's.
fn own_folder_in(folder: &Path) -> PathBuf {
    folder.join(format!("martini-{}", rustix::process::geteuid().as_raw()))
}

fn unpack_into(folder: &Path, agent: &[u8], mode: u32) -> anyhow::Result<PathBuf> {
    // The name is not trusted: contents are compared below.
    let place = folder.join(number_of(agent));
    let path = place.join(NAME);
    // The JVM cuts `-agentpath:PATH=OPTIONS` at the first `=`.
    if path.as_os_str().as_encoded_bytes().contains(&b'=') {
        bail!("its name contains '='");
    }
    for made in [folder, &place] {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(made)?;
        let found = fs::symlink_metadata(made)?;
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !is_own || found.mode() & WRITABLE_BY_OTHERS != 0 {
            bail!("it is not a folder that only you can change");
        }
        allow(made, mode)?;
    }
    if rustix::fs::statvfs(&place).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
        bail!("its file system is mounted noexec");
    }
    if !has(&path, agent)? {
        // JVMs may have the file that is there: it is replaced, not written.
        let mut file = tempfile::NamedTempFile::new_in(&place)?;
        file.write_all(agent)?;
        file.persist(&path)?;
    }
    allow(&path, mode)?;
    if mode == OPEN && !is_open(&path)? {
        bail!("other users cannot reach it, or could change it");
    }
    Ok(path)
}

/// Gives a file or folder at least these rights, whatever the umask is.
fn allow(path: &Path, mode: u32) -> io::Result<()> {
    let found = fs::metadata(path)?.mode();
    if found & mode == mode {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(found | mode))
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
        let path = unpack_into(&folder, b"agent", PRIVATE).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        assert_eq!(path.file_name().unwrap(), NAME);
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, PRIVATE);
        let inode = fs::metadata(&path).unwrap().ino();
        assert_eq!(unpack_into(&folder, b"agent", PRIVATE).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
        fs::write(&path, b"agen").unwrap();
        assert_eq!(unpack_into(&folder, b"agent", PRIVATE).unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"agent");
        assert_ne!(unpack_into(&folder, b"other", PRIVATE).unwrap(), path);
    }

    #[test]
    fn a_folder_of_others_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("martini");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let refusal = unpack_into(&folder, b"agent", PRIVATE).unwrap_err().to_string();
        assert!(refusal.contains("only you can change"), "{refusal}");
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(unpack_into(&link, b"agent", PRIVATE).is_err());
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(unpack_into(&file, b"agent", PRIVATE).is_err());
        // Only root may give it away.
        let foreign = home.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        if std::os::unix::fs::chown(&foreign, Some(65534), None).is_ok() {
            assert!(unpack_into(&foreign, b"agent", PRIVATE).is_err());
        }
    }
    #[test]
    fn jvms_of_all_users_can_load_an_open_agent() {
        // Of all users only where the folders above are.
        let shared = tempfile::tempdir_in("/tmp").unwrap();
        let home = shared.path().join("home");
        fs::create_dir(&home).unwrap();
        let rights = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        fs::set_permissions(&home, Permissions::from_mode(PRIVATE)).unwrap();
        fs::set_permissions(shared.path(), Permissions::from_mode(OPEN)).unwrap();
        let folder = shared.path().join("martini-0");
        // As another release left it.
        unpack_into(&folder, b"agent", PRIVATE).unwrap();
        let path = unpack_into(&folder, b"agent", OPEN).unwrap();
        assert!([&path, path.parent().unwrap(), &folder].into_iter().all(|path| rights(path) == OPEN));
        assert!(is_open(&path).unwrap());
        let refusal = unpack_into(&home.join("martini"), b"agent", OPEN).unwrap_err().to_string();
        assert!(refusal.contains("other users cannot reach it"), "{refusal}");
        let private = unpack_into(&home.join("martini"), b"other", PRIVATE).unwrap();
        assert!(!is_open(&private).unwrap());
        // Whoever may write into a folder above may put another agent there.
        fs::set_permissions(shared.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(!is_open(&path).unwrap());
        assert!(unpack_into(&folder, b"agent", OPEN).is_err());
        fs::set_permissions(shared.path(), Permissions::from_mode(0o1777)).unwrap();
        assert!(is_open(&path).unwrap());
    }

    #[test]
    fn a_folder_that_the_jvm_cannot_name_is_passed_over() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("a=b"), home.path().join("a b,c")];
        let path = unpack_into_one(&folders, b"agent", PRIVATE).unwrap();
        assert!(path.starts_with(&folders[1]));
        let refusal = unpack_into_one(&folders[..1], b"agent", PRIVATE).unwrap_err();
        assert!(refusal.contains("contains '='"), "{refusal}");
    }
}
