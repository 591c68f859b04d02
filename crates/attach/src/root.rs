//! The file system of a process, which may be another than ours.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, openat, openat2};
use rustix::io::Errno;

use crate::files::names;
use crate::ids::Owner;
use crate::process::Process;

/// Where HotSpot puts its socket and what it publishes, whatever `java.io.tmpdir` says.
pub(crate) const TMP: &str = "/tmp";

/// Its root folder, held open.
#[derive(Debug)]
pub struct Root(OwnedFd);

impl Root {
    /// That of a process.
    ///
    /// # Errors
    /// It may not be looked at.
    pub fn of(process: &Process) -> io::Result<Root> {
        Ok(Root(open_folder(&process.folder().join("root"))?))
    }

    /// Opens what a path of the process names: links in it lead where the process's own would lead.
    ///
    /// # Errors
    /// It is not there, or may not be opened.
    pub fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let relative = path.strip_prefix("/").unwrap_or(path);
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let flags = flags | OFlags::CLOEXEC;
        match openat2(&self.0, relative, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
            // Linux before 5.6.
            Err(Errno::NOSYS) => Ok(openat(&self.0, relative, flags | OFlags::NOFOLLOW, Mode::empty())?),
            opened => Ok(opened?),
        }
    }

    /// Opens a folder of the process, to name what is in it.
    ///
    /// # Errors
    /// It is not there, or may not be opened.
    pub fn folder(&self, path: &Path) -> io::Result<Folder> {
        self.open(path, OFlags::PATH | OFlags::DIRECTORY).map(Folder)
    }
}

/// A folder that is held open, whatever its path may come to mean.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// A path by which this process reaches it. It is short, as the path of a socket has to be.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// A folder in it, which is no link.
    ///
    /// # Errors
    /// It is not there, or may not be opened.
    pub fn folder(&self, name: &str) -> io::Result<Folder> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Folder(openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Opens a regular file in it, which is no link, for reading.
    ///
    /// # Errors
    /// It is not there, something else, or may not be read.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// Whether it belongs to this user, and nobody else may look into it.
    ///
    /// # Errors
    /// The system does not say.
    pub fn is_private_to(&self, owner: Owner) -> io::Result<bool> {
        let stat = rustix::fs::fstat(&self.0)?;
        Ok(stat.st_uid == owner.uid && stat.st_mode & 0o077 == 0)
    }

    /// Whether nothing in its file system may be executed or loaded.
    pub fn is_without_execution(&self) -> bool {
        let flags = rustix::fs::fstatvfs(&self.0).map(|found| found.f_flag);
        flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::NOEXEC))
    }

    /// The names in it.
    pub fn names(&self) -> Vec<String> {
        names(&self.path())
    }

    /// The path of something in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}
