//! Reads a dump as a stream, front to back, in constant memory.
//!
//! Arrays come in pieces, so that one of several gigabytes takes no more memory than one of ten bytes. What does not matter to
//! the caller ([`Reader::skip_elements`], [`Reader::skip_contents`]) is gone over unseen.

mod error;
mod file;
mod records;
mod scan;
mod sub_records;

use std::io::Read;

pub use error::ReadError;
pub use file::DumpFile;
pub use records::{ClassDump, Fields, Frame, Ids, Record, Root};

use crate::format::record as tag;
use crate::{ClassSerial, FrameId, NameId, ObjectId, StackSerial, ThreadSerial};
use records::big_endian;
use scan::Scanner;

/// Names and stacks beyond this are damage: the JVM's own limit for a name is 65,535 bytes.
const MAX_BODY: u32 = 16 << 20;

/// A piece of an array that is delivered at once.
const MAX_PIECE: usize = 1 << 16;

/// Reads the records of a dump one by one.
///
/// ```
/// use hprof::read::{Reader, ReadError};
///
/// let cut = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0\x01";
/// let mut reader = Reader::new(&cut[..])?;
/// assert!(matches!(reader.next_record(), Err(ReadError::Truncated { at: 32, .. })));
/// # Ok::<(), ReadError>(())
/// ```
pub struct Reader<R> {
    scanner: Scanner<R>,
    id_size: usize,
    millis: u64,
    /// The segment of the heap that is being read.
    segment: Option<Segment>,
    /// The array that is being delivered.
    piece: Option<Piece>,
    class: ClassDump,
    skip_elements: bool,
    skip_contents: bool,
    /// Has any heap been read, and does it want an end record?
    heap: Heap,
    skipped: Skipped,
}

/// What a reader stepped over because it does not know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Records, each of which says how long it is.
    pub records: u64,
    /// Their bytes.
    pub record_bytes: u64,
    /// Ends of heap segments: a sub-record does not say how long it is, but its segment does.
    pub segments: u64,
    /// Their bytes. Any number of objects may have been there.
    pub segment_bytes: u64,
}

/// A heap dump record or a segment of one.
#[derive(Clone, Copy)]
struct Segment {
    /// Where it ends.
    end: u64,
    /// Old dumpers write the whole heap into one record, and only the lower 32 bits of its length.
    may_overflow: bool,
}

/// What is left of an array.
#[derive(Clone, Copy)]
struct Piece {
    bytes: u64,
    element: usize,
    is_ids: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Heap {
    Missing,
    /// Segments without their end record yet.
    Open,
    Complete,
}

impl<R: Read> Reader<R> {
    /// Begins to read; needs no buffering in between.
    ///
    /// # Errors
    /// The header is not that of a dump.
    pub fn new(input: R) -> Result<Self, ReadError> {
        /// Longer than the format's name in any version.
        const NAME: usize = 19;
        let mut scanner = Scanner::new(input);
        let name = scanner.peek(NAME, "its header").map_err(|error| match error {
            ReadError::Truncated { .. } => ReadError::NotHprof,
            error => error,
        })?;
        if !matches!(name, b"JAVA PROFILE 1.0.1\0" | b"JAVA PROFILE 1.0.2\0" | b"JAVA PROFILE 1.0.3\0") {
            return Err(ReadError::NotHprof);
        }
        scanner.advance(NAME);
        let head = scanner.peek(12, "its header")?;
        let id_size = big_endian(head, 4) as u32;
        let millis = big_endian(&head[4..], 8);
        if !matches!(id_size, 4 | 8) {
            return Err(ReadError::IdSize(id_size));
        }
        scanner.advance(12);
        Ok(Reader {
            scanner,
            id_size: id_size as usize,
            millis,
            segment: None,
            piece: None,
            class: ClassDump::default(),
            skip_elements: false,
            skip_contents: false,
            heap: Heap::Missing,
            skipped: Skipped::default(),
        })
    }

    /// The width of ids in bytes.
    pub fn id_size(&self) -> usize {
        self.id_size
    }

    /// When the dump was made, in milliseconds since 1970.
    pub fn millis(&self) -> u64 {
        self.millis
    }

    /// How many bytes of the dump have been read, unpacked.
    pub fn at(&self) -> u64 {
        self.scanner.at()
    }

    /// What was stepped over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Go over the elements of arrays of references from here on.
    pub fn skip_elements(&mut self, skip: bool) {
        self.skip_elements = skip;
    }

    /// Go over the contents of arrays of primitives from here on.
    pub fn skip_contents(&mut self, skip: bool) {
        self.skip_contents = skip;
    }

    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// What is wrong, and where. Nothing can be read behind an error.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if let Some(piece) = self.piece.take() {
            let skip = if piece.is_ids { self.skip_elements } else { self.skip_contents };
            if !skip {
                return self.next_piece(piece).map(Some);
            }
            self.scanner.skip(piece.bytes, "an array")?;
        }
        loop {
            if let Some(segment) = self.segment {
                if self.scanner.at() < segment.end {
                    if self.is_known(segment)? {
                        return self.sub_record(segment).map(Some);
                    }
                    let rest = segment.end - self.scanner.at();
                    self.scanner.skip(rest, "the heap")?;
                    self.skipped.segments += 1;
                    self.skipped.segment_bytes += rest;
                }
                self.segment = None;
            }
            if !self.scanner.has_more()? {
                return match self.heap {
                    Heap::Complete => Ok(None),
                    Heap::Missing | Heap::Open => Err(ReadError::NoEnd { at: self.scanner.at() }),
                };
            }
            let at = self.scanner.at();
            let head = self.scanner.peek(9, "the head of a record")?;
            let (tag, length) = (head[0], big_endian(&head[5..], 4) as u32);
            match tag {
                tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT => {
                    self.scanner.advance(9);
                    let may_overflow = tag == tag::HEAP_DUMP;
                    self.segment = Some(Segment { end: at + 9 + u64::from(length), may_overflow });
                    self.heap = if may_overflow { Heap::Complete } else { Heap::Open };
                }
                tag::HEAP_DUMP_END => {
                    self.scanner.advance(9);
                    self.heap = Heap::Complete;
                    self.scanner.skip(length.into(), "its end record")?;
                }
                _ if !tag::is_known(tag) => {
                    self.scanner.advance(9);
                    self.scanner.skip(length.into(), "a record")?;
                    self.skipped.records += 1;
                    self.skipped.record_bytes += 9 + u64::from(length);
                }
                _ => return self.record(tag, length, at).map(Some),
            }
        }
    }

    /// A record outside the heap.
    fn record(&mut self, tag: u8, length: u32, at: u64) -> Result<Record<'_>, ReadError> {
        let id = self.id_size;
        let (what, least) = match tag {
            tag::NAME => ("a name", id),
            tag::LOAD_CLASS => ("a loaded class", 8 + 2 * id),
            tag::FRAME => ("a stack frame", 8 + 4 * id),
            tag::TRACE => ("a stack", 12),
            _ => {
                self.scanner.advance(9);
                self.scanner.skip(length.into(), "a record")?;
                return Ok(Record::Other);
            }
        };
        if length > MAX_BODY {
            return Err(ReadError::TooLong { at, what, length: length.into() });
        }
        let length = length as usize;
        if length < least {
            return Err(ReadError::Misfit { at, what });
        }
        self.scanner.advance(9);
        self.scanner.peek(length, what)?;
        self.scanner.advance(length);
        let body = self.scanner.behind(length);
        let id_at = |offset: usize| big_endian(&body[offset..], id);
        let u4_at = |offset: usize| big_endian(&body[offset..], 4) as u32;
        Ok(match tag {
            tag::NAME => Record::Name { id: NameId(id_at(0)), text: &body[id..] },
            tag::LOAD_CLASS => Record::LoadClass {
                serial: ClassSerial(u4_at(0)),
                class: ObjectId(id_at(4)),
                name: NameId(id_at(8 + id)),
            },
            tag::FRAME => Record::Frame(Frame {
                id: FrameId(id_at(0)),
                method: NameId(id_at(id)),
                signature: NameId(id_at(2 * id)),
                source: NameId(id_at(3 * id)),
                class: ClassSerial(u4_at(4 * id)),
                line: u4_at(4 * id + 4) as i32,
            }),
            _ => {
                let count = u4_at(8) as usize;
                if count.checked_mul(id).is_none_or(|bytes| bytes > length - 12) {
                    return Err(ReadError::Misfit { at, what });
                }
                Record::Trace {
                    serial: StackSerial(u4_at(0)),
                    thread: ThreadSerial(u4_at(4)),
                    frames: Ids { bytes: &body[12..12 + count * id], size: id },
                }
            }
        })
    }

    /// Some more of an array: as much as is at hand, up to a limit, in whole elements.
    fn next_piece(&mut self, mut piece: Piece) -> Result<Record<'_>, ReadError> {
        self.scanner.peek(piece.element, "an array")?;
        let most = piece.bytes.min(MAX_PIECE as u64) as usize;
        let count = self.scanner.at_hand().len().min(most) / piece.element * piece.element;
        self.scanner.advance(count);
        piece.bytes -= count as u64;
        self.piece = (piece.bytes > 0).then_some(piece);
        let bytes = self.scanner.behind(count);
        Ok(match piece.is_ids {
            true => Record::Elements(Ids { bytes, size: self.id_size }),
            false => Record::Contents(bytes),
        })
    }
}
