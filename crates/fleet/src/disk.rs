//! What is done to files, one step at a time: for their owner alone, and in tests as far as it is let.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

/// Files and folders.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// After so many steps nothing works any more, as if the process were killed.
    #[cfg(test)]
    pub(crate) left: std::cell::Cell<Option<u32>>,
}

impl Disk {
    #[cfg(not(test))]
    fn step(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn step(&self) -> io::Result<()> {
        match self.left.get() {
            Some(0) => return Err(io::Error::other("killed")),
            Some(left) => self.left.set(Some(left - 1)),
            None => {}
        }
        Ok(())
    }

    /// Makes a folder and those around it.
    pub(crate) fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path)
    }

    /// Opens a file for reading and writing, as it is; makes it if there is none.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        OpenOptions::new().read(true).append(true).create(true).mode(PRIVATE_FILE).open(path)
    }

    /// Makes an empty file.
    pub(crate) fn create(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        OpenOptions::new().write(true).truncate(true).create(true).mode(PRIVATE_FILE).open(path)
    }

    /// Has what was written to a file reach the disk.
    pub(crate) fn sync(&self, file: &File) -> io::Result<()> {
        self.step()?;
        // Tests are not of the disk.
        if cfg!(test) { Ok(()) } else { file.sync_all() }
    }

    /// Has the names in a folder reach the disk.
    pub(crate) fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = File::open(path)?;
        self.sync(&folder)
    }

    /// Gives a file another name.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        fs::rename(from, to)
    }

    /// Removes a file, if it is there, and the folders around it that are empty then, up to another one.
    pub(crate) fn remove(&self, path: &Path, up_to: &Path) -> io::Result<()> {
        self.step()?;
        match fs::remove_file(path) {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Err(error),
            _ => {}
        }
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != up_to && folder.starts_with(up_to));
        // One that is not empty stays.
        for folder in folders {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Removes a folder and what is in it, if it is there.
    pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
