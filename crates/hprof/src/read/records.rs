//! What a reader delivers.

use crate::{BasicType, ClassSerial, FrameId, NameId, ObjectId, RootKind, StackSerial, ThreadSerial, Value};

/// One record, or a part of a large one.
#[derive(Debug)]
pub enum Record<'a> {
    /// A text that others refer to; modified UTF-8, as a rule.
    Name {
        /// Its id.
        id: NameId,
        /// Its bytes.
        text: &'a [u8],
    },
    /// A class was loaded.
    LoadClass {
        /// By what frames name it.
        serial: ClassSerial,
        /// The class object.
        class: ObjectId,
        /// Its internal name (`java/lang/String`, `[I`).
        name: NameId,
    },
    /// A frame of a stack.
    Frame(Frame),
    /// A stack.
    Trace {
        /// By what objects and roots name it.
        serial: StackSerial,
        /// The thread, where the stack is one of a thread.
        thread: ThreadSerial,
        /// The frames, innermost first.
        frames: Ids<'a>,
    },
    /// A root: an object that the collector keeps although no object refers to it.
    Root(Root),
    /// A class object with its static fields.
    Class(&'a ClassDump),
    /// An object that is no array.
    Instance {
        /// The object.
        id: ObjectId,
        /// Where it was allocated.
        stack: StackSerial,
        /// Its class.
        class: ObjectId,
        /// The values of its fields: those of its class in the order of the class dump, then those of the superclass.
        fields: &'a [u8],
    },
    /// An array of references; its elements follow in [`Record::Elements`].
    ObjectArray {
        /// The array.
        id: ObjectId,
        /// Where it was allocated.
        stack: StackSerial,
        /// The array class.
        class: ObjectId,
        /// How many elements it has.
        length: u32,
    },
    /// The next elements of the array before.
    Elements(Ids<'a>),
    /// An array of primitives; its contents follow in [`Record::Contents`].
    PrimitiveArray {
        /// The array.
        id: ObjectId,
        /// Where it was allocated.
        stack: StackSerial,
        /// The type of the elements.
        kind: BasicType,
        /// How many elements it has.
        length: u32,
    },
    /// The next contents of the array before, whole elements, big-endian.
    Contents(&'a [u8]),
    /// A record that says nothing about the heap.
    Other,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its id.
    pub id: FrameId,
    /// The method's name.
    pub method: NameId,
    /// The method's descriptor.
    pub signature: NameId,
    /// The source file; 0 if unknown.
    pub source: NameId,
    /// The class that declares the method.
    pub class: ClassSerial,
    /// The source line; 0 and less if unknown, compiled or native.
    pub line: i32,
}

/// A root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Why the object is kept.
    pub kind: RootKind,
    /// The object.
    pub object: ObjectId,
    /// The thread, for roots that belong to one.
    pub thread: Option<ThreadSerial>,
    /// For a thread: its stack.
    pub stack: Option<StackSerial>,
    /// For a local variable: which frame of the thread's stack, from 0; `None` if unknown.
    pub frame: Option<u32>,
}

/// A class object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassDump {
    /// The class object.
    pub id: ObjectId,
    /// Where it was loaded.
    pub stack: StackSerial,
    /// The superclass; 0 for none.
    pub superclass: ObjectId,
    /// The class loader; 0 for the one of the JVM.
    pub loader: ObjectId,
    /// The signers; 0 for none.
    pub signers: ObjectId,
    /// The protection domain; 0 for none.
    pub domain: ObjectId,
    /// Bytes of an instance, as the dumper counts them. HotSpot writes how many bytes the fields take in the dump.
    pub instance_size: u32,
    /// Constants that the dumper lists, with their indices.
    pub constants: Vec<(u16, Value)>,
    /// Static fields.
    pub statics: Vec<(NameId, Value)>,
    /// Fields of the instances, without those of the superclass.
    pub fields: Vec<(NameId, BasicType)>,
}

/// Ids as they lie in the dump.
#[derive(Clone, Copy, Debug)]
pub struct Ids<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) size: usize,
}

impl<'a> Ids<'a> {
    /// The ids in their order; 0 is null.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u64> + 'a {
        let size = self.size;
        self.bytes.chunks_exact(size).map(move |bytes| big_endian(bytes, size))
    }

    /// Number of ids.
    pub fn len(self) -> usize {
        self.bytes.len() / self.size
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }
}

/// The number in the first `size` bytes: 1, 2, 4 or 8.
#[inline]
pub(super) fn big_endian(bytes: &[u8], size: usize) -> u64 {
    match (size, bytes) {
        (8, &[a, b, c, d, e, f, g, h, ..]) => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        (4, &[a, b, c, d, ..]) => u32::from_be_bytes([a, b, c, d]).into(),
        (2, &[a, b, ..]) => u16::from_be_bytes([a, b]).into(),
        (_, bytes) => bytes.first().copied().unwrap_or(0).into(),
    }
}

/// Takes the values of an instance's fields apart.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    id_size: usize,
}

impl<'a> Fields<'a> {
    /// The fields of an instance, in a dump with ids of this many bytes.
    pub fn new(bytes: &'a [u8], id_size: usize) -> Self {
        Fields { bytes, id_size }
    }

    /// The value at an offset, if there are bytes enough.
    pub fn at(bytes: &'a [u8], offset: usize, kind: BasicType, id_size: usize) -> Option<Value> {
        Self::new(bytes.get(offset..)?, id_size).next(kind)
    }

    /// The next value, if there are bytes enough.
    pub fn next(&mut self, kind: BasicType) -> Option<Value> {
        let size = kind.size(self.id_size);
        let (value, rest) = self.bytes.split_at_checked(size)?;
        self.bytes = rest;
        Some(Value { kind, bits: big_endian(value, size) })
    }
}
