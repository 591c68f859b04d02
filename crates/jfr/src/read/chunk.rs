//! A chunk: a header, and events behind each other. Some of the events are constants, and one declares the types.
//!
//! Constants stay where they are: only their places are kept, and they are read when somebody asks for one.

use rustc_hash::FxHashMap;
use trace::time::{Nanos, Time};

use super::cursor::Cursor;
use super::error::Damage;
use super::types::{Types, Unit};
use super::value::{self, Constant, Object, Value};

/// Bytes of the header.
pub(crate) const HEADER: usize = 68;

/// The types of events that are no events.
const METADATA: u64 = 0;
const CHECKPOINT: u64 = 1;

/// What a header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) size: u64,
    metadata_at: u64,
    start: u64,
    length: u64,
    start_ticks: u64,
    ticks_per_second: u64,
    is_compressed: bool,
}

/// What a header is not.
pub(crate) enum NoHeader {
    Foreign,
    Gzip,
    Version(u64),
    TooShort,
}

impl Header {
    pub(crate) fn read(bytes: &[u8]) -> Result<Header, NoHeader> {
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(NoHeader::Gzip);
        }
        if !bytes.starts_with(b"FLR\0") {
            return Err(NoHeader::Foreign);
        }
        if bytes.len() < HEADER {
            return Err(NoHeader::TooShort);
        }
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let version = u64::from(bytes[4]) << 8 | u64::from(bytes[5]);
        if !(1..=2).contains(&version) {
            return Err(NoHeader::Version(version));
        }
        Ok(Header {
            size: number(8),
            metadata_at: number(24),
            start: number(32),
            length: number(40),
            start_ticks: number(48),
            ticks_per_second: number(56).max(1),
            is_compressed: bytes[67] & 1 != 0,
        })
    }
}

/// A chunk that is read.
#[derive(Debug)]
pub struct Chunk {
    header: Header,
    bytes: Vec<u8>,
    types: Types,
    constants: FxHashMap<Constant, (usize, usize)>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its fields.
    pub object: Object,
}

impl Chunk {
    /// Takes the bytes of a chunk, its header among them.
    pub(crate) fn new(header: Header, bytes: Vec<u8>) -> Result<Chunk, Damage> {
        let mut chunk = Chunk { header, bytes, types: Types::default(), constants: FxHashMap::default() };
        if chunk.is_empty() {
            return Ok(chunk);
        }
        let metadata_at = usize::try_from(header.metadata_at).map_err(|_| Damage::TooShort)?;
        let mut cursor = chunk.cursor(metadata_at);
        if metadata_at < HEADER || cursor.left() == 0 {
            return Err(Damage::TooShort);
        }
        cursor.number(4)?;
        if cursor.number(8)? != METADATA {
            return Err(Damage::Types);
        }
        chunk.types = Types::read(&mut cursor)?;
        let mut constants = FxHashMap::default();
        for Object { of, at, .. } in chunk.all().collect::<Result<Vec<_>, _>>()? {
            if of == CHECKPOINT {
                chunk.checkpoint(at, &mut constants)?;
            }
        }
        chunk.constants = constants;
        Ok(chunk)
    }

    /// Whether it is nothing but its header, as a writer leaves it that had no event.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == HEADER && self.header.metadata_at == 0
    }

    /// When it begins.
    pub fn begin(&self) -> Time {
        Time(self.header.start)
    }

    /// When it ends.
    pub fn end(&self) -> Time {
        Time(self.header.start.saturating_add(self.header.length))
    }

    /// The time of a number of ticks.
    pub fn time(&self, ticks: i64) -> Time {
        let since = i128::from(ticks) - i128::from(self.header.start_ticks);
        let nanos = since * 1_000_000_000 / i128::from(self.header.ticks_per_second);
        Time((i128::from(self.header.start) + nanos).clamp(0, i128::from(u64::MAX)) as u64)
    }

    /// The length of time in a field, in nanoseconds; `None` if there is no such field.
    ///
    /// # Errors
    /// The bytes make no sense.
    pub fn span(&self, object: Object, name: &str) -> Result<Option<Nanos>, Damage> {
        let Value::Number(number) = self.get(object, name)? else { return Ok(None) };
        let number = u128::from(number.max(0).unsigned_abs());
        let field = self.types.get(object.of)?.fields.iter().find(|field| &*field.name == name);
        let nanos = match field.map_or(Unit::Nanos(1), |field| self.types.unit(field)) {
            Unit::Ticks => number * 1_000_000_000 / u128::from(self.header.ticks_per_second),
            Unit::Nanos(nanos) => number * u128::from(nanos),
        };
        Ok(Some(Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))))
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Its events, in the order in which they stand.
    pub fn events(&self) -> impl Iterator<Item = Result<Event, Damage>> {
        let events = self.all().filter(|event| !matches!(event, Ok(Object { of: METADATA | CHECKPOINT, .. })));
        events.map(|event| event.map(|object| Event { object }))
    }

    /// The name of an event's type; empty if it is not declared.
    pub fn event_name(&self, event: &Event) -> &str {
        self.types.name(event.object.of)
    }

    /// The name of the type of a number.
    pub fn type_name(&self, id: i64) -> &str {
        self.types.name(id.cast_unsigned())
    }

    /// What a field of an object holds; nothing if it has no such field.
    ///
    /// # Errors
    /// The bytes make no sense.
    pub fn get<'c>(&'c self, object: Object, name: &str) -> Result<Value<'c>, Damage> {
        let mut cursor = self.inside(object);
        let of = self.types.get(object.of)?;
        if of.fields.iter().all(|field| &*field.name != name) {
            return Ok(Value::None);
        }
        for field in &of.fields {
            let value = value::read(&self.types, &mut cursor, field)?;
            if &*field.name == name {
                return Ok(value);
            }
        }
        Ok(Value::None)
    }

    /// The constant of a number; `None` for nothing, and for what is not there.
    pub fn constant(&self, constant: Constant) -> Option<Object> {
        self.constants.get(&constant).map(|&(at, end)| Object { of: constant.of, at, end })
    }

    /// A text that stands where a constant does: a text itself, or a type with a text as its only field.
    ///
    /// # Errors
    /// The bytes make no sense.
    pub fn text<'c>(&'c self, value: Value<'c>) -> Result<Option<std::borrow::Cow<'c, str>>, Damage> {
        let mut value = value;
        // A text in the symbol of a constant; further in nobody looks.
        for _ in 0..4 {
            value = match value {
                Value::Text(text) => return Ok(Some(text)),
                Value::Constant(constant) => match self.constant(constant) {
                    Some(object) => Value::Object(object),
                    None => return Ok(None),
                },
                Value::Object(object) => {
                    let of = self.types.get(object.of)?;
                    let mut cursor = self.inside(object);
                    match (of.basic, of.fields.first()) {
                        (Some(_), _) => value::read_basic(&self.types, &mut cursor, object.of)?,
                        (None, Some(field)) => value::read(&self.types, &mut cursor, field)?,
                        (None, None) => return Ok(None),
                    }
                }
                Value::None | Value::Number(_) | Value::Objects(_) => return Ok(None),
            };
        }
        Ok(None)
    }

    fn cursor(&self, at: usize) -> Cursor<'_> {
        Cursor::new(&self.bytes, at, self.header.is_compressed)
    }

    fn inside(&self, object: Object) -> Cursor<'_> {
        Cursor::new(&self.bytes[..object.end], object.at, self.header.is_compressed)
    }

    /// Everything behind the header.
    fn all(&self) -> impl Iterator<Item = Result<Object, Damage>> {
        let mut at = HEADER;
        std::iter::from_fn(move || {
            if at >= self.bytes.len() {
                return None;
            }
            let mut cursor = self.cursor(at);
            let read = (|| {
                let size = usize::try_from(cursor.number(4)?).map_err(|_| Damage::Size)?;
                let of = cursor.number(8)?;
                let end = at.checked_add(size).filter(|&end| end >= cursor.at && end <= self.bytes.len());
                Ok(Object { of, at: cursor.at, end: end.ok_or(Damage::Size)? })
            })();
            at = read.map_or(usize::MAX, |object| object.end);
            Some(read)
        })
    }

    /// Notes where constants stand.
    fn checkpoint(&self, at: usize, constants: &mut FxHashMap<Constant, (usize, usize)>) -> Result<(), Damage> {
        let mut cursor = self.cursor(at);
        // When it was written, how long that took, where the one before it is, and of what kind it is.
        for _ in 0..3 {
            cursor.number(8)?;
        }
        cursor.byte()?;
        let pools = cursor.count()?;
        for _ in 0..pools {
            let of = cursor.number(8)?;
            let count = cursor.count()?;
            for _ in 0..count {
                let key = cursor.number(8)?;
                let begin = cursor.at;
                value::skip_fields(&self.types, &mut cursor, of, 0)?;
                constants.insert(Constant { of, key }, (begin, cursor.at));
            }
        }
        Ok(())
    }
}
