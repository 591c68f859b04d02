//! A folder of Parquet files, to which several processes may add.
//!
//! One writes at a time: it has the lock of the file `_martini`, which also says that the folder is a store, and of which version.
//! Reading a trace, which takes most of the time, needs no lock. Each change is a [transaction](transaction). A row counts if table `run`
//! has its run with the same `batch`: so rows that are merged, removed or left behind are never seen twice.

mod add;
mod compact;
mod error;
mod layout;
mod prune;
#[cfg(test)]
mod tests;
mod transaction;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

pub use add::Added;
pub use compact::Compacted;
pub use error::StoreError;
pub use prune::Pruned;

use crate::columns::Rows;
use crate::disk::Disk;
use crate::parquet_file::RowReader;
use crate::schema::{RUN, Table, VERSION};

/// Says that a folder is a store.
const MARKER: &str = "_martini";
/// What the marker says before the version.
const MARK: &str = "martini fleet ";

/// How long others may write.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Between two looks whether they do.
const PAUSE: Duration = Duration::from_millis(20);

/// A store.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    disk: Disk,
}

/// While it is there, nobody else writes to the store.
struct Lock {
    _file: File,
}

impl Store {
    /// A store that is there.
    ///
    /// # Errors
    /// There is none, or it was written by a newer Martini.
    pub fn open(root: &Path) -> Result<Store, StoreError> {
        let store = Store::at(root)?;
        let marker = root.join(MARKER);
        match File::open(&marker) {
            Ok(mut file) => store.check(&mut file).map(|()| store),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::of(&marker)(error)),
            Err(_) if root.is_dir() => Err(StoreError::NoStore(root.to_owned())),
            Err(_) => Err(StoreError::Missing(root.to_owned())),
        }
    }

    /// A store that is there, or a new one in a folder that is empty or not there.
    ///
    /// # Errors
    /// The folder has something else, cannot be made, or was written by a newer Martini.
    pub fn open_or_create(root: &Path) -> Result<Store, StoreError> {
        let store = Store::at(root)?;
        store.create()?;
        Ok(store)
    }

    /// The files that say which runs there are: as long as they are the same, so is what readers see.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn runs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut runs = Vec::new();
        for part in layout::parts(&self.root, &RUN).map_err(StoreError::of(&self.root))? {
            let files = layout::files(&self.root, &RUN, &part).map_err(StoreError::of(&self.root))?;
            runs.extend(files.into_iter().map(|file| file.path));
        }
        Ok(runs)
    }

    fn at(root: &Path) -> Result<Store, StoreError> {
        match root.to_str().is_some_and(|text| text.contains("://")) {
            true => Err(StoreError::Url(root.to_owned())),
            false => Ok(Store { root: root.to_owned(), disk: Disk::default() }),
        }
    }

    fn create(&self) -> Result<(), StoreError> {
        let root = &self.root;
        self.disk.create_folder(root).map_err(StoreError::of(root))?;
        let mut names =
            root.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(StoreError::of(root))?;
        names.retain(|entry| entry.file_name() != MARKER);
        let marker = root.join(MARKER);
        if !names.is_empty() && !marker.exists() {
            return Err(StoreError::NoStore(root.clone()));
        }
        self.lock().map(drop)
    }

    /// Waits until nobody else writes to the store.
    fn lock(&self) -> Result<Lock, StoreError> {
        let marker = self.root.join(MARKER);
        let mut file = self.disk.open(&marker).map_err(StoreError::of(&marker))?;
        let begin = Instant::now();
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK) if begin.elapsed() < MAX_WAIT => thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => {
                    return Err(StoreError::Busy { path: self.root.clone(), seconds: MAX_WAIT.as_secs() });
                }
                Err(errno) => return Err(StoreError::of(&marker)(errno.into())),
            }
        }
        if file.metadata().map_err(StoreError::of(&marker))?.len() == 0 {
            writeln!(file, "{MARK}{VERSION}").map_err(StoreError::of(&marker))?;
            self.disk.sync(&file).map_err(StoreError::of(&marker))?;
        }
        self.check(&mut file)?;
        Ok(Lock { _file: file })
    }

    /// Whether the marker is that of a version that is known.
    fn check(&self, marker: &mut File) -> Result<(), StoreError> {
        let mut text = String::new();
        marker.take(64).read_to_string(&mut text).map_err(StoreError::of(&self.root.join(MARKER)))?;
        // Somebody is making the store.
        if text.is_empty() {
            return Ok(());
        }
        let version = text.strip_prefix(MARK).and_then(|version| version.trim_end().parse::<i64>().ok());
        match version {
            Some(version) if version <= VERSION => Ok(()),
            Some(found) => Err(StoreError::Newer { path: self.root.clone(), found }),
            None => Err(StoreError::NoStore(self.root.clone())),
        }
    }

    /// All rows of a file below the store, or some of its columns, a row group at a time.
    fn read(
        &self,
        path: &Path,
        table: &'static Table,
        wanted: Option<&[&str]>,
        mut take: impl FnMut(Rows) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut reader = self.open_file(path, table)?;
        while let Some(rows) = next(&mut reader, wanted)? {
            take(rows)?;
        }
        Ok(())
    }

    /// A file below the store.
    fn open_file(&self, path: &Path, table: &'static Table) -> Result<RowReader, StoreError> {
        let path = self.root.join(path);
        RowReader::open(&path, table).map_err(StoreError::in_reading(&path))
    }
}

/// The rows of a file's next row group, or some of their columns.
fn next(reader: &mut RowReader, wanted: Option<&[&str]>) -> Result<Option<Rows>, StoreError> {
    reader.next(wanted).map_err(|error| StoreError::in_reading(reader.path())(error))
}
