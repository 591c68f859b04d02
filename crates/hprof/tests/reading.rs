//! What the reader delivers of a dump made by hand, and what it says of damaged ones.

mod common;

use common::{Dump, every_record, read_all};
use hprof::read::{ReadError, Reader, Skipped};

#[test]
fn every_kind_of_record_comes_as_it_was_written() {
    for id_size in [4, 8] {
        let bytes = every_record(id_size);
        let records = read_all(&bytes).expect("the dump is whole");
        let expected = [
            "name 1 \"demo/Node\"",
            "class 1 is 256 named 1",
            "frame 7 method 1 signature 1 source 0 class 1 line 12",
            "stack 3 of thread 9: [7]",
            "other",
            "root StickyClass 256 thread None stack None frame None",
            "root JniGlobal 256 thread None stack None frame None",
            "root JniLocal 257 thread Some(9) stack None frame Some(2)",
            "root JavaFrame 257 thread Some(9) stack None frame None",
            "root NativeStack 257 thread Some(9) stack None frame None",
            "root ThreadBlock 257 thread Some(9) stack None frame None",
            "root MonitorUsed 257 thread None stack None frame None",
            "root ThreadObject 258 thread Some(9) stack Some(3) frame None",
            "root Unknown 258 thread None stack None frame None",
            "class dump 256 super 0 loader 258 size 12 constants [(5, 'x')] statics [(1, 0x101)] fields [(1, Object), (1, Int)]",
            "instance 257 stack 3 class 256 fields 12",
            "array 259 stack 0 class 256 length 3",
            "elements [257, 0, 258]",
            "array 260 stack 0 of Char length 2",
            "contents [0, 104, 0, 105]",
            "array 261 stack 0 of Long length 0",
        ];
        let expected: Vec<String> = expected
            .iter()
            .map(|line| line.replace("fields 12", if id_size == 8 { "fields 12" } else { "fields 8" }))
            .collect();
        assert_eq!(records, expected, "ids of {id_size} bytes");
    }
}

#[test]
fn a_dump_cut_off_at_any_byte_says_where() {
    for id_size in [4, 8] {
        let bytes = every_record(id_size);
        for cut in 0..bytes.len() {
            match read_all(&bytes[..cut]) {
                Err(ReadError::NotHprof) => assert!(cut < 19),
                Err(ReadError::Truncated { at, .. } | ReadError::NoEnd { at }) => assert_eq!(at, cut as u64),
                other => panic!("cut at {cut}: {other:?}"),
            }
        }
    }
}

#[test]
fn absurd_lengths_are_refused_or_run_into_the_end() {
    let whole = every_record(8);
    for at in 31..whole.len() - 4 {
        for length in [u32::MAX, i32::MAX as u32, 1 << 24, 0] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
            // Errors are all right; panics and gigabytes are not.
            let _ = read_all(&bytes);
        }
    }
}

#[test]
fn a_record_longer_than_its_length_can_tell_is_read_to_its_end() {
    // Old dumpers write one record, and the lower 32 bits of its length. An array of 5 GiB in the middle of it is a zero-filled
    // stream here, which takes no memory.
    let array: u64 = 5 << 30;
    let mut dump = Dump::new(8);
    dump.segment(0x0C, |heap| {
        heap.u1(0x05).id(1);
        heap.u1(0x23).id(2).u4(0).u4((array / 8) as u32).u1(11);
    });
    let mut head = dump.bytes().to_vec();
    let tail = [0x05, 0, 0, 0, 0, 0, 0, 0, 3];
    let length = (head.len() - 31 - 9) as u64 + array + tail.len() as u64;
    head[36..40].copy_from_slice(&(length as u32).to_be_bytes());
    let stream = std::io::Read::chain(
        std::io::Read::chain(&head[..], std::io::Read::take(std::io::repeat(0), array)),
        &tail[..],
    );
    let mut reader = Reader::new(stream).expect("a header");
    reader.skip_contents(true);
    let mut roots = Vec::new();
    while let Some(record) = reader.next_record().expect("the dump is whole") {
        if let hprof::read::Record::Root(root) = record {
            roots.push(root.object.0);
        }
    }
    assert_eq!(roots, [1, 3]);
}

#[test]
fn a_segment_that_is_too_short_is_damage() {
    let mut dump = Dump::new(8);
    dump.segment(0x1C, |heap| {
        heap.u1(0x05).id(1);
    });
    let mut bytes = dump.bytes().to_vec();
    bytes[39] -= 1;
    assert!(matches!(read_all(&bytes), Err(ReadError::Misfit { at: 40, .. })), "{:?}", read_all(&bytes));
}

#[test]
fn what_is_no_dump_of_hotspot_is_named() {
    let read = |bytes: &[u8]| Reader::new(bytes).err().map(|error| error.to_string());
    assert!(read(b"<?xml version=\"1.0\"?><TRACE></TRACE>").is_some_and(|text| text.contains("not an HPROF")));
    assert!(read(b"JAVA PROFILE 1.0.2\0\0\0\0\x05\0\0\0\0\0\0\0\0").is_some_and(|text| text.contains("5 bytes")));
    let mut dump = Dump::new(4);
    dump.segment(0x1C, |heap| {
        heap.u1(0xFE).u4(0).id(1);
    });
    assert!(matches!(read_all(dump.bytes()), Err(ReadError::Android { at: 40, tag: 0xFE })));
    // Nobody knows where such a sub-record ends, and the old record of a whole heap may be longer than it says.
    let mut dump = Dump::new(4);
    dump.segment(0x0C, |heap| {
        heap.u1(0x55);
    });
    assert!(matches!(read_all(dump.bytes()), Err(ReadError::Tag { at: 40, tag: 0x55, .. })));
}

/// Everything that is read, and what was stepped over.
fn read_over(bytes: &[u8]) -> (Vec<String>, Skipped) {
    let mut reader = Reader::new(bytes).expect("a header");
    while reader.next_record().expect("the dump is whole").is_some() {}
    (read_all(bytes).expect("the dump is whole"), reader.skipped())
}

#[test]
fn records_of_unknown_kinds_are_stepped_over_wherever_they_stand() {
    for id_size in [4, 8] {
        let whole = every_record(id_size);
        let expected = read_all(&whole).expect("the dump is whole");
        let mut starts = vec![31];
        while let Some(&at) = starts.last().filter(|&&at| at < whole.len()) {
            starts.push(at + 9 + u32::from_be_bytes(whole[at + 5..at + 9].try_into().expect("four bytes")) as usize);
        }
        assert_eq!(starts.len(), 9);
        for tag in [0x00, 0x08, 0x0F, 0x42, 0xFF] {
            for &at in &starts {
                // One without a body, and one that is longer than what is read at once.
                for length in [0, 5, 3 << 20] {
                    let mut bytes = whole.clone();
                    let unknown = [&[tag, 1, 2, 3, 4][..], &u32::to_be_bytes(length), &vec![0xA5; length as usize]];
                    bytes.splice(at..at, unknown.concat());
                    let skipped = Skipped { records: 1, record_bytes: 9 + u64::from(length), ..Skipped::default() };
                    assert_eq!(read_over(&bytes), (expected.clone(), skipped), "{tag:#x} at {at}");
                }
            }
        }
    }
}

#[test]
fn a_segment_is_stepped_over_from_an_unknown_sub_record_on() {
    let mut dump = Dump::new(8);
    dump.segment(0x1C, |heap| {
        heap.u1(0x05).id(1);
        heap.u1(0x55).id(2).u1(0x05).id(3);
    });
    dump.segment(0x1C, |heap| {
        heap.u1(0x05).id(4);
    });
    dump.segment(0x2C, |_| {});
    let (records, skipped) = read_over(dump.bytes());
    let root = |id: u64| format!("root StickyClass {id} thread None stack None frame None");
    assert_eq!(records, [root(1), root(4)]);
    assert_eq!(skipped, Skipped { segments: 1, segment_bytes: 18, ..Skipped::default() });
}

#[test]
fn an_unknown_record_that_is_cut_off_is_not_the_end() {
    let mut bytes = every_record(8);
    bytes.extend([0x42, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2]);
    let length = bytes.len() as u64;
    assert!(matches!(read_all(&bytes), Err(ReadError::Truncated { at, .. }) if at == length));
}
