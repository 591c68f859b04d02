//! Unpacks what a trace comes in: plain text, gzip, or a zip whose every entry is a document.
//!
//! A zip is read by its local headers from front to back and never by the directory at its end:
//! that works on pipes, in constant memory, and on the file of a killed JVM, which has no directory.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::error::{ReadError, ZipProblem};

const INPUT_BUFFER: usize = 256 * 1024;

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// What follows the last entry: the directory, or its end records if there is no entry.
const AFTER_ENTRIES: [[u8; 4]; 3] = [*b"PK\x01\x02", *b"PK\x05\x06", *b"PK\x06\x06"];
const GZIP: [u8; 2] = [0x1F, 0x8B];

const FLAG_ENCRYPTED: u16 = 1;
const FLAG_SIZES_BEHIND: u16 = 1 << 3;

/// A stream of documents.
pub(crate) struct Container<R> {
    input: BufReader<Chain<Cursor<Vec<u8>>, R>>,
    consumed: u64,
    form: Form,
    body: Body,
    crc: Crc,
    /// What is wrong with the document behind the bytes that were read last.
    pending: Option<ReadError>,
    /// Whether the current document ended because the file ended inside it.
    pub(crate) cut: bool,
    /// Name of the current zip entry as it may be shown; empty outside a zip.
    pub(crate) name: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Gzip,
    Zip,
}

/// What the current document's bytes are made from.
enum Body {
    /// No document has been begun.
    Before,
    /// The input as it is, to its end.
    Plain,
    /// The input as it is, for this many bytes.
    Stored { left: u64, crc: u32 },
    /// Deflated data. `crc` is what the header promised; `None` if it stands behind the data.
    Deflated { inflate: Box<Decompress>, crc: Option<u32> },
    /// The current document is at its end.
    Ended,
    /// So is the file, or what follows cannot be read.
    Finished,
}

impl<R: Read> Container<R> {
    pub(crate) fn new(mut read: R) -> Result<Self, ReadError> {
        let mut magic = Vec::with_capacity(4);
        read.by_ref().take(4).read_to_end(&mut magic).map_err(|source| ReadError::Io { consumed: 0, source })?;
        if magic.is_empty() {
            return Err(ReadError::Empty);
        }
        let form = if magic == LOCAL_HEADER || AFTER_ENTRIES.iter().any(|end| magic == end) {
            Form::Zip
        } else if magic.starts_with(&GZIP) {
            Form::Gzip
        } else {
            Form::Plain
        };
        Ok(Self {
            input: BufReader::with_capacity(INPUT_BUFFER, Cursor::new(magic).chain(read)),
            consumed: 0,
            form,
            body: Body::Before,
            crc: Crc::new(),
            pending: None,
            cut: false,
            name: String::new(),
        })
    }

    /// Whether the file is packed by gzip.
    pub(crate) fn is_gzip(&self) -> bool {
        self.form == Form::Gzip
    }

    /// How many bytes of the file have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Goes to the next document, and says whether there is one. The current one must be at its end.
    pub(crate) fn next_document(&mut self) -> Result<bool, ReadError> {
        self.crc.reset();
        let first = matches!(self.body, Body::Before);
        match (self.form, &self.body) {
            (_, Body::Finished) => return Ok(false),
            (Form::Plain | Form::Gzip, _) if !first => return Ok(false),
            _ => {}
        }
        // Nothing can be read behind a broken header.
        self.body = Body::Finished;
        self.body = match self.form {
            Form::Plain => Body::Plain,
            Form::Gzip => match self.gzip_header()? {
                true => Body::deflated(None),
                false => return Err(ReadError::Gzip),
            },
            Form::Zip => match self.local_header()? {
                Some(body) => body,
                None => return Ok(false),
            },
        };
        Ok(true)
    }

    /// Reads some of the current document; 0 at its end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            if let Some(error) = self.pending.take() {
                return Err(error);
            }
            match &mut self.body {
                Body::Before | Body::Ended | Body::Finished => return Ok(0),
                Body::Plain => {
                    let count = self.input.read(out).map_err(|e| self.io(e))?;
                    self.consumed += count as u64;
                    if count == 0 {
                        self.body = Body::Finished;
                    }
                    return Ok(count);
                }
                Body::Stored { left: 0, crc } => {
                    let matches = self.crc.sum() == *crc;
                    self.body = Body::Ended;
                    self.check(matches)?;
                    return Ok(0);
                }
                Body::Stored { left, .. } => {
                    let most = out.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    let count = match self.input.read(&mut out[..most]) {
                        Ok(count) => count,
                        Err(e) => return Err(self.io(e)),
                    };
                    *left -= count as u64;
                    self.consumed += count as u64;
                    if count == 0 {
                        self.cut_off();
                    }
                    self.crc.update(&out[..count]);
                    return Ok(count);
                }
                Body::Deflated { inflate, crc } => {
                    let data = match self.input.fill_buf() {
                        Ok(data) => data,
                        Err(e) => return Err(self.io(e)),
                    };
                    let (in_before, out_before) = (inflate.total_in(), inflate.total_out());
                    let status = inflate.decompress(data, out, FlushDecompress::None);
                    let used = (inflate.total_in() - in_before) as usize;
                    let made = (inflate.total_out() - out_before) as usize;
                    self.input.consume(used);
                    self.consumed += used as u64;
                    self.crc.update(&out[..made]);
                    match status {
                        Ok(Status::StreamEnd) => {
                            let sizes = (inflate.total_in(), inflate.total_out());
                            let promised = *crc;
                            self.pending = self.end_of_deflated(promised, sizes).err();
                        }
                        Ok(_) if used == 0 && made == 0 => self.cut_off(),
                        Ok(_) => {}
                        Err(_) => {
                            self.cut_off();
                            self.pending = Some(ReadError::Inflate { offset: self.consumed });
                        }
                    }
                    if made > 0 {
                        return Ok(made);
                    }
                }
            }
        }
    }

    /// The file ends inside the current document.
    fn cut_off(&mut self) {
        self.body = Body::Finished;
        self.cut = true;
    }

    fn end_of_deflated(&mut self, promised: Option<u32>, (packed, unpacked): (u64, u64)) -> Result<(), ReadError> {
        let sum = self.crc.sum();
        self.body = Body::Ended;
        let promised = match (self.form, promised) {
            (Form::Zip, None) => self.descriptor(packed, unpacked)?,
            (Form::Zip, promised) => promised,
            _ => {
                let mut trailer = [0; 8];
                let whole = self.take(&mut trailer)?;
                if whole && self.gzip_header()? {
                    self.crc.reset();
                    self.body = Body::deflated(None);
                } else {
                    self.body = Body::Finished;
                }
                whole.then(|| u32_at(&trailer, 0))
            }
        };
        match promised {
            Some(promised) => self.check(promised == sum),
            // The data is whole, but the file ends before its checksum.
            None => {
                self.body = Body::Finished;
                Ok(())
            }
        }
    }

    fn check(&self, matches: bool) -> Result<(), ReadError> {
        match matches {
            true => Ok(()),
            false => Err(ReadError::Checksum { name: self.name.clone() }),
        }
    }

    /// The checksum behind an entry; `None` if the file ends there.
    ///
    /// Nothing says reliably whether its sizes have 4 or 8 bytes; but the sizes are known by now.
    fn descriptor(&mut self, packed: u64, unpacked: u64) -> Result<Option<u32>, ReadError> {
        let mut bytes = [0; 12];
        if !self.take(&mut bytes[..4])? {
            return Ok(None);
        }
        // The signature is optional.
        let rest = if bytes[..4] == DESCRIPTOR { 0 } else { 4 };
        if !self.take(&mut bytes[rest..])? {
            return Ok(None);
        }
        let first_size = u64::from(u32_at(&bytes, 4)) | u64::from(u32_at(&bytes, 8)) << 32;
        // Where the upper half of one and the lower half of the other are both 0, what follows decides:
        // more zeros, or the next header.
        let wide = first_size == packed && (unpacked as u32 != 0 || self.peek()?.is_some_and(|next| next != b'P'));
        if wide && !self.take(&mut [0; 8])? {
            return Ok(None);
        }
        Ok(Some(u32_at(&bytes, 0)))
    }

    /// Reads the header of a gzip member; `false` if something else stands there.
    fn gzip_header(&mut self) -> Result<bool, ReadError> {
        let mut head = [0; 10];
        if !self.take(&mut head)? || head[..2] != GZIP || head[2] != 8 {
            return Ok(false);
        }
        let flags = head[3];
        if flags & 4 != 0 {
            let mut length = [0; 2];
            if !self.take(&mut length)? || !self.skip(u16::from_le_bytes(length).into())? {
                return Ok(false);
            }
        }
        for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
            let mut byte = [1];
            while byte != [0] {
                if !self.take(&mut byte)? {
                    return Ok(false);
                }
            }
        }
        Ok(flags & 2 == 0 || self.skip(2)?)
    }

    /// Reads the header of the next entry that is no directory; `None` behind the last.
    fn local_header(&mut self) -> Result<Option<Body>, ReadError> {
        loop {
            let offset = self.consumed;
            let error = |problem| ReadError::Zip { offset, problem };
            let mut signature = [0; 4];
            if !self.take(&mut signature)? || AFTER_ENTRIES.contains(&signature) {
                return Ok(None);
            }
            if signature != LOCAL_HEADER {
                return Err(error(ZipProblem::NoEntry));
            }
            let mut head = [0; 26];
            if !self.take(&mut head)? {
                return Ok(None);
            }
            let mut name = vec![0; u16_at(&head, 22).into()];
            let mut extra = vec![0; u16_at(&head, 24).into()];
            if !self.take(&mut name)? || !self.take(&mut extra)? {
                return Ok(None);
            }
            self.name = super::printable(&String::from_utf8_lossy(&name));
            let (flags, method) = (u16_at(&head, 2), u16_at(&head, 4));
            let sizes_behind = flags & FLAG_SIZES_BEHIND != 0;
            let crc = u32_at(&head, 10);
            let packed = match u32_at(&head, 14) {
                u32::MAX => zip64_packed_size(&extra),
                size => size.into(),
            };
            if name.ends_with(b"/") && packed == 0 && method == 0 {
                continue;
            }
            if flags & FLAG_ENCRYPTED != 0 {
                return Err(error(ZipProblem::Encrypted));
            }
            return match method {
                0 if sizes_behind => Err(error(ZipProblem::NoLength)),
                0 => Ok(Some(Body::Stored { left: packed, crc })),
                8 => Ok(Some(Body::deflated((!sizes_behind).then_some(crc)))),
                _ => Err(error(ZipProblem::Method(method))),
            };
        }
    }

    /// Fills `out`; `false` if the file ends before.
    fn take(&mut self, out: &mut [u8]) -> Result<bool, ReadError> {
        match self.input.read_exact(out) {
            Ok(()) => {
                self.consumed += out.len() as u64;
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(self.io(e)),
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        match self.input.fill_buf() {
            Ok(data) => Ok(data.first().copied()),
            Err(e) => Err(self.io(e)),
        }
    }

    fn skip(&mut self, count: u64) -> Result<bool, ReadError> {
        let skipped = io::copy(&mut self.input.by_ref().take(count), &mut io::sink());
        let skipped = skipped.map_err(|e| self.io(e))?;
        self.consumed += skipped;
        Ok(skipped == count)
    }

    fn io(&mut self, source: io::Error) -> ReadError {
        self.cut_off();
        ReadError::Io { consumed: self.consumed, source }
    }
}

impl Body {
    fn deflated(crc: Option<u32>) -> Self {
        Body::Deflated { inflate: Box::new(Decompress::new(false)), crc }
    }
}

/// The packed size from the ZIP64 field, where it follows the unpacked one.
fn zip64_packed_size(mut extra: &[u8]) -> u64 {
    while let [a, b, c, d, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*c, *d])).min(rest.len());
        if [*a, *b] == [1, 0] && length >= 16 {
            return u64::from(u32_at(rest, 8)) | u64::from(u32_at(rest, 12)) << 32;
        }
        extra = &rest[length..];
    }
    u32::MAX.into()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
