//! Where a dump is written: in a folder that only the JVM's user may enter, beside the place where it appears when it is
//! complete. Nobody can put anything in its way, and it never takes the place of a file.
//!
//! The VM gets one path for all dumps, which is made when there is memory for strings: `/proc/thread-self/fd/N/dump`, where
//! the descriptor N is kept for the folder of the moment. It is short and has no character that an encoding could change.

use std::ffi::{CString, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The name of the dump in its folder.
const NAME: &str = "dump";
/// Names that are tried.
const MAX_NAMES: u32 = 100_000;

/// The folder of one dump after the other.
pub(super) struct DumpFolder {
    /// The folder; between dumps something that is none.
    slot: OwnedFd,
    folder: Option<PathBuf>,
}

impl DumpFolder {
    /// Keeps a descriptor for it.
    pub(super) fn new() -> io::Result<DumpFolder> {
        Ok(DumpFolder { slot: File::open("/dev/null")?.into(), folder: None })
    }

    /// The folder, through the descriptor.
    pub(super) fn folder(&self) -> PathBuf {
        format!("/proc/thread-self/fd/{}", self.slot.as_raw_fd()).into()
    }

    /// The dump, through the descriptor.
    pub(super) fn path(&self) -> PathBuf {
        self.folder().join(NAME)
    }

    /// Makes the folder, beside a path.
    pub(super) fn open(&mut self, beside: &Path) -> io::Result<()> {
        self.clear();
        let parent = beside.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let pid = std::process::id();
        let mut names = (0..MAX_NAMES).map(|number| parent.join(format!(".martini-dump-{pid}-{number}")));
        let made = names.find_map(|name| match DirBuilder::new().mode(0o700).create(&name) {
            Ok(()) => Some(Ok(name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(error)),
        });
        let name = made.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
        let opened = open_private(&name).and_then(|folder| self.put(&folder));
        self.folder = Some(name);
        opened
    }

    /// Has the descriptor stand for another file.
    fn put(&self, file: &File) -> io::Result<()> {
        // SAFETY: both descriptors are open and ours.
        match unsafe { libc::dup3(file.as_raw_fd(), self.slot.as_raw_fd(), libc::O_CLOEXEC) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Opens what the VM has written.
    pub(super) fn file(&self) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(self.path())
    }

    /// Deletes what the VM has written, if it is there.
    pub(super) fn remove_file(&self) {
        let _ = fs::remove_file(self.path());
    }

    /// Gives the dump the first of these names that is free, and returns it with its number.
    pub(super) fn publish(&self, first: u32, name: impl Fn(u32) -> PathBuf) -> io::Result<(u32, PathBuf)> {
        for number in first..first.saturating_add(MAX_NAMES) {
            let path = name(number);
            match self.rename(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result.map(|()| (number, path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the dump a name, unless something has it.
    fn rename(&self, to: &Path) -> io::Result<()> {
        let from = self.path();
        let [from_name, to_name] = [from.as_path(), to].map(|path| CString::new(path.as_os_str().as_bytes()));
        let (from_name, to_name) = (from_name?, to_name?);
        // SAFETY: two texts with their ends.
        let renamed = unsafe {
            libc::syscall(
                libc::SYS_renameat2,
                libc::AT_FDCWD,
                from_name.as_ptr(),
                libc::AT_FDCWD,
                to_name.as_ptr(),
                libc::RENAME_NOREPLACE,
            )
        };
        if renamed == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EPERM)) {
            return Err(error);
        }
        // A file system or a sandbox that does not know this call: an empty file of ours keeps the name free.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        fs::rename(&from, to).inspect_err(|_| drop(fs::remove_file(to)))
    }

    /// Deletes the folder with all that is in it.
    pub(super) fn clear(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        for left in fs::read_dir(self.folder()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(left.path());
        }
        if let Ok(none) = File::open("/dev/null") {
            let _ = self.put(&none);
        }
        // What is not empty stays.
        let _ = fs::remove_dir(folder);
    }
}

impl Drop for DumpFolder {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Opens a folder that was just made; fails if it is not the one.
fn open_private(name: &Path) -> io::Result<File> {
    let folder = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(name)?;
    let found = folder.metadata()?;
    // SAFETY: it takes nothing and cannot fail.
    let own = unsafe { libc::geteuid() };
    if found.uid() != own || found.mode() & 0o077 != 0 {
        let mut what: OsString = name.into();
        what.push(" is not private");
        return Err(io::Error::other(what.to_string_lossy().into_owned()));
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped(dir: &Path, text: &str) -> DumpFolder {
        let mut folder = DumpFolder::new().unwrap();
        folder.open(&dir.join("app-1.hprof")).unwrap();
        fs::write(folder.path(), text).unwrap();
        folder
    }

    #[test]
    fn a_dump_takes_the_first_free_name_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let name = |number: u32| dir.path().join(format!("app-{number}.hprof"));
        fs::write(name(1), "kept").unwrap();
        std::os::unix::fs::symlink(dir.path().join("nowhere"), name(2)).unwrap();
        let mut place = dumped(dir.path(), "dump");
        assert_eq!(place.publish(1, name).unwrap(), (3, name(3)));
        place.clear();
        assert_eq!(fs::read_to_string(name(1)).unwrap(), "kept");
        assert_eq!(fs::read_to_string(name(3)).unwrap(), "dump");
        assert!(!dir.path().join("nowhere").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn the_path_stays_the_same_and_the_folder_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let mut place = dumped(dir.path(), "one");
        let path = place.path();
        assert_eq!(fs::metadata(place.folder()).unwrap().mode() & 0o777, 0o700);
        place.clear();
        assert!(!path.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        // A folder that another run has left, and something in its place.
        let pid = std::process::id();
        fs::create_dir(dir.path().join(format!(".martini-dump-{pid}-0"))).unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join(format!(".martini-dump-{pid}-1"))).unwrap();
        place.open(&dir.path().join("app-2.hprof")).unwrap();
        assert_eq!((place.path(), path.exists()), (path.clone(), false));
        assert!(dir.path().join(format!(".martini-dump-{pid}-2")).is_dir());
    }
}
