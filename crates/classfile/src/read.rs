//! The one bounds-checked reader: big-endian fields out of a slice.

use crate::error::{ParseError, Refusal};

/// A read past the end of the slice, at this offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short(pub(crate) usize);

impl From<Short> for ParseError {
    fn from(short: Short) -> Self {
        ParseError::Truncated { offset: short.0 }
    }
}

/// Inside a method a short read means a Code attribute that does not hold together.
impl From<Short> for Refusal {
    fn from(_: Short) -> Self {
        Refusal::MalformedCode
    }
}

/// Walks a slice from front to back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// Reads on at `at`; a place past the end reads as empty.
    pub(crate) fn at(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Short> {
        let slice = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end)).ok_or(Short(self.at))?;
        self.at += count;
        Ok(slice)
    }

    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> Result<(), Short> {
        self.take(count).map(|_| ())
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let rest = self.bytes.get(self.at..).ok_or(Short(self.at))?;
        let array = rest.first_chunk::<N>().ok_or(Short(self.at))?;
        self.at += N;
        Ok(*array)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Short> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_be_bytes)
    }
}

/// The big-endian `u16` at `at`, if the slice reaches that far.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let chunk = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*chunk))
}

/// The big-endian `i32` at `at`, if the slice reaches that far.
#[inline]
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    let chunk = bytes.get(at..)?.first_chunk::<4>()?;
    Some(i32::from_be_bytes(*chunk))
}
