//! A folder for one test.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use crate::say::say;

/// The folders of [`shared`].
static SHARED: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// A folder that several tests of a binary use, and that goes away with the last of them.
pub fn shared() -> PathBuf {
    let folder = fresh();
    let path = folder.path().to_owned();
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    path
}

/// Takes them away: what is in a static is never dropped.
pub(crate) fn remove_shared() {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

fn fresh() -> TempDir {
    tempfile::Builder::new().prefix("martini-test-").tempdir().expect("a temporary folder can be made")
}

/// A fresh folder that goes away with the test, unless the test fails: then it stays, and its place is printed.
#[derive(Debug)]
pub struct Workdir {
    folder: Option<TempDir>,
}

impl Workdir {
    /// Makes the folder in the system's place for temporary files.
    #[expect(clippy::new_without_default, reason = "it makes a folder on disk")]
    pub fn new() -> Self {
        Self { folder: Some(fresh()) }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.as_ref().expect("present until dropped").path()
    }

    /// A path in the folder.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

impl Drop for Workdir {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.folder.take()
        {
            say(&format!("the files of the failed test are in {}", folder.keep().display()));
        }
    }
}
