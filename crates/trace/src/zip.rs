//! Packs a trace as it is written: a zip with one entry, which TPTP's importer takes for a trace.
//!
//! Sizes and checksum stand behind the data, so nothing is ever rewritten and the zip can go into a
//! pipe. What has been flushed can be unpacked even if the end is never written.

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// Sizes behind the data, name in UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
const DEFLATE: u16 = 8;
/// Midnight of 1 January 1980: the same trace gives the same zip.
const TIME_AND_DATE: [u16; 2] = [0, 0x21];

/// The name of the entry with a trace.
pub const TRACE_ENTRY: &str = "trace.trcxml";

/// What a zip begins with whose entry has the given name.
pub fn beginning(entry_name: &str) -> Vec<u8> {
    ZipWriter::new(Vec::new(), entry_name).map_or_else(|_| Vec::new(), |zip| zip.get_ref().clone())
}

/// Writes a zip with one entry.
pub struct ZipWriter<W: Write> {
    encoder: DeflateEncoder<Counted<W>>,
    crc: Crc,
    name: String,
}

impl<W: Write> ZipWriter<W> {
    /// Begins a zip whose entry has the given name, such as `trace.xml`.
    ///
    /// # Errors
    /// What `write` says; or the name is longer than the 65,535 bytes that a zip can hold.
    pub fn new(write: W, entry_name: &str) -> io::Result<Self> {
        let name_length = u16::try_from(entry_name.len()).map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the name of a zip entry is too long; use less than 65,536 bytes",
            )
        })?;
        let mut output = Counted { write, count: 0 };
        let mut header = Vec::new();
        header.extend(b"PK\x03\x04");
        push_u16(&mut header, &[VERSION, FLAGS, DEFLATE]);
        push_u16(&mut header, &TIME_AND_DATE);
        push_u32(&mut header, &[0, 0, 0]);
        push_u16(&mut header, &[name_length, 0]);
        header.extend(entry_name.as_bytes());
        output.write_all(&header)?;
        Ok(Self {
            encoder: DeflateEncoder::new(output, Compression::fast()),
            crc: Crc::new(),
            name: entry_name.to_owned(),
        })
    }

    /// What the zip is written to. It has everything that was written before the last flush.
    pub fn get_ref(&self) -> &W {
        &self.encoder.get_ref().write
    }

    /// Ends the zip and gives back what it was written to, flushed.
    ///
    /// # Errors
    /// What the writer below says.
    pub fn finish(mut self) -> io::Result<W> {
        self.encoder.try_finish()?;
        let entry = Entry { crc: self.crc.sum(), packed: self.encoder.total_out(), unpacked: self.encoder.total_in() };
        let mut output = self.encoder.finish()?;
        output.write_all(&entry.descriptor())?;
        let directory = entry.directory(&self.name, output.count);
        output.write_all(&directory)?;
        output.flush()?;
        Ok(output.write)
    }
}

impl<W: Write> Write for ZipWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = self.encoder.write(data)?;
        self.crc.update(&data[..count]);
        Ok(count)
    }

    /// Everything written so far can be unpacked from what has then been passed on.
    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// What is known of the entry at its end.
struct Entry {
    crc: u32,
    packed: u64,
    unpacked: u64,
}

impl Entry {
    /// Whether 32 bits are too few. The local header has not said so, because it could not know;
    /// Java's own zip writer does the same.
    fn is_large(&self) -> bool {
        self.packed.max(self.unpacked) >= u32::MAX.into()
    }

    fn descriptor(&self) -> Vec<u8> {
        let mut out = b"PK\x07\x08".to_vec();
        push_u32(&mut out, &[self.crc]);
        if self.is_large() {
            push_u64(&mut out, &[self.packed, self.unpacked]);
        } else {
            push_u32(&mut out, &[self.packed as u32, self.unpacked as u32]);
        }
        out
    }

    /// The directory, which begins at byte `start` of the file, and its end records.
    fn directory(&self, name: &str, start: u64) -> Vec<u8> {
        // The entry begins at byte 0, so only its sizes can be large.
        let large = self.is_large();
        let version = if large { VERSION_ZIP64 } else { VERSION };
        let mut out = b"PK\x01\x02".to_vec();
        push_u16(&mut out, &[version, version, FLAGS, DEFLATE]);
        push_u16(&mut out, &TIME_AND_DATE);
        push_u32(&mut out, &[self.crc, narrow(self.packed, large), narrow(self.unpacked, large)]);
        push_u16(&mut out, &[name.len() as u16, if large { 20 } else { 0 }, 0, 0, 0]);
        push_u32(&mut out, &[0, 0]);
        out.extend(name.as_bytes());
        if large {
            push_u16(&mut out, &[1, 16]);
            push_u64(&mut out, &[self.unpacked, self.packed]);
        }
        let length = out.len() as u64;
        let far = large || start >= u32::MAX.into();
        if far {
            out.extend(b"PK\x06\x06");
            push_u64(&mut out, &[44]);
            push_u16(&mut out, &[VERSION_ZIP64, VERSION_ZIP64]);
            push_u32(&mut out, &[0, 0]);
            push_u64(&mut out, &[1, 1, length, start]);
            out.extend(b"PK\x06\x07");
            push_u32(&mut out, &[0]);
            push_u64(&mut out, &[start + length]);
            push_u32(&mut out, &[1]);
        }
        out.extend(b"PK\x05\x06");
        push_u16(&mut out, &[0, 0, 1, 1]);
        push_u32(&mut out, &[length as u32, narrow(start, far)]);
        push_u16(&mut out, &[0]);
        out
    }
}

/// A 32-bit field, or the mark that the 64-bit one counts.
fn narrow(value: u64, elsewhere: bool) -> u32 {
    if elsewhere { u32::MAX } else { value as u32 }
}

fn push_u16(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

fn push_u32(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

fn push_u64(out: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

/// Knows how many bytes went through.
struct Counted<W> {
    write: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = self.write.write(data)?;
        self.count += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_traces_need_no_zip64() {
        let entry = Entry { crc: 1, packed: 2, unpacked: u64::from(u32::MAX) - 1 };
        assert_eq!(entry.descriptor().len(), 16);
        let directory = entry.directory("trace.xml", 100);
        assert_eq!(directory.len(), 46 + 9 + 22);
        assert_eq!(directory[46 + 9..][16..20], 100_u32.to_le_bytes());
    }

    #[test]
    fn large_traces_are_zip64() {
        let unpacked = 5 << 32 | 7;
        let entry = Entry { crc: 1, packed: 2, unpacked };
        assert_eq!(entry.descriptor()[8..], [2_u64.to_le_bytes(), unpacked.to_le_bytes()].concat());
        let directory = entry.directory("trace.xml", 100);
        assert_eq!(directory.len(), 46 + 9 + 20 + 56 + 20 + 22);
        // Both 32-bit sizes point to the extra field, unpacked size first.
        assert_eq!(directory[20..28], [0xFF; 8]);
        assert_eq!(directory[46 + 9 + 4..][..8], unpacked.to_le_bytes());
        let end = &directory[46 + 9 + 20..];
        assert_eq!(end[..4], *b"PK\x06\x06");
        assert_eq!(end[48..56], 100_u64.to_le_bytes());
        // The locator says where that record begins.
        assert_eq!(end[56 + 8..][..8], (100_u64 + 46 + 9 + 20).to_le_bytes());
    }
}
