//! A file whose existence requests something of the agent.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::message::message;

/// Looks for the file.
pub struct RequestFile {
    path: PathBuf,
    has_complained: bool,
}

impl RequestFile {
    /// Requests by this file; one that an earlier run has left is none.
    pub fn begin(path: PathBuf) -> RequestFile {
        let mut request = RequestFile { path, has_complained: false };
        request.take();
        request
    }

    /// Whether there is the file, which is taken away. One that another user has made, and what is no regular file, requests
    /// nothing and stays.
    pub fn take(&mut self) -> bool {
        let Ok(found) = fs::symlink_metadata(&self.path) else { return false };
        // SAFETY: it takes nothing and cannot fail.
        let own = unsafe { libc::geteuid() };
        let is_own = found.is_file() && found.uid() == own && found.nlink() == 1;
        if !is_own && !std::mem::replace(&mut self.has_complained, true) {
            message(&format!(
                "{} is ignored: a request file must be a regular file owned by the JVM's user",
                self.path.display()
            ));
        }
        is_own && fs::remove_file(&self.path).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_of_ours_is_a_request() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.trcxml.dump");
        fs::write(&path, "").unwrap();
        let mut request = RequestFile::begin(path.clone());
        assert!(!path.exists(), "an earlier run has left it");
        assert!(!request.take());
        fs::write(&path, "").unwrap();
        assert!(request.take() && !path.exists() && !request.take());
        fs::write(&path, "").unwrap();
        // Only root may give it away.
        if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
            assert!(!request.take() && path.exists() && request.has_complained);
        }
        fs::remove_file(&path).unwrap();

        let other = dir.path().join("other");
        fs::write(&other, "text").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(!request.take() && path.is_symlink() && request.has_complained);
        fs::remove_file(&path).unwrap();
        fs::hard_link(&other, &path).unwrap();
        assert!(!request.take());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(!request.take() && path.is_dir());
        assert_eq!(fs::read_to_string(&other).unwrap(), "text");
    }
}
