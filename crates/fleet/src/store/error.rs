//! Why a store is not read or written.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

use crate::names::Collision;

/// Why a store is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder is something else.
    #[error("{} is no fleet store: it has other files; name a new folder, or one that martini fleet add made", .0.display())]
    NoStore(PathBuf),
    /// There is no such folder.
    #[error("there is no store {}; martini fleet add makes one", .0.display())]
    Missing(PathBuf),
    /// It is in an object store.
    #[error("{} is a URL, and a store is a folder; keep one, and copy it there (rclone sync)", .0.display())]
    Url(PathBuf),
    /// It has a schema that is not known.
    #[error("{} was written by a newer Martini (schema {found}); update Martini", .path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
    },
    /// Others write to it all the time.
    #[error("another martini has been writing to {} for {seconds} s; try again later", .path.display())]
    Busy {
        /// The store.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A label cannot be the name of a folder.
    #[error("{what} '{name}' is empty or longer than 200 bytes")]
    Label {
        /// Which label.
        what: &'static str,
        /// What it is.
        name: String,
    },
    /// Another part of the same recording is there.
    #[error("another part of this recording is in the store, as run {run}: same host, process, options and beginning")]
    OtherPart {
        /// The id of its run.
        run: i64,
    },
    /// Two ids are the same by chance.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// A file is there, and is not as it was written.
    #[error("{} is damaged: {problem}; restore it, or remove its service from all tables and add the traces again", .path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What the format says.
        problem: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {problem}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system or the format says.
        problem: String,
    },
}

impl StoreError {
    /// What is wrong with a file or folder.
    pub(super) fn of(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        move |error| StoreError::File { path: path.to_owned(), problem: error.to_string() }
    }

    /// Why a Parquet file is not written.
    pub(super) fn in_parquet(path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
        move |error| {
            let problem = match error {
                ParquetError::External(error) => error.to_string(),
                error => error.to_string(),
            };
            StoreError::File { path: path.to_owned(), problem }
        }
    }

    /// Why a Parquet file is not read.
    pub(super) fn in_reading(path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
        move |error| match error {
            error @ ParquetError::External(_) => StoreError::in_parquet(path)(error),
            error => StoreError::Damaged { path: path.to_owned(), problem: error.to_string() },
        }
    }
}
