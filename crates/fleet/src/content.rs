//! Ids that depend on content alone, so that rows of different traces join without renumbering.
//!
//! An id is the lower half of XXH3 with 128 bits (seed 0) of the content. The upper half stands beside it as a check: the same id with
//! another check is a collision, which is found and refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use twox_hash::XxHash3_128;

/// The id of some content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId {
    /// What stands for the content.
    pub id: i64,
    /// What tells it apart from other content of the same id.
    pub check: i64,
}

impl ContentId {
    /// That of bytes.
    pub fn of(bytes: &[u8]) -> ContentId {
        ContentId::from(XxHash3_128::oneshot(bytes))
    }

    /// That of a file, and how long the file is.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(path: &Path) -> io::Result<(ContentId, u64)> {
        let (mut file, mut hasher) = (File::open(path)?, XxHash3_128::new());
        let (mut buffer, mut length) = (vec![0; 1 << 20], 0);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok((ContentId::from(hasher.finish_128()), length)),
                read => {
                    hasher.write(&buffer[..read]);
                    length += read as u64;
                }
            }
        }
    }
}

impl From<ContentId> for u128 {
    fn from(id: ContentId) -> u128 {
        u128::from(id.check as u64) << 64 | u128::from(id.id as u64)
    }
}

impl From<u128> for ContentId {
    fn from(hash: u128) -> ContentId {
        ContentId { id: hash as u64 as i64, check: (hash >> 64) as u64 as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids are in files: they stay what they are.
    #[test]
    fn ids_do_not_change() {
        let id = ContentId::of(b"java.lang.String");
        assert_eq!((id.id, id.check), (4_190_633_431_342_226_121, 3_064_278_058_443_799_137));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"java.lang.String").unwrap();
        assert_eq!(ContentId::of_file(file.path()).unwrap(), (id, 16));
    }
}
