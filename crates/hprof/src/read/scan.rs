//! A window over the bytes of a dump: what is asked for lies in one piece, and memory never grows by a mere claim.

use std::io::{ErrorKind, Read};

use super::ReadError;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

pub(super) struct Scanner<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where in the buffer the unread bytes begin and end.
    start: usize,
    end: usize,
    /// Where in the dump `start` is.
    at: u64,
}

impl<R: Read> Scanner<R> {
    pub(super) fn new(input: R) -> Self {
        Scanner { input, buffer: vec![0; CHUNK], start: 0, end: 0, at: 0 }
    }

    /// Bytes of the dump before the next one.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The bytes that can be had without reading.
    pub(super) fn at_hand(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The next bytes, which stay where they are.
    #[inline]
    pub(super) fn peek(&mut self, count: usize, what: &'static str) -> Result<&[u8], ReadError> {
        if self.end - self.start < count && !self.fill(count)? {
            return Err(ReadError::Truncated { at: self.at + (self.end - self.start) as u64, what });
        }
        Ok(&self.buffer[self.start..self.start + count])
    }

    /// Goes over bytes that were peeked at.
    #[inline]
    pub(super) fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.at += count as u64;
    }

    /// Bytes that were gone over last, and are still there.
    pub(super) fn behind(&self, count: usize) -> &[u8] {
        &self.buffer[self.start - count..self.start]
    }

    /// Whether there is another byte.
    pub(super) fn has_more(&mut self) -> Result<bool, ReadError> {
        Ok(self.end > self.start || self.fill(1)?)
    }

    /// Goes over bytes unseen.
    pub(super) fn skip(&mut self, mut count: u64, what: &'static str) -> Result<(), ReadError> {
        loop {
            let step = count.min((self.end - self.start) as u64);
            self.advance(step as usize);
            count -= step;
            if count == 0 {
                return Ok(());
            }
            if !self.fill(1)? {
                return Err(ReadError::Truncated { at: self.at, what });
            }
        }
    }

    /// Reads until this many bytes are buffered; says whether there are enough.
    #[cold]
    fn fill(&mut self, count: usize) -> Result<bool, ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < count {
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Packed data that ends too early.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
                Err(source) => return Err(ReadError::Io { at: self.at + self.end as u64, source }),
            }
        }
        Ok(true)
    }
}
