//! The sub-records of the heap: roots, classes, objects, arrays.

use std::io::Read;

use super::records::big_endian;
use super::{Piece, ReadError, Reader, Record, Root, Segment};
use crate::format::sub_record as tag;
use crate::{BasicType, NameId, ObjectId, RootKind, StackSerial, ThreadSerial, Value};

/// Fields of an instance beyond this are damage: a class has at most 65,535, and a hierarchy of a hundred such classes is none.
const MAX_FIELDS: u32 = 64 << 20;

impl<R: Read> Reader<R> {
    /// Whether the next sub-record of a segment can be read, or the rest of the segment has to be stepped over. In a record whose
    /// length may have overflowed there is nothing to step to, and a dump of Android's is another format.
    pub(super) fn is_known(&mut self, segment: Segment) -> Result<bool, ReadError> {
        let tag = self.scanner.peek(1, "the heap")?[0];
        Ok(segment.may_overflow || tag::is_known(tag) || tag::ANDROID.contains(&tag))
    }

    /// The next sub-record of a segment.
    #[inline]
    pub(super) fn sub_record(&mut self, segment: Segment) -> Result<Record<'_>, ReadError> {
        let id = self.id_size;
        let at = self.scanner.at();
        let tag = self.scanner.peek(1, "the heap")?[0];
        match tag {
            tag::INSTANCE_DUMP => {
                let head = self.scanner.peek(9 + 2 * id, "an object")?;
                let object = ObjectId(big_endian(&head[1..], id));
                let stack = StackSerial(big_endian(&head[1 + id..], 4) as u32);
                let class = ObjectId(big_endian(&head[5 + id..], id));
                let length = big_endian(&head[5 + 2 * id..], 4) as u32;
                if length > MAX_FIELDS {
                    return Err(ReadError::TooLong { at, what: "an object", length: length.into() });
                }
                let whole = 9 + 2 * id + length as usize;
                self.fits(segment, whole as u64, "an object")?;
                self.scanner.peek(whole, "an object")?;
                self.scanner.advance(whole);
                let fields = self.scanner.behind(length as usize);
                Ok(Record::Instance { id: object, stack, class, fields })
            }
            tag::OBJECT_ARRAY_DUMP => {
                let head = self.scanner.peek(9 + 2 * id, "an array")?;
                let object = ObjectId(big_endian(&head[1..], id));
                let stack = StackSerial(big_endian(&head[1 + id..], 4) as u32);
                let length = big_endian(&head[5 + id..], 4) as u32;
                let class = ObjectId(big_endian(&head[9 + id..], id));
                self.begin_array(segment, 9 + 2 * id, length, id, true)?;
                Ok(Record::ObjectArray { id: object, stack, class, length })
            }
            tag::PRIMITIVE_ARRAY_DUMP => {
                let head = self.scanner.peek(10 + id, "an array")?;
                let object = ObjectId(big_endian(&head[1..], id));
                let stack = StackSerial(big_endian(&head[1 + id..], 4) as u32);
                let length = big_endian(&head[5 + id..], 4) as u32;
                let code = head[9 + id];
                let kind = match BasicType::of_code(code) {
                    Some(kind) if kind != BasicType::Object => kind,
                    _ => return Err(ReadError::Type { at: at + 9 + id as u64, code }),
                };
                self.begin_array(segment, 10 + id, length, kind.size(id), false)?;
                Ok(Record::PrimitiveArray { id: object, stack, kind, length })
            }
            tag::CLASS_DUMP => self.class_dump(segment),
            tag => self.root(segment, tag, at),
        }
    }

    fn begin_array(
        &mut self,
        segment: Segment,
        head: usize,
        length: u32,
        element: usize,
        is_ids: bool,
    ) -> Result<(), ReadError> {
        let bytes = u64::from(length) * element as u64;
        self.fits(segment, head as u64 + bytes, "an array")?;
        self.scanner.advance(head);
        self.piece = (bytes > 0).then_some(Piece { bytes, element, is_ids });
        Ok(())
    }

    /// Makes sure that a sub-record of this many bytes ends inside its segment. A record whose length overflowed is longer by
    /// multiples of 4 GiB than it says, and the first sub-record that does not fit shows it.
    #[inline]
    fn fits(&mut self, segment: Segment, bytes: u64, what: &'static str) -> Result<(), ReadError> {
        let end = self.scanner.at() + bytes;
        if end <= segment.end {
            return Ok(());
        }
        if !segment.may_overflow {
            return Err(ReadError::Misfit { at: self.scanner.at(), what });
        }
        let missing = end - segment.end;
        let end = segment.end + missing.next_multiple_of(1 << 32);
        self.segment = Some(Segment { end, ..segment });
        Ok(())
    }

    fn root(&mut self, segment: Segment, tag: u8, at: u64) -> Result<Record<'_>, ReadError> {
        let id = self.id_size;
        // What follows the object: another id, or numbers of 4 bytes.
        let (kind, rest) = match tag {
            tag::ROOT_UNKNOWN => (RootKind::Unknown, 0),
            tag::ROOT_JNI_GLOBAL => (RootKind::JniGlobal, id),
            tag::ROOT_JNI_LOCAL => (RootKind::JniLocal, 8),
            tag::ROOT_JAVA_FRAME => (RootKind::JavaFrame, 8),
            tag::ROOT_NATIVE_STACK => (RootKind::NativeStack, 4),
            tag::ROOT_STICKY_CLASS => (RootKind::StickyClass, 0),
            tag::ROOT_THREAD_BLOCK => (RootKind::ThreadBlock, 4),
            tag::ROOT_MONITOR_USED => (RootKind::MonitorUsed, 0),
            tag::ROOT_THREAD_OBJECT => (RootKind::ThreadObject, 8),
            tag if tag::ANDROID.contains(&tag) => return Err(ReadError::Android { at, tag }),
            tag => return Err(ReadError::Tag { at, tag, level: "sub-record" }),
        };
        let whole = 1 + id + rest;
        self.fits(segment, whole as u64, "a root")?;
        let body = self.scanner.peek(whole, "a root")?;
        let u4 = |offset: usize| big_endian(&body[1 + id + offset..], 4) as u32;
        let thread = (kind != RootKind::JniGlobal && rest > 0).then(|| ThreadSerial(u4(0)));
        let root = Root {
            kind,
            object: ObjectId(big_endian(&body[1..], id)),
            thread,
            stack: (kind == RootKind::ThreadObject).then(|| StackSerial(u4(4))),
            frame: matches!(kind, RootKind::JavaFrame | RootKind::JniLocal).then(|| u4(4)).filter(|&f| f != u32::MAX),
        };
        self.scanner.advance(whole);
        Ok(Record::Root(root))
    }

    fn class_dump(&mut self, segment: Segment) -> Result<Record<'_>, ReadError> {
        const WHAT: &str = "a class";
        let id = self.id_size;
        let head = self.scanner.peek(9 + 7 * id, WHAT)?;
        let id_at = |offset: usize| ObjectId(big_endian(&head[offset..], id));
        let class = &mut self.class;
        class.id = id_at(1);
        class.stack = StackSerial(big_endian(&head[1 + id..], 4) as u32);
        class.superclass = id_at(5 + id);
        class.loader = id_at(5 + 2 * id);
        class.signers = id_at(5 + 3 * id);
        class.domain = id_at(5 + 4 * id);
        class.instance_size = big_endian(&head[5 + 7 * id..], 4) as u32;
        class.constants.clear();
        class.statics.clear();
        class.fields.clear();
        self.scanner.advance(9 + 7 * id);
        for _ in 0..self.u2(WHAT)? {
            let index = self.u2(WHAT)?;
            let value = self.value(WHAT)?;
            self.class.constants.push((index, value));
        }
        for _ in 0..self.u2(WHAT)? {
            let name = self.name(WHAT)?;
            let value = self.value(WHAT)?;
            self.class.statics.push((name, value));
        }
        for _ in 0..self.u2(WHAT)? {
            let name = self.name(WHAT)?;
            let kind = self.kind(WHAT)?;
            self.class.fields.push((name, kind));
        }
        // Its length is known only now.
        self.fits(segment, 0, WHAT)?;
        Ok(Record::Class(&self.class))
    }

    fn u2(&mut self, what: &'static str) -> Result<u16, ReadError> {
        let number = big_endian(self.scanner.peek(2, what)?, 2) as u16;
        self.scanner.advance(2);
        Ok(number)
    }

    fn name(&mut self, what: &'static str) -> Result<NameId, ReadError> {
        let name = NameId(big_endian(self.scanner.peek(self.id_size, what)?, self.id_size));
        self.scanner.advance(self.id_size);
        Ok(name)
    }

    fn kind(&mut self, what: &'static str) -> Result<BasicType, ReadError> {
        let code = self.scanner.peek(1, what)?[0];
        let kind = BasicType::of_code(code).ok_or(ReadError::Type { at: self.scanner.at(), code })?;
        self.scanner.advance(1);
        Ok(kind)
    }

    fn value(&mut self, what: &'static str) -> Result<Value, ReadError> {
        let kind = self.kind(what)?;
        let size = kind.size(self.id_size);
        let bits = big_endian(self.scanner.peek(size, what)?, size);
        self.scanner.advance(size);
        Ok(Value { kind, bits })
    }
}
