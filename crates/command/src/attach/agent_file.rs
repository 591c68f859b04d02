//! The agent's file as a running JVM sees it: the one that lies beside the command where the JVM can load it and nobody else can
//! change it, otherwise a copy in the JVM's `/tmp`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use attach::{Folder, Process, Target};

use crate::launch::elf::Platform;
use crate::launch::{carried, library, program};

/// Where copies lie, for the JVM.
const TMP: &str = "/tmp/";
/// A copy's folder has this name, the content's number and the user's.
const PREFIX: &str = "martini-agent-";
const DELETED: &str = " (deleted)";

/// The path of the agent that is loaded into the JVM already. The JVM finds it again by this name, even if the file is gone.
pub(crate) fn loaded(target: &Target) -> anyhow::Result<Option<String>> {
    let mapped = target.process().mapped()?;
    Ok(among(&mapped))
}

/// The same, among the files that are mapped.
pub(crate) fn among(mapped: &[String]) -> Option<String> {
    let mut paths = mapped.iter().map(|path| path.strip_suffix(DELETED).unwrap_or(path));
    paths.find(|path| path.rsplit('/').next() == Some(carried::NAME)).map(str::to_owned)
}

/// The agent for a JVM, as we see it.
///
/// # Errors
/// There is none.
pub(crate) fn own(process: &Process) -> anyhow::Result<PathBuf> {
    library::find(platform(process))
}

/// What the JVM can load, if that can be seen.
pub(crate) fn platform(process: &Process) -> Option<Platform> {
    let program = program::platform(process.folder().join("exe").as_os_str())?;
    Some(attach::hotspot(process).and_then(|hotspot| program.or_emulated(hotspot).ok()).unwrap_or(program))
}

/// The path by which the JVM can load our agent.
pub(crate) fn place(target: &Target) -> anyhow::Result<String> {
    let own = own(target.process())?;
    let own = own.canonicalize().with_context(|| format!("cannot find {}", own.display()))?;
    if let Some(path) = own.to_str().filter(|_| is_safe(target, &own)) {
        return Ok(path.to_owned());
    }
    let pid = target.process().pid();
    if target.tmp().is_without_execution() {
        bail!(
            "JVM {pid} needs a copy of the agent in its /tmp, which is mounted noexec; remount it without noexec, or \
             start the JVM with the agent (-agentpath)"
        );
    }
    let bytes = fs::read(&own).with_context(|| format!("cannot read {}", own.display()))?;
    let name = format!("{PREFIX}{}-{}", carried::number_of(&bytes), target.process().owner().uid);
    let copied = target.as_owner(|| copy(target, &name, &bytes))?;
    copied.with_context(|| {
        format!("cannot copy the agent to {TMP}{name} in the file system of JVM {pid}; make its /tmp writable")
    })?;
    Ok(format!("{TMP}{name}/{}", carried::NAME))
}

/// Removes a copy. The JVM that has it loaded keeps it.
pub(crate) fn remove_copy(target: &Target, path: &str) {
    let copy = path.strip_prefix(TMP).and_then(|path| path.split_once('/'));
    if let Some((folder, carried::NAME)) = copy.filter(|(folder, _)| folder.starts_with(PREFIX)) {
        // The cleaning of /tmp takes what we cannot.
        let _ = target.as_owner(|| fs::remove_dir_all(target.tmp().join(folder)));
    }
}

/// Whether the JVM's user may read the file, and nobody but root, this user and ours can put another one in its place.
fn is_safe(target: &Target, path: &Path) -> bool {
    let user = target.process().owner().uid;
    let own = rustix::process::geteuid().as_raw();
    let is_kept = |path: &Path| {
        let found = fs::metadata(path).ok();
        found.is_some_and(|found| {
            let is_sticky = found.mode() & 0o1000 != 0;
            [0, user, own].contains(&found.uid()) && (found.mode() & 0o022 == 0 || (found.is_dir() && is_sticky))
        })
    };
    let can_read = || target.as_owner(|| File::open(path).is_ok()).unwrap_or(false);
    target.shares_files() && path.ancestors().all(is_kept) && can_read()
}

/// Copies the agent into a folder of the JVM's user, unless it is there.
fn copy(target: &Target, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    match DirBuilder::new().mode(0o700).create(target.tmp().join(name)) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    let folder = target.tmp().folder(name)?;
    if !folder.is_private_to(target.process().owner())? {
        bail!("the folder exists, and others may write to it; remove it");
    }
    if !is_there(&folder, bytes) {
        let fresh = folder.join(&format!("{}.{}", carried::NAME, std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&fresh)?;
        file.write_all(bytes)?;
        fs::rename(&fresh, folder.join(carried::NAME))?;
    }
    Ok(())
}

fn is_there(folder: &Folder, bytes: &[u8]) -> bool {
    let read = || -> io::Result<Vec<u8>> {
        let mut there = Vec::new();
        folder.file(carried::NAME)?.take(bytes.len() as u64 + 1).read_to_end(&mut there)?;
        Ok(there)
    };
    read().is_ok_and(|there| there == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaded_agent_is_found_even_if_its_file_is_gone() {
        let mapped = |path: &str| among(&["/usr/lib/libc.so.6".to_owned(), path.to_owned()]);
        assert_eq!(mapped("/a b/libmartini.so").as_deref(), Some("/a b/libmartini.so"));
        assert_eq!(mapped("/tmp/x/libmartini.so (deleted)").as_deref(), Some("/tmp/x/libmartini.so"));
        assert_eq!(mapped("/x/libmartini.so.1"), None);
    }
}
