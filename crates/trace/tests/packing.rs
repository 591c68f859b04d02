//! Zip and gzip: what we pack, what others pack, and what is left after a kill.

mod common;

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use trace::reader::{DocumentEnd, Event, TraceReader};
use trace::zip::ZipWriter;

use common::{gzip, lines, read, zip};

/// An entry as a zip has it in front of the data; `descriptor` says that sizes stand behind.
fn entry(name: &str, method: u16, flags: u16, crc: u32, packed: &[u8], unpacked: u32) -> Vec<u8> {
    let behind = flags & 8 != 0;
    let mut out = b"PK\x03\x04".to_vec();
    for half in [20, flags, method, 0, 0x21] {
        out.extend(u16::to_le_bytes(half));
    }
    for word in if behind { [0; 3] } else { [crc, packed.len() as u32, unpacked] } {
        out.extend(u32::to_le_bytes(word));
    }
    out.extend((name.len() as u16).to_le_bytes());
    out.extend([4, 0]);
    out.extend(name.as_bytes());
    // An extra field that nobody knows.
    out.extend(*b"xx\0\0");
    out.extend(packed);
    out
}

fn crc(text: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(text);
    crc.sum()
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

const END: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

#[test]
fn what_we_zip_is_read() {
    let read = read(zip("TraceContents-Fri.xml", common::HEAP.as_bytes()).as_slice());
    assert_eq!(read.errors, [""; 0]);
    assert_eq!(read.names, ["TraceContents-Fri.xml"]);
    assert_eq!(read.lines, lines(common::HEAP));
    assert_eq!(read.ends, [DocumentEnd::Complete]);
}

#[test]
fn several_documents_in_a_zip() {
    // As workbenches export: several cut-off traces, some with sizes behind, some stored, a folder.
    let jvmpi = common::JVMPI.as_bytes();
    let packed = deflate(jvmpi);
    let length = jvmpi.len() as u32;
    let mut zip = entry("traces/", 0, 0, 0, b"", 0);
    zip.extend(entry("traces/1.xml", 8, 0, crc(jvmpi), &packed, length));
    zip.extend(entry("traces/2.xml", 8, 8, 0, &packed, 0));
    for word in [u32::from_le_bytes(*b"PK\x07\x08"), crc(jvmpi), packed.len() as u32, length] {
        zip.extend(word.to_le_bytes());
    }
    zip.extend(entry("traces/3.xml", 0, 0, crc(jvmpi), jvmpi, length));
    zip.extend(entry("empty.xml", 8, 8, 0, &deflate(b""), 0));
    // Without the signature, and with 64-bit sizes.
    for word in [0_u32, 2, 0, 0, 0] {
        zip.extend(word.to_le_bytes());
    }
    zip.extend(entry("4.xml", 8, 8, 0, &packed, 0));
    for word in [crc(jvmpi), packed.len() as u32, 0, length, 0] {
        zip.extend(word.to_le_bytes());
    }
    zip.extend(entry("5.xml", 8, 0, crc(b"<TRACE/>"), &deflate(b"<TRACE/>"), 8));
    zip.extend(END);
    let result = read(zip.as_slice());
    assert_eq!(result.errors, [""; 0]);
    assert_eq!(result.names, ["traces/1.xml", "traces/2.xml", "traces/3.xml", "4.xml", "5.xml"]);
    let open = DocumentEnd::Open;
    assert_eq!(result.ends, [open, open, open, open, DocumentEnd::Complete]);
    assert_eq!(result.lines.len(), 4 * read(jvmpi).lines.len());
}

#[test]
fn an_empty_zip_has_no_documents() {
    let result = read(END);
    assert_eq!((result.errors.len(), result.names.len()), (0, 0));
}

#[test]
fn zips_that_cannot_be_read_say_why() {
    let text = b"<TRACE/>";
    let checksum = entry("a", 0, 0, 1, text, 8);
    for (zip, error) in [
        (entry("a", 8, 1, 0, text, 8), "cannot read the zip at byte 0: the entry is encrypted; unpack it first"),
        (
            entry("a", 12, 0, 0, text, 8),
            "cannot read the zip at byte 0: compression method 12 is not supported; pack it again with deflate",
        ),
        (
            entry("a", 0, 8, 0, text, 8),
            "cannot read the zip at byte 0: a stored entry has no length; pack it again with deflate",
        ),
        (checksum, "the zip entry a does not match its checksum: part of it is damaged"),
        (
            [entry("a", 0, 0, crc(text), text, 8), b"oops".to_vec()].concat(),
            "cannot read the zip at byte 43: no entry begins there",
        ),
        (entry("a", 8, 0, 0, &[0xFF; 20], 8), "the compressed data is damaged before byte 36; the rest is lost"),
        (
            entry("a.bin", 0, 0, crc(b"oops"), b"oops", 4),
            "the zip entry a.bin is not an XML trace: it does not start with `<`",
        ),
        (
            gzip(&gzip(common::HEAP.as_bytes())),
            "the file, unpacked by gzip, is not an XML trace: it is gzipped twice; unpack it with `gunzip` first",
        ),
    ] {
        assert_eq!(read(zip.as_slice()).errors, [error]);
    }
}

#[test]
fn an_entry_that_is_no_trace_does_not_hide_the_next() {
    let text = b"<TRACE/>";
    let mut zip = entry("notes.txt", 8, 0, crc(b"oops"), &deflate(b"oops"), 4);
    zip.extend(entry("a", 0, 0, crc(text), text, 8));
    let result = read(zip.as_slice());
    assert_eq!((result.errors.len(), result.ends), (1, vec![DocumentEnd::Complete]));
}

#[test]
fn gzip_members_make_one_document() {
    let (first, second) = common::HEAP.as_bytes().split_at(1000);
    let mut header = gzip(second);
    // The same member with all optional header fields.
    header.splice(3..10, [0x1E, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2].into_iter().chain(*b"name\0comment\0.."));
    for joined in [[gzip(first), gzip(second)].concat(), [gzip(first), header, b"rest".to_vec()].concat()] {
        let result = read(joined.as_slice());
        assert_eq!(result.errors, [""; 0]);
        assert_eq!(result.lines, lines(common::HEAP));
    }
}

#[test]
fn a_wrong_gzip_checksum_is_reported_after_the_elements() {
    let mut bytes = gzip(common::HEAP.as_bytes());
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let result = read(bytes.as_slice());
    assert_eq!(result.errors, ["the file does not match its checksum: part of it is damaged"]);
    assert_eq!(result.lines, lines(common::HEAP));
}

/// What was flushed before a kill.
#[test]
fn flushed_elements_survive_a_kill() {
    let all = lines(common::HEAP);
    let mut zip = ZipWriter::new(Vec::new(), "trace.xml").unwrap();
    let mut output = Vec::new();
    for (written, line) in all.iter().enumerate() {
        zip.write_all(line.as_bytes()).unwrap();
        zip.flush().unwrap();
        // The bytes that have reached the file at this moment.
        output.clear();
        output.extend_from_slice(zip.get_ref());
        let read = read(output.as_slice());
        assert_eq!(read.errors, [""; 0]);
        assert_eq!(read.lines, all[..=written]);
    }
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    let error = ZipWriter::new(Vec::new(), &"x".repeat(65_536)).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(data.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(data.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(ZipWriter::new(Full(10), "trace.xml").is_err());
    let mut zip = ZipWriter::new(Full(100), "trace.xml").unwrap();
    zip.write_all(common::HEAP.as_bytes()).unwrap();
    assert_eq!(zip.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
}

/// One end of a pipe inside the process.
struct Sender(SyncSender<Vec<u8>>);

impl Write for Sender {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.send(data.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(data.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Received(Receiver<Vec<u8>>, io::Cursor<Vec<u8>>);

impl Read for Received {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.1.position() == self.1.get_ref().len() as u64 {
            match self.0.recv() {
                Ok(data) => self.1 = io::Cursor::new(data),
                Err(_) => return Ok(0),
            }
        }
        self.1.read(out)
    }
}

#[test]
#[ignore = "packs and unpacks more than 4 GiB: run in release"]
fn more_than_4_gib() {
    let line = b"<gcStart time=\"1767606400.000000000\"/>\n".repeat(100_000);
    let rounds = (1_u64 << 32) / line.len() as u64 + 10;
    let (sender, receiver) = sync_channel(64);
    let writer = std::thread::spawn(move || {
        let mut zip = ZipWriter::new(Sender(sender), "large.xml").unwrap();
        (0..rounds).for_each(|_| zip.write_all(&line).unwrap());
        drop(zip.finish().unwrap());
    });
    let mut reader = TraceReader::new(Received(receiver, io::Cursor::default())).unwrap();
    let mut elements = 0;
    while let Some(event) = reader.next_event().unwrap() {
        elements += u64::from(matches!(event, Event::Element { .. }));
    }
    writer.join().unwrap();
    assert_eq!(elements, rounds * 100_000);
}
