//! A part of a dump in memory, which goes back to its place when it is changed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::read::ReadError;

/// Bytes that are read at once.
const AHEAD: usize = 1 << 20;

/// A range of the dump's bytes that nothing else changes meanwhile.
pub(super) struct Window<'f> {
    file: &'f File,
    bytes: Vec<u8>,
    begin: u64,
    end: u64,
    is_dirty: bool,
}

impl<'f> Window<'f> {
    pub(super) fn new(file: &'f File) -> Self {
        Window { file, bytes: Vec::new(), begin: 0, end: 0, is_dirty: false }
    }

    /// Moves to another part of the file.
    pub(super) fn enter(&mut self, part: &Range<u64>) -> Result<(), ReadError> {
        self.flush()?;
        (self.begin, self.end) = (part.start, part.end);
        self.bytes.clear();
        Ok(())
    }

    /// Some bytes, to look at.
    #[inline]
    pub(super) fn look(&mut self, at: u64, length: usize, what: &'static str) -> Result<&mut [u8], ReadError> {
        let inside = at.wrapping_sub(self.begin) as usize;
        if at < self.begin || inside + length > self.bytes.len() {
            return self.load(at, length, what);
        }
        Ok(&mut self.bytes[inside..inside + length])
    }

    /// Some bytes, to be changed.
    #[inline]
    pub(super) fn change(&mut self, at: u64, length: usize, what: &'static str) -> Result<&mut [u8], ReadError> {
        // Loading what is asked for writes what was changed before.
        self.look(at, length, what)?;
        self.is_dirty = true;
        self.look(at, length, what)
    }

    #[cold]
    fn load(&mut self, at: u64, length: usize, what: &'static str) -> Result<&mut [u8], ReadError> {
        self.flush()?;
        if at > self.end || length as u64 > self.end - at {
            return Err(ReadError::Misfit { at, what });
        }
        let whole = (length.max(AHEAD) as u64).min(self.end - at) as usize;
        self.bytes.resize(whole, 0);
        self.begin = at;
        read(self.file, &mut self.bytes, at, what)?;
        Ok(&mut self.bytes[..length])
    }

    /// Puts back what was changed.
    pub(super) fn flush(&mut self) -> Result<(), ReadError> {
        if std::mem::take(&mut self.is_dirty) {
            self.file
                .write_all_at(&self.bytes, self.begin)
                .map_err(|source| ReadError::Write { at: self.begin, source })?;
        }
        Ok(())
    }
}

/// Reads from a place.
pub(super) fn read(file: &File, bytes: &mut [u8], at: u64, what: &'static str) -> Result<(), ReadError> {
    file.read_exact_at(bytes, at).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::Truncated { at, what },
        _ => ReadError::Io { at, source },
    })
}
