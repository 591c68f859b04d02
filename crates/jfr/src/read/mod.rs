//! Reads recordings, chunk by chunk. Nothing in them is trusted: no number decides how much memory is taken before as many bytes
//! are there, and nothing goes on without an end.

mod chunk;
mod cursor;
mod error;
mod types;
mod value;

use std::io::{Read, Seek, SeekFrom};

pub use chunk::{Chunk, Event};
use chunk::{HEADER, Header, NoHeader};
pub use error::{Damage, Error};
pub use value::{Constant, Object, Value};

/// A recording, of which one chunk is in memory at a time.
#[derive(Debug)]
pub struct Recording<R> {
    input: R,
    at: u64,
    length: u64,
}

impl<R: Read + Seek> Recording<R> {
    /// A recording that is read from its beginning.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Recording { input, at: 0, length })
    }

    /// Where the next chunk begins.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next chunk; `None` behind the last.
    ///
    /// # Errors
    /// It cannot be read, or makes no sense. Where [`at`](Self::at) has moved on nevertheless, the chunks behind it can be read.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        if self.at == self.length && self.at > 0 {
            return Ok(None);
        }
        let begin = self.at;
        let damaged = |damage| Error::Damaged { damage, chunk: begin };
        self.input.seek(SeekFrom::Start(begin))?;
        let mut head = Vec::new();
        (&mut self.input).take(HEADER as u64).read_to_end(&mut head)?;
        let header = Header::read(&head).map_err(|no| match no {
            NoHeader::Gzip if begin == 0 => Error::Gzip,
            NoHeader::Foreign if begin == 0 => Error::Foreign,
            NoHeader::Version(version) => Error::Version(version),
            NoHeader::Gzip | NoHeader::Foreign | NoHeader::TooShort => damaged(Damage::TooShort),
        })?;
        if header.size == 0 {
            return Err(Error::Unfinished);
        }
        if header.size < HEADER as u64 || header.size > self.length - begin {
            return Err(damaged(Damage::TooShort));
        }
        let rest = header.size - HEADER as u64;
        (&mut self.input).take(rest).read_to_end(&mut head)?;
        self.at = begin + header.size;
        Chunk::new(header, head).map_err(damaged).map(Some)
    }
}
