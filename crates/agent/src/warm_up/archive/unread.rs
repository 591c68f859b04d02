//! An archive that is not used, and nothing but its content can say why: whether it was made with this class path.
//!
//! It may be large, and its disk slow, so a thread of the agent's reads it and nobody waits for that.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use trace::model::ArchiveRefusal;

use super::Archive;

/// An archive that is not used, for no reason that is known without reading it.
#[derive(Clone)]
pub(in crate::warm_up) struct Unread {
    file: PathBuf,
    /// The first entry of the class path.
    jar: PathBuf,
}

impl Unread {
    pub(super) fn new(file: &Path, jar: &Path) -> Unread {
        Unread { file: file.into(), jar: jar.into() }
    }

    /// Reads it, as long as that goes on.
    pub(in crate::warm_up) fn read(&self, goes_on: impl Fn() -> bool) -> Archive {
        match names(&self.file, &self.jar, goes_on) {
            Some(false) => Archive::refused(&self.file, ArchiveRefusal::ClassPath, self.jar.to_string_lossy()),
            Some(true) | None => Archive::refused(&self.file, ArchiveRefusal::Unknown, ""),
        }
    }

    /// The recording ends before it is read.
    pub(in crate::warm_up) fn unexamined(&self) -> Archive {
        Archive::refused(&self.file, ArchiveRefusal::Unknown, "not examined: the recording ended first")
    }
}

/// Whether an archive has a jar of that name; `None` if that cannot be found out, or was not as long as it goes on.
fn names(archive: &Path, jar: &Path, goes_on: impl Fn() -> bool) -> Option<bool> {
    let name = jar.file_name()?.as_bytes();
    let mut file = File::open(archive).ok()?;
    let mut piece = vec![0; 1 << 20];
    let mut kept = 0;
    while goes_on() {
        let read = file.read(&mut piece[kept..]).ok()?;
        let filled = kept + read;
        if memchr::memmem::find(&piece[..filled], name).is_some() {
            return Some(true);
        }
        if read == 0 {
            return Some(false);
        }
        // It may lie on the border.
        kept = filled.min(name.len());
        piece.copy_within(filled - kept..filled, 0);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_name_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("app.jsa");
        for at in [0, (1 << 20) - 3, (2 << 20) + 7] {
            let mut bytes = vec![b'x'; 3 << 20];
            bytes[at..at + 7].copy_from_slice(b"app.jar");
            fs::write(&archive, bytes).expect("written");
            assert_eq!(names(&archive, Path::new("/lib/app.jar"), || true), Some(true));
            assert_eq!(names(&archive, Path::new("other.jar"), || true), Some(false));
        }
        assert_eq!(names(&folder.path().join("none"), Path::new("app.jar"), || true), None);
    }

    #[test]
    fn reading_ends_when_the_recording_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("app.jsa");
        fs::write(&archive, "of other.jar").expect("written");
        let unread = Unread::new(&archive, Path::new("/lib/app.jar"));
        let refusal = |archive: Archive| archive.refusal.map(|(refusal, detail)| (refusal, detail.to_string()));
        assert_eq!(refusal(unread.read(|| true)), Some((ArchiveRefusal::ClassPath, "/lib/app.jar".to_owned())));
        assert_eq!(refusal(unread.read(|| false)), Some((ArchiveRefusal::Unknown, String::new())));
    }
}
