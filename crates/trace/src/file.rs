//! Files that Martini writes: for their owner alone, and never over something else.
//!
//! - A file is made for its owner alone (mode 0600). One that is written over becomes so.
//! - The last name of a path is no symbolic link, except for those of open files: `/dev/stdout`, `/dev/fd/3`. A regular file
//!   behind such a name belongs to whoever opened it, so it is appended to.
//! - What is written over is of the same kind and user, has one name, and nobody else writes it.

use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Access, FlockOperation, OFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::{locklog, writer, zip};

/// Only for the owner.
const PRIVATE: u32 = 0o600;

/// As many names are tried.
const MOST_NAMES: u32 = 10_000;

/// How long a pipe may be without a reader.
const MAX_WAIT_FOR_READER: Duration = Duration::from_secs(10);

/// Between two looks whether there is one.
const PAUSE: Duration = Duration::from_millis(20);

/// What a file holds.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// For messages.
    pub name: &'static str,
    /// Whether a file that begins so, with up to 64 bytes, is of this kind.
    pub is_begun_by: fn(&[u8]) -> bool,
}

/// A trace, as text or as zip.
pub const TRACE: Kind = Kind {
    name: "trace",
    is_begun_by: |head| head.starts_with(writer::DOCUMENT_START) || head.starts_with(&zip::beginning(zip::TRACE_ENTRY)),
};

/// A lock log.
pub const LOCK_LOG: Kind = Kind { name: "lock log", is_begun_by: locklog::begins };

/// What is done if there is such a file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfTaken {
    /// It is written over, if it is of the same kind.
    Replace,
    /// The next name that is free is used: `a.trcxml`, `a-2.trcxml`, `a-3.trcxml`.
    Next,
}

/// Why a file is not written.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The name is wrong, whenever it is used.
    #[error("{0}")]
    Name(String),
    /// What else happens on the machine is in the way: another process writes the file, the disk is full.
    #[error("{0}")]
    Machine(String),
}

/// A file that was opened for writing.
#[derive(Debug)]
pub struct NewFile {
    /// The file, at whose end is written.
    pub file: File,
    /// Its name, which may be another than the one asked for.
    pub path: PathBuf,
    /// It is a regular file that holds only what is written now.
    pub is_regular: bool,
}

impl NewFile {
    /// Has it written. Half a file does not stay, since it would be taken for a whole one.
    ///
    /// # Errors
    /// What `write` says.
    pub fn fill<T>(mut self, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        let written = write(&mut self.file);
        if written.is_err() && self.is_regular {
            let _ = fs::remove_file(&self.path);
        }
        written
    }
}

/// Opens a file for writing: makes it, or empties it.
///
/// # Errors
/// The name is no place for such a file.
pub fn create(path: &Path, kind: Kind, if_taken: IfTaken) -> Result<NewFile, Refusal> {
    for number in 1..=MOST_NAMES {
        let path = numbered(path, number);
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&path) {
            Ok(file) => {
                lock(&file, &path, kind)?;
                return Ok(NewFile { file, path, is_regular: true });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_write(&path, kind, &error)),
        }
        let found = fs::symlink_metadata(&path).map_err(|error| cannot_write(&path, kind, &error))?.file_type();
        if is_stream(found) || (found.is_symlink() && names_an_open_file(&path)) {
            return stream(path, kind, MAX_WAIT_FOR_READER);
        }
        if if_taken == IfTaken::Replace {
            let file = existing(&path, found, kind)?;
            // A file system without permissions has none to change.
            let _ = file.set_permissions(fs::Permissions::from_mode(PRIVATE));
            file.set_len(0).map_err(|error| cannot_write(&path, kind, &error))?;
            return Ok(NewFile { file, path, is_regular: true });
        }
    }
    Err(Refusal::Name(format!("{} and {MOST_NAMES} similar names exist", path.display())))
}

/// Whether [`create`] would open a file at this time. Nothing is changed.
///
/// # Errors
/// Those of [`create`].
pub fn check(path: &Path, kind: Kind, if_taken: IfTaken) -> Result<(), Refusal> {
    let found = fs::symlink_metadata(path).ok().map(|metadata| metadata.file_type());
    match found.filter(|_| if_taken == IfTaken::Replace) {
        Some(found) if is_stream(found) || (found.is_symlink() && names_an_open_file(path)) => Ok(()),
        Some(found) => existing(path, found, kind).map(drop),
        None => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)
                .map_err(|errno| cannot_write(path, kind, &errno.into()))
        }
    }
}

/// Whether another process writes a regular file that it opened by [`create`].
pub fn is_being_written(path: &Path) -> bool {
    // A pipe without a writer would be waited for.
    let file = fs::metadata(path).ok().filter(|metadata| metadata.is_file()).and_then(|_| File::open(path).ok());
    file.is_some_and(|file| {
        matches!(rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
    })
}

/// The name that is used if `number - 1` names are taken.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn is_stream(found: FileType) -> bool {
    found.is_fifo() || found.is_char_device()
}

/// Whether a link is one of the system's own, in folders in which nobody else makes any.
fn names_an_open_file(link: &Path) -> bool {
    let folder = link.parent().and_then(|folder| folder.canonicalize().ok());
    folder.is_some_and(|folder| folder == Path::new("/dev") || folder.starts_with("/proc"))
}

/// A pipe, a device, or whatever is behind the name of an open file.
fn stream(path: PathBuf, kind: Kind, wait: Duration) -> Result<NewFile, Refusal> {
    let opened = open_stream(&path, wait);
    let found = opened.and_then(|file| Ok((file.metadata()?.file_type(), file)));
    match found {
        Ok((found, file)) if is_stream(found) || found.is_file() => Ok(NewFile { file, path, is_regular: false }),
        Ok(_) => Err(neither_file_nor_pipe(&path)),
        Err(error) => Err(cannot_write(&path, kind, &error)),
    }
}

/// Opens a pipe when somebody reads it.
fn open_stream(path: &Path, wait: Duration) -> io::Result<File> {
    let begun = Instant::now();
    loop {
        // Otherwise the system waits for a reader, for ever.
        let opened = OpenOptions::new().append(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
        match opened {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                if begun.elapsed() >= wait {
                    let seconds = wait.as_secs();
                    return Err(io::Error::other(format!("no reader opened it within {seconds} seconds")));
                }
                thread::sleep(PAUSE);
            }
            opened => {
                let file = opened?;
                rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
                return Ok(file);
            }
        }
    }
}

/// A regular file that may be written over, locked.
fn existing(path: &Path, found: FileType, kind: Kind) -> Result<File, Refusal> {
    if found.is_symlink() {
        return Err(Refusal::Name(format!("{} is a symbolic link, which is not followed", path.display())));
    }
    if !found.is_file() {
        return Err(neither_file_nor_pipe(path));
    }
    // What was looked at may be another file by now.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags.cast_signed()).open(path);
    let mut file = opened.map_err(|error| cannot_write(path, kind, &error))?;
    let metadata = file.metadata().map_err(|error| cannot_write(path, kind, &error))?;
    let refused = |why: &str| Err(Refusal::Name(format!("{} {why}", path.display())));
    if !metadata.is_file() {
        return Err(neither_file_nor_pipe(path));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refused("belongs to another user");
    }
    if metadata.nlink() > 1 {
        return refused("has a second name (a hard link), which would be overwritten too");
    }
    lock(&file, path, kind)?;
    let mut head = Vec::new();
    let read = file.by_ref().take(64).read_to_end(&mut head).and_then(|_| io::Seek::rewind(&mut file));
    read.map_err(|error| cannot_write(path, kind, &error))?;
    if !head.is_empty() && !(kind.is_begun_by)(&head) {
        return refused(&format!("exists and is not a Martini {}", kind.name));
    }
    Ok(file)
}

fn lock(file: &File, path: &Path, kind: Kind) -> Result<(), Refusal> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            Err(Refusal::Machine(format!("another process writes its {} to {}", kind.name, path.display())))
        }
        // Some file systems know no locks.
        _ => Ok(()),
    }
}

fn neither_file_nor_pipe(path: &Path) -> Refusal {
    Refusal::Name(format!("{} is neither a file nor a pipe", path.display()))
}

fn cannot_write(path: &Path, kind: Kind, error: &io::Error) -> Refusal {
    let sentence = format!("cannot write the {} to {}: {error}", kind.name, path.display());
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => Refusal::Name(sentence),
        _ => Refusal::Machine(sentence),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn is_name(refused: Result<NewFile, Refusal>, word: &str) -> bool {
        matches!(refused, Err(Refusal::Name(sentence)) if sentence.contains(word))
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_of_the_same_kind_is_emptied_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.trcxml");
        let zipped = zip::beginning(zip::TRACE_ENTRY);
        for (head, kind) in [
            (writer::DOCUMENT_START, TRACE),
            (&zipped, TRACE),
            (b"", TRACE),
            (b"2011/03/14 15:09:26.535\n1 TRY [a]\n", LOCK_LOG),
        ] {
            fs::write(&path, head).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            check(&path, kind, IfTaken::Replace).unwrap();
            assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (head, 0o644));
            let new = create(&path, kind, IfTaken::Replace).unwrap();
            assert!(new.is_regular && new.path == path);
            assert_eq!((path.metadata().unwrap().len(), mode(&path)), (0, 0o600));
        }
        for (head, kind) in [
            (&b"to be kept"[..], TRACE),
            (&zip::beginning("other.xml"), TRACE),
            (writer::DOCUMENT_START, LOCK_LOG),
            (b"2011/03/14\n", LOCK_LOG),
        ] {
            fs::write(&path, head).unwrap();
            assert!(is_name(create(&path, kind, IfTaken::Replace), kind.name));
            assert!(check(&path, kind, IfTaken::Replace).is_err());
            assert_eq!(fs::read(&path).unwrap(), head);
        }
    }

    #[test]
    fn a_file_is_being_written_until_its_writer_closes_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.trcxml");
        assert!(!is_being_written(&path));
        let new = create(&path, TRACE, IfTaken::Replace).unwrap();
        assert!(is_being_written(&path));
        drop(new);
        assert!(!is_being_written(&path));
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link, other) = (dir.path().join("t"), dir.path().join("link"), dir.path().join("other"));
        symlink(&target, &link).unwrap();
        assert!(is_name(create(&link, TRACE, IfTaken::Replace), "symbolic link") && !target.exists());
        fs::write(&target, writer::DOCUMENT_START).unwrap();
        assert!(is_name(create(&link, TRACE, IfTaken::Replace), "symbolic link"));
        assert!(check(&link, TRACE, IfTaken::Replace).is_err());
        fs::hard_link(&target, &other).unwrap();
        assert!(is_name(create(&other, TRACE, IfTaken::Replace), "hard link"));
        assert!(is_name(create(dir.path(), TRACE, IfTaken::Replace), "neither a file nor a pipe"));
        assert_eq!(fs::read(&target).unwrap(), writer::DOCUMENT_START);
        // Folders on the way may be links.
        let folder = dir.path().join("folder");
        symlink(dir.path(), &folder).unwrap();
        assert!(create(&folder.join("new"), TRACE, IfTaken::Replace).is_ok());
    }

    #[test]
    fn what_the_shell_opened_is_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "first\n").unwrap();
        let open = File::open(&path).unwrap();
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        check(Path::new(&name), TRACE, IfTaken::Replace).unwrap();
        let mut new = create(Path::new(&name), TRACE, IfTaken::Replace).unwrap();
        assert!(!new.is_regular);
        io::Write::write_all(&mut new.file, b"second\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\nsecond\n");
        let null = create(Path::new("/dev/null"), TRACE, IfTaken::Next).unwrap();
        assert_eq!((null.is_regular, null.path.as_path()), (false, Path::new("/dev/null")));
        // Whoever may make names in a folder of memory may make links too.
        assert!(!names_an_open_file(Path::new("/dev/shm/link")));
    }

    #[test]
    fn a_taken_name_becomes_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("t-1.trcxml"), "first").unwrap();
        symlink(path("nowhere"), path("t-1-2.trcxml")).unwrap();
        fs::create_dir(path("t-1-3.trcxml")).unwrap();
        let new = create(&path("t-1.trcxml"), TRACE, IfTaken::Next).unwrap();
        assert!(new.is_regular && new.path == path("t-1-4.trcxml") && mode(&new.path) == 0o600);
        assert_eq!(numbered(Path::new("/a/b"), 2), Path::new("/a/b-2"));
        assert_eq!(numbered(Path::new("a.b.c"), 12), Path::new("a.b-12.c"));
    }

    #[test]
    fn a_pipe_without_a_reader_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        // No command: a new process shares the locks of other tests for a moment.
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let refused = stream(path.clone(), TRACE, Duration::ZERO);
        assert!(matches!(refused, Err(Refusal::Machine(sentence)) if sentence.contains("no reader")));
        let reader = thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        let mut new = create(&path, TRACE, IfTaken::Replace).unwrap();
        // The reader may be slow: what does not fit waits for it.
        io::Write::write_all(&mut new.file, &vec![b'x'; 1 << 20]).unwrap();
        drop(new);
        assert_eq!(reader.join().unwrap().len(), 1 << 20);
    }

    #[test]
    fn one_writer_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let first = create(&path, TRACE, IfTaken::Replace).unwrap();
        let second = create(&path, TRACE, IfTaken::Replace);
        assert!(matches!(second, Err(Refusal::Machine(sentence)) if sentence.contains("another process")));
        drop(first);
        assert!(create(&path, TRACE, IfTaken::Replace).is_ok());
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_the_names_fault() {
        let missing = Path::new("/no/such/folder/t");
        assert!(is_name(create(missing, TRACE, IfTaken::Next), "/no/such/folder/t"));
        assert!(matches!(check(missing, TRACE, IfTaken::Next), Err(Refusal::Name(_))));
    }
}
