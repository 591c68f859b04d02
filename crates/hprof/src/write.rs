//! Writes a dump, HPROF 1.0.2 with ids of eight bytes, front to back in constant memory.
//!
//! Names, classes and stacks are records of their own; everything about the heap goes into segments, which the writer makes of
//! what it is given. An array that is larger than a segment gets one for itself.

use std::io::{self, Write};

use crate::format::{record, sub_record};
use crate::read::{ClassDump, Frame, Root};
use crate::{BasicType, ClassSerial, FrameId, NameId, ObjectId, RootKind, StackSerial, ThreadSerial, Value};

/// Bytes of a segment, unless it holds one array that is larger.
const SEGMENT: usize = 1 << 20;
/// Bytes of an id.
const ID: usize = 8;

/// Writes records one by one. Arrays are begun, and then their elements must follow, all of them.
///
/// ```
/// use hprof::write::Writer;
/// use hprof::{NameId, read::Reader, read::Record};
///
/// let mut dump = Vec::new();
/// let mut writer = Writer::new(&mut dump, 0)?;
/// writer.name(NameId(1), b"value")?;
/// writer.finish()?;
/// let mut reader = Reader::new(&dump[..])?;
/// assert!(matches!(reader.next_record()?, Some(Record::Name { text: b"value", .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<W> {
    out: W,
    segment: Vec<u8>,
    /// Elements of a large array still to come, which go straight to the output.
    large: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a dump made at a time in milliseconds since 1970. The output should be buffered.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn new(mut out: W, millis: u64) -> io::Result<Self> {
        out.write_all(b"JAVA PROFILE 1.0.2\0")?;
        out.write_all(&(ID as u32).to_be_bytes())?;
        out.write_all(&millis.to_be_bytes())?;
        Ok(Writer::resume(out))
    }

    /// Continues a dump that has no end record yet.
    pub fn resume(out: W) -> Self {
        Writer { out, segment: Vec::new(), large: 0 }
    }

    /// A record outside the heap.
    fn record(&mut self, tag: u8, body: &[&[u8]]) -> io::Result<()> {
        self.end_segment()?;
        self.head(tag, body.iter().map(|part| part.len() as u64).sum())?;
        body.iter().try_for_each(|part| self.out.write_all(part))
    }

    fn head(&mut self, tag: u8, length: u64) -> io::Result<()> {
        let length = u32::try_from(length)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a record of a heap dump is larger than 4 GiB"))?;
        let mut head = [0; 9];
        head[0] = tag;
        head[5..].copy_from_slice(&length.to_be_bytes());
        self.out.write_all(&head)
    }

    fn end_segment(&mut self) -> io::Result<()> {
        debug_assert_eq!(self.large, 0, "an array lacks elements");
        if !self.segment.is_empty() {
            self.head(record::HEAP_DUMP_SEGMENT, self.segment.len() as u64)?;
            self.out.write_all(&self.segment)?;
            self.segment.clear();
        }
        Ok(())
    }

    /// A text that others refer to.
    ///
    /// # Errors
    ///
    /// The output's errors; `InvalidInput` for a record of 4 GiB or more.
    pub fn name(&mut self, id: NameId, text: &[u8]) -> io::Result<()> {
        self.record(record::NAME, &[&id.0.to_be_bytes(), text])
    }

    /// A loaded class.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn load_class(
        &mut self,
        serial: ClassSerial,
        class: ObjectId,
        stack: StackSerial,
        name: NameId,
    ) -> io::Result<()> {
        let body: [&[u8]; 4] =
            [&serial.0.to_be_bytes(), &class.0.to_be_bytes(), &stack.0.to_be_bytes(), &name.0.to_be_bytes()];
        self.record(record::LOAD_CLASS, &body)
    }

    /// A frame of a stack.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn frame(&mut self, frame: &Frame) -> io::Result<()> {
        let ids = [frame.id.0, frame.method.0, frame.signature.0, frame.source.0].map(u64::to_be_bytes);
        self.record(record::FRAME, &[ids.as_flattened(), &frame.class.0.to_be_bytes(), &frame.line.to_be_bytes()])
    }

    /// A stack, innermost frame first.
    ///
    /// # Errors
    ///
    /// The output's errors; `InvalidInput` for a record of 4 GiB or more.
    pub fn trace(
        &mut self,
        serial: StackSerial,
        thread: ThreadSerial,
        frames: impl ExactSizeIterator<Item = FrameId>,
    ) -> io::Result<()> {
        let numbers = [serial.0, thread.0, frames.len() as u32].map(u32::to_be_bytes);
        let frames: Vec<[u8; ID]> = frames.map(|frame| frame.0.to_be_bytes()).collect();
        self.record(record::TRACE, &[numbers.as_flattened(), frames.as_flattened()])
    }

    /// Makes room for a sub-record that goes into the present segment.
    fn begin(&mut self, tag: u8, length: usize) -> io::Result<()> {
        if self.segment.len() + length > SEGMENT {
            self.end_segment()?;
        }
        self.segment.push(tag);
        Ok(())
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.segment.extend_from_slice(&bytes);
    }

    fn put_value(&mut self, value: Value) {
        self.segment.push(value.kind.code());
        let bytes = value.bits.to_be_bytes();
        self.segment.extend_from_slice(&bytes[ID - value.kind.size(ID)..]);
    }

    /// A root. For a global JNI reference the object's own id is written as that of the reference.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn root(&mut self, root: &Root) -> io::Result<()> {
        let thread = root.thread.unwrap_or_default().0;
        let frame = root.frame.unwrap_or(u32::MAX);
        let tag = match root.kind {
            RootKind::JniGlobal => sub_record::ROOT_JNI_GLOBAL,
            RootKind::JniLocal => sub_record::ROOT_JNI_LOCAL,
            RootKind::JavaFrame => sub_record::ROOT_JAVA_FRAME,
            RootKind::NativeStack => sub_record::ROOT_NATIVE_STACK,
            RootKind::StickyClass => sub_record::ROOT_STICKY_CLASS,
            RootKind::ThreadBlock => sub_record::ROOT_THREAD_BLOCK,
            RootKind::MonitorUsed => sub_record::ROOT_MONITOR_USED,
            RootKind::ThreadObject => sub_record::ROOT_THREAD_OBJECT,
            RootKind::Unknown => sub_record::ROOT_UNKNOWN,
        };
        self.begin(tag, 1 + 2 * ID)?;
        self.put(root.object.0.to_be_bytes());
        match root.kind {
            RootKind::JniGlobal => self.put(root.object.0.to_be_bytes()),
            RootKind::JniLocal | RootKind::JavaFrame => self.put2(thread, frame),
            RootKind::ThreadObject => self.put2(thread, root.stack.unwrap_or_default().0),
            RootKind::NativeStack | RootKind::ThreadBlock => self.put(thread.to_be_bytes()),
            RootKind::StickyClass | RootKind::MonitorUsed | RootKind::Unknown => {}
        }
        Ok(())
    }

    fn put2(&mut self, one: u32, other: u32) {
        self.put(one.to_be_bytes());
        self.put(other.to_be_bytes());
    }

    /// A class object.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn class(&mut self, class: &ClassDump) -> io::Result<()> {
        // 65,535 statics and constants at most: less than twice a segment.
        let length = 9 + 7 * ID + 11 * class.constants.len() + 17 * class.statics.len() + 9 * class.fields.len();
        self.begin(sub_record::CLASS_DUMP, length)?;
        self.put(class.id.0.to_be_bytes());
        self.put(class.stack.0.to_be_bytes());
        for id in [class.superclass, class.loader, class.signers, class.domain, ObjectId(0), ObjectId(0)] {
            self.put(id.0.to_be_bytes());
        }
        self.put(class.instance_size.to_be_bytes());
        self.put((class.constants.len() as u16).to_be_bytes());
        for &(index, value) in &class.constants {
            self.put(index.to_be_bytes());
            self.put_value(value);
        }
        self.put((class.statics.len() as u16).to_be_bytes());
        for &(name, value) in &class.statics {
            self.put(name.0.to_be_bytes());
            self.put_value(value);
        }
        self.put((class.fields.len() as u16).to_be_bytes());
        for &(name, kind) in &class.fields {
            self.put(name.0.to_be_bytes());
            self.segment.push(kind.code());
        }
        Ok(())
    }

    /// An object that is no array, with the values of its fields: those of its class first, then those of the superclass.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn instance(&mut self, id: ObjectId, stack: StackSerial, class: ObjectId, fields: &[u8]) -> io::Result<()> {
        self.begin(sub_record::INSTANCE_DUMP, 9 + 2 * ID + fields.len())?;
        self.put(id.0.to_be_bytes());
        self.put(stack.0.to_be_bytes());
        self.put(class.0.to_be_bytes());
        self.put((fields.len() as u32).to_be_bytes());
        self.segment.extend_from_slice(fields);
        Ok(())
    }

    /// Begins an array of references; its elements follow in [`elements`](Self::elements).
    ///
    /// # Errors
    ///
    /// The output's errors; `InvalidInput` for a record of 4 GiB or more.
    pub fn object_array(&mut self, id: ObjectId, stack: StackSerial, class: ObjectId, length: u32) -> io::Result<()> {
        let bytes = u64::from(length) * ID as u64;
        self.begin_array(sub_record::OBJECT_ARRAY_DUMP, 9 + 2 * ID, bytes)?;
        self.put(id.0.to_be_bytes());
        self.put(stack.0.to_be_bytes());
        self.put(length.to_be_bytes());
        self.put(class.0.to_be_bytes());
        self.head_is_complete()
    }

    /// Begins an array of primitives; its elements follow in [`contents`](Self::contents).
    ///
    /// # Errors
    ///
    /// The output's errors; `InvalidInput` for a record of 4 GiB or more.
    pub fn primitive_array(
        &mut self,
        id: ObjectId,
        stack: StackSerial,
        kind: BasicType,
        length: u32,
    ) -> io::Result<()> {
        let bytes = u64::from(length) * kind.size(ID) as u64;
        self.begin_array(sub_record::PRIMITIVE_ARRAY_DUMP, 10 + ID, bytes)?;
        self.put(id.0.to_be_bytes());
        self.put(stack.0.to_be_bytes());
        self.put(length.to_be_bytes());
        self.segment.push(kind.code());
        self.head_is_complete()
    }

    fn begin_array(&mut self, tag: u8, head: usize, bytes: u64) -> io::Result<()> {
        let whole = head as u64 + bytes;
        if whole > SEGMENT as u64 {
            self.end_segment()?;
            self.head(record::HEAP_DUMP_SEGMENT, whole)?;
            self.large = bytes;
            self.segment.push(tag);
            return Ok(());
        }
        self.begin(tag, whole as usize)
    }

    fn head_is_complete(&mut self) -> io::Result<()> {
        if self.large > 0 {
            self.out.write_all(&self.segment)?;
            self.segment.clear();
        }
        Ok(())
    }

    /// Some more elements of an array of references.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn elements(&mut self, ids: impl Iterator<Item = ObjectId>) -> io::Result<()> {
        if self.large == 0 {
            self.segment.extend(ids.flat_map(|id| id.0.to_be_bytes()));
            return Ok(());
        }
        // The segment is empty, and serves as a buffer.
        self.segment.extend(ids.flat_map(|id| id.0.to_be_bytes()));
        let buffer = std::mem::take(&mut self.segment);
        let written = self.contents(&buffer);
        self.segment = buffer;
        self.segment.clear();
        written
    }

    /// Some more elements of an array of primitives, big-endian.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn contents(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.large == 0 {
            self.segment.extend_from_slice(bytes);
            return Ok(());
        }
        self.large = self.large.saturating_sub(bytes.len() as u64);
        self.out.write_all(bytes)
    }

    /// Ends the dump and returns the output.
    ///
    /// # Errors
    ///
    /// The output's errors.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_segment()?;
        self.head(record::HEAP_DUMP_END, 0)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
