//! Which release of glibc a library needs, and which one a `libc.so.6` is.

use std::io::{self, BufRead, BufReader, Read};

/// A release: 2.34 has the parts 2 and 34.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(u32, u32);

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The newest release that a file names. Both those who need symbols of a release and the library itself have its name, `GLIBC_2.34`, as
/// a string of their own.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn newest(file: impl Read) -> io::Result<Option<Release>> {
    let mut newest = None;
    let mut string = Vec::new();
    let mut reader = BufReader::with_capacity(1 << 16, file);
    while reader.read_until(0, &mut string)? > 0 {
        newest = newest.max(release(string.strip_suffix(b"\0").unwrap_or(&string)));
        string.clear();
    }
    Ok(newest)
}

fn release(string: &[u8]) -> Option<Release> {
    let name = std::str::from_utf8(string.strip_prefix(b"GLIBC_")?).ok()?;
    let mut parts = name.split('.').map(|part| part.parse().ok());
    Some(Release(parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_counts() {
        let text: &[u8] = b"\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0xGLIBC_2.99\0GLIBC_\0\xff";
        assert_eq!(newest(text).unwrap(), Some(Release(2, 34)));
        assert_eq!(newest(&b"none"[..]).unwrap(), None);
        assert!(Release(2, 4) < Release(2, 34));
        assert_eq!(Release(2, 34).to_string(), "2.34");
    }
}
