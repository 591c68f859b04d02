//! Files in folders that somebody else may write to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Makes an empty file that only its owner may use.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

/// The bytes of an open file, if it is a regular one.
pub(crate) fn bytes_of(file: File, most: u64) -> io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names of a folder's entries that are UTF-8, as many as a folder reasonably has.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    const MOST: usize = 100_000;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    entries.filter_map(|entry| entry.file_name().as_os_str().to_str().map(str::to_owned)).collect()
}
