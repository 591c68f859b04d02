//! Type annotations of a Code attribute (JVMS 4.7.20): copied, with their pcs moved.

use crate::error::Refusal;
use crate::read::{Reader, Short, u16_at};
use crate::rewrite::Insertions;
use crate::rewrite::pc_map::PcMap;
use crate::rewrite::tables::move_range;

/// Annotations may hold annotations; only hostile files nest them this deep.
const DEEPEST: u32 = 64;

/// Appends a Runtime(In)VisibleTypeAnnotations attribute's content.
pub(crate) fn write(data: &[u8], insertions: &Insertions, pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    out.extend_from_slice(data);
    let mut mover = Mover { data, reader: Reader::new(data), insertions, pcs, copy: &mut out[start..] };
    mover.all().map_err(|Broken| Refusal::MalformedTypeAnnotations)
}

/// The attribute does not follow its grammar.
struct Broken;

impl From<Short> for Broken {
    fn from(_: Short) -> Self {
        Broken
    }
}

struct Mover<'m> {
    data: &'m [u8],
    reader: Reader<'m>,
    insertions: &'m Insertions,
    pcs: &'m PcMap,
    copy: &'m mut [u8],
}

impl Mover<'_> {
    fn all(&mut self) -> Result<(), Broken> {
        for _ in 0..self.reader.u16()? {
            self.target()?;
            let path = usize::from(self.reader.u8()?);
            self.reader.skip(path * 2)?;
            skip_annotation(&mut self.reader, 0)?;
        }
        if self.reader.is_at_end() { Ok(()) } else { Err(Broken) }
    }

    /// `target_type` and `target_info` (JVMS tables 4.7.20-A and B).
    fn target(&mut self) -> Result<(), Broken> {
        match self.reader.u8()? {
            0x00 | 0x01 | 0x16 => self.reader.skip(1)?,
            // Among them the exception-table index of a catch clause, which stays what it was.
            0x10 | 0x11 | 0x12 | 0x17 | 0x42 => self.reader.skip(2)?,
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                for _ in 0..self.reader.u16()? {
                    self.variable_range()?;
                }
            }
            0x43..=0x46 => self.offset()?,
            0x47..=0x4B => {
                self.offset()?;
                self.reader.skip(1)?;
            }
            _ => return Err(Broken),
        }
        Ok(())
    }

    fn put(&mut self, at: usize, value: u16) {
        self.copy[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }

    /// The pc of an instruction. javac has written pcs that are none; no JVM
    /// reads them, and one that names nothing still names nothing.
    fn offset(&mut self) -> Result<(), Broken> {
        let at = self.reader.position();
        let pc = self.reader.u16()?;
        if let Some(place) = self.pcs.place(pc, self.insertions) {
            self.put(at, place as u16);
        }
        Ok(())
    }

    fn variable_range(&mut self) -> Result<(), Broken> {
        let at = self.reader.position();
        self.reader.skip(6)?;
        let [start, length] = [at, at + 2].map(|at| u16_at(self.data, at).unwrap_or(0).to_be_bytes());
        let range = [start[0], start[1], length[0], length[1]];
        if let Some((start, length)) = move_range(range, self.pcs) {
            self.put(at, start);
            self.put(at + 2, length);
        }
        Ok(())
    }
}

/// Type index and element-value pairs of an annotation.
fn skip_annotation(reader: &mut Reader<'_>, depth: u32) -> Result<(), Broken> {
    reader.skip(2)?;
    for _ in 0..reader.u16()? {
        reader.skip(2)?;
        skip_value(reader, depth)?;
    }
    Ok(())
}

fn skip_value(reader: &mut Reader<'_>, depth: u32) -> Result<(), Broken> {
    if depth > DEEPEST {
        return Err(Broken);
    }
    match reader.u8()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => reader.skip(2)?,
        b'e' => reader.skip(4)?,
        b'@' => skip_annotation(reader, depth + 1)?,
        b'[' => {
            for _ in 0..reader.u16()? {
                skip_value(reader, depth + 1)?;
            }
        }
        _ => return Err(Broken),
    }
    Ok(())
}
