//! Changes of several files that are seen all at once or not at all.
//!
//! New files are written where no engine looks (`_staging`), and a journal (`_journal`) says where they belong. They go to their places;
//! the last of them is that of table `run`, by which all others are found. Old files go after that. Whoever opens the store next finishes
//! what was begun: if the last one is at its place the old files go, otherwise the new ones do.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use crate::columns::Rows;
use crate::disk::Disk;
use crate::parquet_file::RowWriter;
use crate::schema::Table;

const STAGING: &str = "_staging";
const JOURNAL: &str = "_journal";

/// What the lines of a journal begin with.
const COMMIT: &str = "commit ";
const NEW: &str = "new ";
const OLD: &str = "old ";

/// A change that is being prepared; whoever makes it has the store's lock.
pub(super) struct Transaction<'s> {
    root: &'s Path,
    disk: &'s Disk,
    /// Where the files that are written belong, below the store, in their order.
    new: Vec<PathBuf>,
}

impl<'s> Transaction<'s> {
    /// Finishes what was begun before, and prepares the next change.
    pub(super) fn begin(root: &'s Path, disk: &'s Disk) -> Result<Transaction<'s>, StoreError> {
        let transaction = Transaction { root, disk, new: Vec::new() };
        transaction.finish_last().map_err(StoreError::of(root))?;
        let staging = root.join(STAGING);
        disk.create_folder(&staging).map_err(StoreError::of(&staging))?;
        Ok(transaction)
    }

    /// Writes a file that belongs to a path below the store.
    pub(super) fn file(&mut self, path: PathBuf, table: &'static Table) -> Result<NewFile<'s>, StoreError> {
        let staged = self.staged(self.new.len());
        self.new.push(path);
        let file = self.disk.create(&staged).map_err(StoreError::of(&staged))?;
        let writer = RowWriter::new(file, table).map_err(StoreError::in_parquet(&staged))?;
        Ok(NewFile { disk: self.disk, path: staged, writer })
    }

    /// Brings the files to their places, the one that was written last behind all others, and removes old ones.
    pub(super) fn commit(self, old: &[PathBuf]) -> Result<(), StoreError> {
        self.try_commit(old).map_err(StoreError::of(self.root))
    }

    fn try_commit(&self, old: &[PathBuf]) -> io::Result<()> {
        let disk = self.disk;
        self.write_journal(old)?;
        let Some((commit, new)) = self.new.split_last() else { return Ok(()) };
        let mut folders = BTreeSet::new();
        for (number, path) in new.iter().enumerate() {
            self.place(number, path, &mut folders)?;
        }
        folders.iter().try_for_each(|folder| disk.sync_folder(folder))?;
        let mut folders = BTreeSet::new();
        self.place(new.len(), commit, &mut folders)?;
        folders.iter().try_for_each(|folder| disk.sync_folder(folder))?;
        self.remove(old)
    }

    /// Brings a file to its place; gives back its folder and those around it, which may be new.
    fn place(&self, number: usize, path: &Path, folders: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        let place = self.root.join(path);
        let folder = place.parent().unwrap_or(self.root);
        self.disk.create_folder(folder)?;
        folders.extend(folder.ancestors().take_while(|folder| folder.starts_with(self.root)).map(Path::to_owned));
        self.disk.rename(&self.staged(number), &place)
    }

    fn write_journal(&self, old: &[PathBuf]) -> io::Result<()> {
        let Some((commit, new)) = self.new.split_last() else { return Ok(()) };
        let mut text = format!("{COMMIT}{}\n", commit.display());
        let lines = new.iter().map(|path| (NEW, path)).chain(old.iter().map(|path| (OLD, path)));
        // Writing to a text cannot fail.
        lines.for_each(|(what, path)| _ = writeln!(text, "{what}{}", path.display()));
        let staged = self.root.join(STAGING).join(JOURNAL);
        let mut file = self.disk.create(&staged)?;
        file.write_all(text.as_bytes())?;
        self.disk.sync(&file)?;
        self.disk.rename(&staged, &self.root.join(JOURNAL))?;
        self.disk.sync_folder(self.root)
    }

    /// Finishes what was begun before.
    fn finish_last(&self) -> io::Result<()> {
        let journal = match fs::read_to_string(self.root.join(JOURNAL)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return self.clear(),
            journal => journal?,
        };
        let paths = |what: &str| -> Vec<PathBuf> {
            journal.lines().filter_map(|line| line.strip_prefix(what)).map(PathBuf::from).collect()
        };
        let is_done = paths(COMMIT).iter().all(|path| self.root.join(path).exists());
        self.remove(&paths(if is_done { OLD } else { NEW }))
    }

    /// Removes files, and then all that says that a change is under way.
    fn remove(&self, paths: &[PathBuf]) -> io::Result<()> {
        for path in paths {
            let table = path.components().next().map_or(self.root.to_owned(), |table| self.root.join(table));
            self.disk.remove(&self.root.join(path), &table)?;
        }
        self.disk.remove(&self.root.join(JOURNAL), self.root)?;
        self.clear()
    }

    fn clear(&self) -> io::Result<()> {
        self.disk.remove_folder(&self.root.join(STAGING))
    }

    fn staged(&self, number: usize) -> PathBuf {
        self.root.join(STAGING).join(number.to_string())
    }
}

/// What was not brought to its end, as when the disk is full, is undone as far as that goes.
impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let _ = self.finish_last();
    }
}

/// A file that is being written.
pub(super) struct NewFile<'s> {
    disk: &'s Disk,
    path: PathBuf,
    writer: RowWriter<File>,
}

impl NewFile<'_> {
    /// Writes rows.
    pub(super) fn write(&mut self, rows: &Rows) -> Result<(), StoreError> {
        self.writer.write(rows).map_err(StoreError::in_parquet(&self.path))
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        let file = self.writer.finish().map_err(StoreError::in_parquet(&self.path))?;
        self.disk.sync(&file).map_err(StoreError::of(&self.path))
    }
}
