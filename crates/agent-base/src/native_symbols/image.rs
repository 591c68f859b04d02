//! The bytes of an ELF object: a file that is read piece by piece, or memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::mappings::Mapping;

/// What is read at once is no larger.
const LARGEST_PIECE: u64 = 64 << 20;
/// The kernel's code has a few pages.
const LARGEST_VDSO: usize = 1 << 20;

/// Where the bytes are.
pub(super) enum Image {
    /// An open file.
    Open(File, PathBuf),
    /// A file that is opened for each piece: the program, which may count its files, has none more than without the agent.
    Closed { path: PathBuf, version: Version },
    /// A copy.
    Memory(Box<[u8]>),
}

/// What shows that a path still names the same file with the same content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Version {
    device: u64,
    number: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Version {
    fn of(file: &File) -> Option<Version> {
        let data = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let modified = (data.mtime(), data.mtime_nsec());
        Some(Version { device: data.dev(), number: data.ino(), bytes: data.len(), modified })
    }
}

impl Image {
    /// The object that is mapped there, if it can still be had.
    pub(super) fn open(mapping: &Mapping) -> Option<Image> {
        if mapping.is_vdso() {
            return Image::copy(mapping);
        }
        match mapping.is_deleted() {
            true => Image::open_file(mapping.kept_path()),
            false => Image::open_file(mapping.path()?.to_owned()),
        }
    }

    /// A file by its path.
    pub(super) fn open_file(path: PathBuf) -> Option<Image> {
        let file = open(&path)?;
        Version::of(&file)?;
        Some(Image::Open(file, path))
    }

    fn copy(mapping: &Mapping) -> Option<Image> {
        let bytes = mapping.end.checked_sub(mapping.start).filter(|&bytes| bytes <= LARGEST_VDSO)?;
        // SAFETY: the kernel's own mapping has been in the list of this process, readable; nobody unmaps it, since libc keeps
        // pointers into it, and nobody writes to it.
        let bytes = unsafe { std::slice::from_raw_parts(mapping.start as *const u8, bytes) };
        Some(Image::Memory(bytes.into()))
    }

    /// The same, without a file that stays open.
    pub(super) fn closed(self) -> Image {
        match self {
            Image::Open(file, path) => match Version::of(&file) {
                Some(version) => Image::Closed { path, version },
                None => Image::Memory(Box::default()),
            },
            other => other,
        }
    }

    /// So many bytes from a place on; `None` if there are fewer, or too many for one piece.
    pub(super) fn read(&self, at: u64, bytes: u64) -> Option<Vec<u8>> {
        let end = at.checked_add(bytes).filter(|_| bytes <= LARGEST_PIECE)?;
        let from_file = |file: &File| {
            // Nothing is reserved for what a header says but the file does not have.
            let mut piece =
                vec![0; usize::try_from(bytes).ok().filter(|_| end <= file.metadata().map_or(0, |m| m.len()))?];
            file.read_exact_at(&mut piece, at).ok()?;
            Some(piece)
        };
        match self {
            Image::Open(file, _) => from_file(file),
            Image::Closed { path, version } => {
                from_file(&open(path).filter(|file| Version::of(file).as_ref() == Some(version))?)
            }
            Image::Memory(all) => all.get(usize::try_from(at).ok()?..usize::try_from(end).ok()?).map(<[u8]>::to_vec),
        }
    }

    /// The bytes up to a zero; those of `most` if there is none among them.
    pub(super) fn read_text(&self, at: u64, most: u64) -> Option<Vec<u8>> {
        let length = match self {
            Image::Open(file, _) => file.metadata().ok()?.len(),
            Image::Closed { version, .. } => version.bytes,
            Image::Memory(all) => all.len() as u64,
        };
        let mut text = self.read(at, most.min(length.checked_sub(at)?))?;
        if let Some(end) = memchr::memchr(0, &text) {
            text.truncate(end);
        }
        Some(text)
    }
}

/// Only a file is read, and opening it never waits, as that of a pipe would.
fn open(path: &Path) -> Option<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()
}
