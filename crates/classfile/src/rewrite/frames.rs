//! StackMapTable (JVMS 4.7.4): read frame by frame, and written with new distances.

use crate::error::Refusal;
use crate::read::{Reader, Short};
use crate::rewrite::Insertions;
use crate::rewrite::pc_map::PcMap;

pub(crate) const OBJECT: u8 = 7;
pub(crate) const UNINITIALIZED: u8 = 8;

pub(crate) const SAME_LOCALS_1: u8 = 64;
pub(crate) const SAME_LOCALS_1_EXTENDED: u8 = 247;
pub(crate) const CHOP_LAST: u8 = 250;
pub(crate) const SAME_EXTENDED: u8 = 251;
pub(crate) const FULL: u8 = 255;

/// A verification type; `data` is a Class constant for an object, a pc for an uninitialized one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) tag: u8,
    pub(crate) data: u16,
}

/// Verification types as they stand in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Types<'a> {
    pub(crate) count: u16,
    bytes: &'a [u8],
}

impl<'a> Types<'a> {
    const NONE: Types<'static> = Types { count: 0, bytes: &[] };

    fn read(table: &'a [u8], reader: &mut Reader<'a>, count: u16) -> Result<Self, Broken> {
        let start = reader.position();
        for _ in 0..count {
            read_type(reader)?;
        }
        let bytes = &table[start..reader.position()];
        Ok(Types { count, bytes })
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Type> + use<'a> {
        let mut reader = Reader::new(self.bytes);
        std::iter::from_fn(move || read_type(&mut reader).ok())
    }
}

fn read_type(reader: &mut Reader<'_>) -> Result<Type, Broken> {
    let tag = reader.u8()?;
    let data = match tag {
        0..=6 => 0,
        OBJECT | UNINITIALIZED => reader.u16()?,
        _ => return Err(Broken),
    };
    Ok(Type { tag, data })
}

/// The table does not follow its grammar.
pub(crate) struct Broken;

impl From<Short> for Broken {
    fn from(_: Short) -> Self {
        Broken
    }
}

impl From<Broken> for Refusal {
    fn from(_: Broken) -> Self {
        Refusal::MalformedStackMap
    }
}

/// One frame as it stands: what it says of locals depends on `kind` and the frames before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawFrame<'a> {
    pub(crate) kind: u8,
    pub(crate) pc: usize,
    /// Appended locals, or all of a full frame.
    pub(crate) locals: Types<'a>,
    pub(crate) stack: Types<'a>,
}

/// Walks the frames of a table.
#[derive(Debug, Clone)]
pub(crate) struct Frames<'a> {
    table: &'a [u8],
    reader: Reader<'a>,
    left: u16,
    next_pc: usize,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(table: &'a [u8]) -> Result<Self, Broken> {
        let mut reader = Reader::new(table);
        let left = reader.u16()?;
        Ok(Frames { table, reader, left, next_pc: 0 })
    }

    /// The number of frames not yet read.
    pub(crate) fn left(&self) -> u16 {
        self.left
    }

    pub(crate) fn try_next(&mut self) -> Result<Option<RawFrame<'a>>, Broken> {
        if self.left == 0 {
            // Bytes behind the last frame are an error to the JVM.
            return if self.reader.is_at_end() { Ok(None) } else { Err(Broken) };
        }
        self.left -= 1;
        let reader = &mut self.reader;
        let kind = reader.u8()?;
        let distance = match kind {
            0..SAME_LOCALS_1 => u16::from(kind),
            SAME_LOCALS_1..128 => u16::from(kind - SAME_LOCALS_1),
            SAME_LOCALS_1_EXTENDED..=FULL => reader.u16()?,
            _ => return Err(Broken),
        };
        let locals = match kind {
            252..=254 => Types::read(self.table, reader, u16::from(kind - SAME_EXTENDED))?,
            FULL => {
                let count = reader.u16()?;
                Types::read(self.table, reader, count)?
            }
            _ => Types::NONE,
        };
        let stack = match kind {
            SAME_LOCALS_1..128 | SAME_LOCALS_1_EXTENDED => Types::read(self.table, reader, 1)?,
            FULL => {
                let count = reader.u16()?;
                Types::read(self.table, reader, count)?
            }
            _ => Types::NONE,
        };
        let pc = self.next_pc + usize::from(distance);
        self.next_pc = pc + 1;
        Ok(Some(RawFrame { kind, pc, locals, stack }))
    }
}

/// The distance field of the frame at `new` behind one at `previous`.
pub(crate) fn distance(previous: Option<u32>, new: u32) -> Result<u16, Broken> {
    let distance = match previous {
        None => Some(new),
        Some(previous) => new.checked_sub(previous + 1),
    };
    distance.and_then(|d| u16::try_from(d).ok()).ok_or(Broken)
}

/// Appends types, with the pcs of uninitialized objects moved to their `new` instructions.
pub(crate) fn write_types(
    types: impl Iterator<Item = Type>,
    insertions: &Insertions,
    pcs: &PcMap,
    out: &mut Vec<u8>,
) -> Result<(), Broken> {
    for Type { tag, data } in types {
        out.push(tag);
        match tag {
            OBJECT => out.extend_from_slice(&data.to_be_bytes()),
            UNINITIALIZED => {
                let place = pcs.place(data, insertions).ok_or(Broken)?;
                out.extend_from_slice(&(place as u16).to_be_bytes());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends the content of a StackMapTable, moved, for a method without relays.
pub(super) fn write(table: &[u8], insertions: &Insertions, pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Broken> {
    let mut frames = Frames::new(table)?;
    // Behind a guard the method begins as it did, which needs a frame.
    let begins = pcs.guard_length > 0 && frames.clone().try_next()?.is_none_or(|first| first.pc != 0);
    let handler = pcs.handler();
    let added = u16::from(begins) + u16::from(handler.is_some());
    let count = frames.left().checked_add(added).ok_or(Broken)?;
    out.extend_from_slice(&count.to_be_bytes());
    let mut previous = None;
    if begins {
        out.push(pcs.guard_length as u8);
        previous = Some(pcs.guard_length);
    }
    while let Some(frame) = frames.try_next()? {
        let new = pcs.entry(frame.pc).ok_or(Broken)?;
        let distance = distance(previous, new)?;
        previous = Some(new);
        // The short forms hold distances up to 63; each has a long form that says the same.
        match frame.kind {
            0..128 => {
                let (short, long) = match frame.kind {
                    0..SAME_LOCALS_1 => (0, SAME_EXTENDED),
                    _ => (SAME_LOCALS_1, SAME_LOCALS_1_EXTENDED),
                };
                if distance < 64 {
                    out.push(short + distance as u8);
                } else {
                    out.push(long);
                    out.extend_from_slice(&distance.to_be_bytes());
                }
            }
            kind => {
                out.push(kind);
                out.extend_from_slice(&distance.to_be_bytes());
            }
        }
        if frame.kind == FULL {
            out.extend_from_slice(&frame.locals.count.to_be_bytes());
        }
        write_types(frame.locals.iter(), insertions, pcs, out)?;
        if frame.kind == FULL {
            out.extend_from_slice(&frame.stack.count.to_be_bytes());
        }
        write_types(frame.stack.iter(), insertions, pcs, out)?;
    }
    if let Some((_, place)) = handler {
        out.push(FULL);
        out.extend_from_slice(&distance(previous, place)?.to_be_bytes());
        write_handler_types(insertions, out);
    }
    Ok(())
}

/// Appends the types of the frame in which an exception is caught on its way out: nothing is known of the locals.
pub(super) fn write_handler_types(insertions: &Insertions, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0, 0, 1, OBJECT]);
    out.extend_from_slice(&insertions.throwable().to_be_bytes());
}
