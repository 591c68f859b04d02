//! What the writer writes, the reader reads, and the other way round, for every element.

mod common;

use std::borrow::Cow;

use proptest::prelude::*;
use trace::ids::{ObjectId, ThreadId};
use trace::model::{Element, MartiniCount, ThreadStart};
use trace::reader::{DocumentEnd, Event, TraceReader};
use trace::time::Time;
use trace::writer::XmlWriter;

#[test]
fn the_examples_come_back_byte_for_byte() {
    for example in common::EXAMPLES {
        let read = common::read(example.as_bytes());
        assert_eq!(read.errors, [""; 0]);
        assert_eq!((read.missing, read.unknown, read.repeated), (0, 0, 0));
        assert_eq!(read.ends, [DocumentEnd::Complete]);
        assert_eq!(read.lines, common::lines(example));
    }
}

#[test]
fn the_writer_writes_documents() {
    let mut writer = XmlWriter::with_capacity(1024);
    writer.start_document();
    writer.write(&MartiniCount { key: "events.dropped".into(), detail: None, value: 3 });
    writer.end_document();
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n\
                <martiniCount key=\"events.dropped\" value=\"3\"/>\n</TRACE>\n";
    assert_eq!(String::from_utf8_lossy(writer.bytes()), text);
    writer.clear();
    assert_eq!(writer.bytes(), b"");
}

proptest! {
    #[test]
    fn every_element_comes_back(lines in prop::collection::vec(common::any_element_line(), 0..20)) {
        let document = format!("<TRACE>\n{}</TRACE>\n", lines.concat());
        let read = common::read(document.as_bytes());
        prop_assert_eq!(&read.errors, &[""; 0]);
        prop_assert_eq!((read.missing, read.unknown, read.repeated), (0, 0, 0));
        prop_assert_eq!(read.lines, lines);
    }

    #[test]
    fn any_name_comes_back(thread_name in common::text(), group_name: String, parent_name: String, id: u64) {
        let thread = Element::ThreadStart(ThreadStart {
            thread_id: ThreadId(id),
            time: Time(id),
            thread_name: Cow::Owned(thread_name),
            group_name: Cow::Owned(group_name),
            parent_name: Cow::Owned(parent_name),
            object: Some(ObjectId(id)),
            kind: None,
        });
        let mut writer = XmlWriter::default();
        writer.write(&thread);
        let mut reader = TraceReader::new(writer.bytes()).unwrap();
        reader.next_event().unwrap();
        match reader.next_event().unwrap() {
            Some(Event::Element { element, .. }) => prop_assert_eq!(element, thread),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
