//! Dumps made byte by byte, and their records as text.

#![allow(dead_code, reason = "each test uses a part")]

use hprof::read::{ReadError, Reader, Record};

/// A dump in the making. Nothing checks what is put in.
pub(crate) struct Dump {
    bytes: Vec<u8>,
    id_size: usize,
}

impl Dump {
    /// The header.
    pub(crate) fn new(id_size: usize) -> Self {
        let mut dump = Dump { bytes: b"JAVA PROFILE 1.0.2\0".to_vec(), id_size };
        dump.u4(id_size as u32).u4(0).u4(1);
        dump
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn u1(&mut self, number: u8) -> &mut Self {
        self.bytes.push(number);
        self
    }

    pub(crate) fn u2(&mut self, number: u16) -> &mut Self {
        self.bytes.extend(number.to_be_bytes());
        self
    }

    pub(crate) fn u4(&mut self, number: u32) -> &mut Self {
        self.bytes.extend(number.to_be_bytes());
        self
    }

    pub(crate) fn id(&mut self, id: u64) -> &mut Self {
        let bytes = id.to_be_bytes();
        self.bytes.extend(&bytes[8 - self.id_size..]);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend(text.as_bytes());
        self
    }

    /// A record with its length.
    pub(crate) fn segment(&mut self, tag: u8, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.u1(tag).u4(0).u4(0);
        let begin = self.bytes.len();
        fill(self);
        let length = (self.bytes.len() - begin) as u32;
        self.bytes[begin - 4..begin].copy_from_slice(&length.to_be_bytes());
        self
    }
}

/// A dump with one of each.
pub(crate) fn every_record(id_size: usize) -> Vec<u8> {
    let mut dump = Dump::new(id_size);
    dump.segment(0x01, |record| {
        record.id(1).text("demo/Node");
    });
    dump.segment(0x02, |record| {
        record.u4(1).id(256).u4(0).id(1);
    });
    dump.segment(0x04, |record| {
        record.id(7).id(1).id(1).id(0).u4(1).u4(12);
    });
    dump.segment(0x05, |record| {
        record.u4(3).u4(9).u4(1).id(7);
    });
    dump.segment(0x0D, |record| {
        record.u4(0).u4(0);
    });
    dump.segment(0x1C, |heap| {
        heap.u1(0x05).id(256);
        heap.u1(0x01).id(256).id(77);
        heap.u1(0x02).id(257).u4(9).u4(2);
        heap.u1(0x03).id(257).u4(9).u4(u32::MAX);
        heap.u1(0x04).id(257).u4(9);
        heap.u1(0x06).id(257).u4(9);
        heap.u1(0x07).id(257);
        heap.u1(0x08).id(258).u4(9).u4(3);
        heap.u1(0xFF).id(258);
        heap.u1(0x20).id(256).u4(0).id(0).id(258).id(0).id(0).id(0).id(0).u4(12);
        heap.u2(1).u2(5).u1(5).u2(0x78);
        heap.u2(1).id(1).u1(2).id(257);
        heap.u2(2).id(1).u1(2).id(1).u1(10);
    });
    dump.segment(0x1C, |heap| {
        heap.u1(0x21).id(257).u4(3).id(256).u4(id_size as u32 + 4).id(258).u4(7);
        heap.u1(0x22).id(259).u4(0).u4(3).id(256).id(257).id(0).id(258);
        heap.u1(0x23).id(260).u4(0).u4(2).u1(5).u2(104).u2(105);
        heap.u1(0x23).id(261).u4(0).u4(0).u1(11);
    });
    dump.segment(0x2C, |_| {});
    dump.bytes().to_vec()
}

/// All records as text.
pub(crate) fn read_all(bytes: &[u8]) -> Result<Vec<String>, ReadError> {
    let mut reader = Reader::new(bytes)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(match record {
            Record::Name { id, text } => format!("name {id} {:?}", String::from_utf8_lossy(text)),
            Record::LoadClass { serial, class, name } => format!("class {serial} is {class} named {name}"),
            Record::Frame(frame) => format!(
                "frame {} method {} signature {} source {} class {} line {}",
                frame.id, frame.method, frame.signature, frame.source, frame.class, frame.line
            ),
            Record::Trace { serial, thread, frames } => {
                format!("stack {serial} of thread {thread}: {:?}", frames.iter().collect::<Vec<_>>())
            }
            Record::Root(root) => format!(
                "root {:?} {} thread {:?} stack {:?} frame {:?}",
                root.kind,
                root.object,
                root.thread.map(|thread| thread.0),
                root.stack.map(|stack| stack.0),
                root.frame
            ),
            Record::Class(class) => {
                let constants: Vec<String> =
                    class.constants.iter().map(|(at, value)| format!("({at}, {value})")).collect();
                let statics: Vec<String> =
                    class.statics.iter().map(|(name, value)| format!("({name}, {value})")).collect();
                let fields: Vec<String> =
                    class.fields.iter().map(|(name, kind)| format!("({name}, {kind:?})")).collect();
                format!(
                    "class dump {} super {} loader {} size {} constants [{}] statics [{}] fields [{}]",
                    class.id,
                    class.superclass,
                    class.loader,
                    class.instance_size,
                    constants.join(", "),
                    statics.join(", "),
                    fields.join(", ")
                )
            }
            Record::Instance { id, stack, class, fields } => {
                format!("instance {id} stack {stack} class {class} fields {}", fields.len())
            }
            Record::ObjectArray { id, stack, class, length } => {
                format!("array {id} stack {stack} class {class} length {length}")
            }
            Record::Elements(ids) => format!("elements {:?}", ids.iter().collect::<Vec<_>>()),
            Record::PrimitiveArray { id, stack, kind, length } => {
                format!("array {id} stack {stack} of {kind:?} length {length}")
            }
            Record::Contents(bytes) => format!("contents {bytes:?}"),
            _ => "other".to_owned(),
        });
    }
    Ok(records)
}
