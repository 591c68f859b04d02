//! A folder for one test.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::say::say;

/// A fresh folder that goes away with the test, unless the test fails: then it stays, and its place is said.
#[derive(Debug)]
pub struct Workdir {
    folder: Option<TempDir>,
}

impl Workdir {
    /// Makes the folder in the system's place for temporary files.
    #[expect(clippy::new_without_default, reason = "it makes a folder on disk")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("martini-test-").tempdir();
        Self { folder: Some(folder.expect("a temporary folder can be made")) }
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
