//! Writes a trace as XML text into memory: one element per line, attributes in their fixed order.
//!
//! No I/O here: the owner of the writer drains [`XmlWriter::bytes`] wherever it likes, and since
//! only whole elements are ever appended, every drained piece ends with a complete element.

use crate::model::Record;

/// What a document begins with: the prolog and the root's start tag.
pub const DOCUMENT_START: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n";

/// What a document ends with: the root's end tag.
pub const DOCUMENT_END: &[u8] = b"</TRACE>\n";

/// Appends elements to a buffer that the owner drains.
#[derive(Debug, Default)]
pub struct XmlWriter {
    out: Vec<u8>,
}

impl XmlWriter {
    /// A writer with room for `capacity` bytes before it grows.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity) }
    }

    /// Begins a document: the prolog and the root's start tag. A bare fragment goes without.
    pub fn start_document(&mut self) {
        self.out.extend_from_slice(DOCUMENT_START);
    }

    /// Ends a document with the root's end tag.
    pub fn end_document(&mut self) {
        self.out.extend_from_slice(DOCUMENT_END);
    }

    /// Appends one element.
    #[inline]
    pub fn write(&mut self, record: &impl Record) {
        record.write(&mut self.out);
    }

    /// What has been written since the last [`clear`](Self::clear).
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what has been written, and keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}
