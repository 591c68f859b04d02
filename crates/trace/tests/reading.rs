//! The reader on what real and hostile traces look like.

mod common;

use std::io::{self, Read};

use proptest::prelude::*;
use trace::reader::{DocumentEnd, Event, Position, ReadError, TraceReader};

use common::{gzip, lines, read, zip};

/// Delivers a few bytes at a time, as pipes may.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(3);
        self.0.read(&mut out[..count])
    }
}

#[test]
fn jvmpi_traces_are_read() {
    let read = read(common::JVMPI.as_bytes());
    assert_eq!(read.errors, [""; 0]);
    assert_eq!((read.missing, read.unknown, read.repeated), (0, 0, 0));
    assert_eq!(read.ends, [DocumentEnd::Open]);
    let elements = common::JVMPI.split_once("<TRACE>\n").unwrap().1;
    assert_eq!(read.lines.concat().replace('\n', ""), elements);
}

#[test]
fn a_trace_cut_at_any_byte_gives_its_complete_elements() {
    let all = lines(common::THREADS);
    let complete_from = common::THREADS.trim_end().len();
    for end in 1..common::THREADS.len() {
        let read = read(&common::THREADS.as_bytes()[..end]);
        assert_eq!(read.errors, [""; 0], "cut at {end}");
        let whole = common::THREADS[..end].matches("/>").count();
        assert_eq!(read.lines, all[..whole], "cut at {end}");
        let tag = common::THREADS[..end].rfind('<').unwrap();
        if !common::THREADS[tag..].starts_with("<?xml") {
            let expected = match common::THREADS[tag..end].contains('>') {
                _ if end >= complete_from => DocumentEnd::Complete,
                true => DocumentEnd::Open,
                false => DocumentEnd::Cut { bytes: (end - tag) as u64 },
            };
            assert_eq!(read.ends, [expected], "cut at {end}");
        }
    }
}

#[test]
fn a_packed_trace_cut_at_any_byte_gives_a_beginning() {
    let all = lines(common::THREADS);
    for packed in [zip("t.xml", common::THREADS.as_bytes()), gzip(common::THREADS.as_bytes())] {
        let mut longest = 0;
        for end in 20..packed.len() {
            let read = read(&packed[..end]);
            assert_eq!(read.errors, [""; 0], "cut at {end}");
            assert!(all.starts_with(&read.lines), "cut at {end}");
            longest = longest.max(read.lines.len());
        }
        assert_eq!(longest, all.len());
    }
}

#[test]
fn small_pieces_change_nothing() {
    for bytes in [common::HEAP.as_bytes().to_vec(), zip("h", common::HEAP.as_bytes()), gzip(common::HEAP.as_bytes())] {
        assert_eq!(read(Trickle(&bytes)), read(bytes.as_slice()));
    }
}

#[test]
fn several_documents_follow_each_other() {
    let joined = [common::HEAP, common::JVMPI, common::THREADS, "<TRACE/>", common::DUMP].concat();
    let read = read(joined.as_bytes());
    assert_eq!(read.errors, [""; 0]);
    let (complete, open) = (DocumentEnd::Complete, DocumentEnd::Open);
    assert_eq!(read.ends, [complete, open, complete, complete, complete]);
    // Without a prolog the root's start tag separates.
    let fragments = "<TRACE><gcStart time=\"1\"/><TRACE><gcStart time=\"2\"/></TRACE>";
    assert_eq!(common::read(fragments.as_bytes()).ends, [open, complete]);
    // Bare fragments have no root at all.
    let bare = common::read(&b"<gcStart time=\"1\"/>\n<gcFinish time=\"2\"/>\n"[..]);
    assert_eq!((bare.lines.len(), bare.ends), (2, vec![open]));
}

#[test]
fn what_xml_allows_beside_elements_is_passed_over() {
    let text = "\u{feff} <?xml version='1.0'?>\n<!DOCTYPE TRACE [<!ENTITY a \"]>\"> <!-- > -->]>\n\
        <!-- <gcStart time=\"1\"/> --><?note <gcStart time=\"2\"/> ?>\n<TRACE note='x'>text > \
        <![CDATA[<gcStart time=\"3\"/>]]>\n\
        <gcStart\n\ttime = '4.5'  ></gcStart><gcFinish time=\"5\" usedObjects='6' /><!----></TRACE>\n\n";
    let read = read(text.as_bytes());
    assert_eq!(read.errors, [""; 0]);
    assert_eq!(
        read.lines,
        ["<gcStart time=\"4.500000000\"/>\n", "<gcFinish time=\"5.000000000\" usedObjects=\"6\"/>\n"]
    );
    assert_eq!(read.ends, [DocumentEnd::Complete]);
}

#[test]
fn unknown_elements_and_attributes_are_counted() {
    let text = "<TRACE><objMove x=\"1\"/><gcStart time=\"1\" traceIdRef=\"t\" collationValue=\"1\" hue=\"2\" time=\"3\"/>\
        <threadStart threadId=\"1\"/></TRACE>";
    let read = read(text.as_bytes());
    assert_eq!(read.errors, [""; 0]);
    assert_eq!(read.lines[..2], ["<objMove/>\n", "<gcStart time=\"3.000000000\"/>\n"]);
    assert_eq!((read.missing, read.unknown, read.repeated), (4, 1, 1));
}

#[test]
fn damage_is_reported_where_it_is_and_passed_over() {
    let text = "<TRACE>\n<objFree time=\"1\"/>\n<objFree objIdRef=\"x\" time=\"1\"/>\n<objFree objIdRef/>\n\
        <objFree objIdRef=\"1 time=\"1\"/>\n<objFree objIdRef=\"2>\n<objFree objIdRef=\"3\" time=\"1\"/>\n\
        <9/>\n<threadEnd threadIdRef=\"&bomb;\"/>\n<option key=\"&bomb;\"/>\n</TRACE>\n";
    let read = read(text.as_bytes());
    assert_eq!(
        read.errors,
        [
            "line 2, byte 8: objFree: the attribute objIdRef is missing",
            "line 3, byte 28: objFree: the attribute objIdRef has an invalid value",
            "line 4, byte 61: objFree: the tag is not well-formed",
            "line 5, byte 81: objFree: the attribute objIdRef has an invalid value",
            "line 6, byte 113: objFree: the tag is not well-formed",
            "line 8, byte 168: 9: the tag is not well-formed",
            "line 9, byte 173: threadEnd: the attribute threadIdRef has an invalid value",
            "line 10, byte 207: option: the attribute key has an invalid value",
        ]
    );
    assert_eq!(read.lines, ["<objFree objIdRef=\"3\" time=\"1.000000000\"/>\n"]);
    assert_eq!(read.ends, [DocumentEnd::Complete]);
}

#[test]
fn names_that_are_no_utf8_are_taken_for_latin1() {
    let read = read(&b"<TRACE><option key=\"caf\xE9\" value=\"\"/></TRACE>"[..]);
    assert_eq!(read.lines, ["<option key=\"caf\u{e9}\" value=\"\"/>\n"]);
}

#[test]
fn messages_cannot_steer_a_terminal() {
    let hostile = "<TRACE><\u{1b}[2J/><\u{9b}/>";
    let result = read(hostile.as_bytes());
    assert_eq!((result.errors.len(), result.lines.len()), (2, 0));
    let zipped = read(zip("\u{1b}[2J.xml", b"oops").as_slice());
    assert_eq!(zipped.errors.len(), 1);
    let messages = [result.errors, zipped.errors].concat().concat();
    assert!(!messages.contains(char::is_control), "{messages:?}");
}

#[test]
fn what_is_no_trace_is_said() {
    for (input, error) in [
        (&b""[..], "the trace is empty"),
        (b"hello", "the file is not an XML trace: it does not start with `<`"),
        (
            b"\xFF\xFE<\0",
            "the file is not an XML trace: it is text in UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`",
        ),
        (b"\x1F\x8B\x08\x00oops", "the gzip header is broken; check the file with `gzip -t`"),
    ] {
        assert_eq!(read(input).errors, [error]);
    }
    let missing = TraceReader::open("/no/such/trace".as_ref()).err().unwrap();
    assert!(missing.to_string().starts_with("cannot open the trace /no/such/trace: "), "{missing}");
    let folder = TraceReader::open("/".as_ref()).err().unwrap();
    assert!(matches!(folder, ReadError::Open { .. }));
}

#[test]
fn read_errors_end_the_trace() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let beginning = &b"<TRACE><gcStart time=\"1\"/><gc"[..];
    let result = read(beginning.chain(Failing));
    assert_eq!(result.errors, ["cannot read the trace after byte 29: the disk is on fire"]);
    assert_eq!((result.lines.len(), result.ends), (1, vec![DocumentEnd::Cut { bytes: 3 }]));
    assert_eq!(read(Failing).errors, ["cannot read the trace after byte 0: the disk is on fire"]);
}

#[test]
fn too_long_tags_and_too_many_attributes_are_refused() {
    let long = format!("<TRACE><option key=\"{}\" value=\"\"/><gcStart time=\"1\"/></TRACE>", "x".repeat(17 << 20));
    let result = read(long.as_bytes());
    assert_eq!(result.errors.len(), 1);
    assert!(result.errors[0].contains("longer than 16777216 bytes"), "{}", result.errors[0]);
    let fits = format!("<TRACE><option key=\"{}\" value=\"\"/></TRACE>", "x".repeat(15 << 20));
    assert_eq!(read(fits.as_bytes()).lines[0].len(), (15 << 20) + "<option key=\"\" value=\"\"/>\n".len());
    let many: String = (0..65).map(|i| format!(" a{i}=\"\"")).collect();
    let result = read(format!("<TRACE><gcStart time=\"1\"{many}/></TRACE>").as_bytes());
    assert_eq!(result.errors, ["line 1, byte 7: gcStart: the tag has too many attributes"]);
}

#[test]
fn quotes_do_not_make_the_search_quadratic() {
    // Each `>` stands between quotes and could be the end of the tag; takes hours if that is tried.
    let text = format!("<TRACE><option key='{}' value=\"\"/></TRACE>", ">\"".repeat(1 << 20));
    assert_eq!(read(text.as_bytes()).lines.len(), 1);
}

#[test]
fn positions_and_progress() {
    let text = "<TRACE>\n\n<gcStart time=\"1\"/><gcFinish time=\"2\"/>\n</TRACE>\n";
    let mut reader = TraceReader::new(text.as_bytes()).unwrap();
    let mut positions = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        if let Event::Element { at, .. } = event {
            positions.push(at);
        }
    }
    assert_eq!(positions, [Position { offset: 9, line: 3 }, Position { offset: 28, line: 3 }]);
    assert_eq!((reader.consumed(), reader.total()), (text.len() as u64, None));

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), zip("t.xml", text.as_bytes())).unwrap();
    let mut reader = TraceReader::open(file.path()).unwrap();
    while reader.next_event().unwrap().is_some() {}
    let total = reader.total().unwrap();
    assert_eq!(total, file.path().metadata().unwrap().len());
    assert!(reader.consumed() > total / 2 && reader.consumed() <= total);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        read(bytes.as_slice());
    }

    #[test]
    fn arbitrary_markup_never_panics(
        text in "(<|>|/|\"|'|=| |\n|<TRACE>|</TRACE>|<objFree|objIdRef=\"1\"|<!--|-->|<!|\\[|\\]|<!\\[CDATA\\[|<\\?xml |\\?>|&|;|é){0,60}",
    ) {
        read(text.as_bytes());
    }

    #[test]
    fn damaged_containers_never_panic(
        which in 0usize..2, at in 0usize..4000, with: u8, count in 1usize..9, cut in 0usize..4000,
    ) {
        let mut bytes = match which {
            0 => zip("heap.xml", common::HEAP.as_bytes()),
            _ => gzip(common::HEAP.as_bytes()),
        };
        let length = bytes.len();
        for byte in &mut bytes[at % length..(at % length + count).min(length)] {
            *byte = byte.wrapping_add(with);
        }
        bytes.truncate(length - cut % length);
        read(bytes.as_slice());
    }
}

#[test]
fn counters_have_the_keys_of_today_whichever_version_wrote_them() {
    let counter = |key: &str| format!("<martiniCount key=\"{key}\" detail=\"d\" value=\"7\"/>\n");
    let trace = |key: &str| format!("<TRACE>\n{}</TRACE>\n", counter(key));
    for (old, new) in trace::counters::RENAMED {
        for written in [old, new] {
            assert_eq!(read(trace(written).as_bytes()).lines, [counter(new)], "{written}");
        }
    }
    assert_eq!(read(trace("events.lost").as_bytes()).lines, [counter("events.lost")]);
}

#[test]
fn no_key_of_today_is_replaced_again() {
    let renamed = trace::counters::RENAMED;
    for (_, new) in renamed {
        assert!(renamed.iter().all(|(old, _)| old != new), "{new}");
    }
}
