//! What reading and writing share: ids, types, tags.

use std::fmt;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident($type:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $type);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

id! {
    /// An object; in dumps of the JVM its address. 0 is null.
    ObjectId(u64);
    /// A text of the dump: the name of a class, field, method or file.
    NameId(u64);
    /// A frame of a stack.
    FrameId(u64);
    /// A stack; 0 is none.
    StackSerial(u32);
    /// A class, where frames name it.
    ClassSerial(u32);
    /// A thread.
    ThreadSerial(u32);
}

/// The type of a field or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BasicType {
    /// A reference.
    Object,
    /// `boolean`
    Boolean,
    /// `char`
    Char,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `byte`
    Byte,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `long`
    Long,
}

impl BasicType {
    /// The type with a code of the format.
    pub fn of_code(code: u8) -> Option<Self> {
        Some(match code {
            2 => Self::Object,
            4 => Self::Boolean,
            5 => Self::Char,
            6 => Self::Float,
            7 => Self::Double,
            8 => Self::Byte,
            9 => Self::Short,
            10 => Self::Int,
            11 => Self::Long,
            _ => return None,
        })
    }

    /// The code of the format.
    pub fn code(self) -> u8 {
        match self {
            Self::Object => 2,
            Self::Boolean => 4,
            Self::Char => 5,
            Self::Float => 6,
            Self::Double => 7,
            Self::Byte => 8,
            Self::Short => 9,
            Self::Int => 10,
            Self::Long => 11,
        }
    }

    /// Bytes of a value in the dump, where ids have `id_size` bytes.
    pub fn size(self, id_size: usize) -> usize {
        match self {
            Self::Object => id_size,
            Self::Boolean | Self::Byte => 1,
            Self::Char | Self::Short => 2,
            Self::Float | Self::Int => 4,
            Self::Double | Self::Long => 8,
        }
    }

    /// How Java spells it; a reference is an `Object`.
    pub fn java_name(self) -> &'static str {
        match self {
            Self::Object => "Object",
            Self::Boolean => "boolean",
            Self::Char => "char",
            Self::Float => "float",
            Self::Double => "double",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Int => "int",
            Self::Long => "long",
        }
    }
}

/// The value of a field, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its type.
    pub kind: BasicType,
    /// Its bits, not extended by a sign.
    pub bits: u64,
}

impl Value {
    /// The object that it refers to; `None` for null and for what is no reference.
    pub fn object(self) -> Option<ObjectId> {
        (self.kind == BasicType::Object && self.bits != 0).then_some(ObjectId(self.bits))
    }
}

/// As Java prints it; a reference as its id.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits;
        match self.kind {
            BasicType::Object if bits == 0 => f.write_str("null"),
            BasicType::Object => write!(f, "0x{bits:x}"),
            BasicType::Boolean => (bits != 0).fmt(f),
            BasicType::Char => match char::from_u32(bits as u32) {
                Some(c) => write!(f, "{c:?}"),
                None => write!(f, "'\\u{bits:04x}'"),
            },
            BasicType::Float => f32::from_bits(bits as u32).fmt(f),
            BasicType::Double => f64::from_bits(bits).fmt(f),
            BasicType::Byte => (bits as i8).fmt(f),
            BasicType::Short => (bits as i16).fmt(f),
            BasicType::Int => (bits as i32).fmt(f),
            BasicType::Long => (bits as i64).fmt(f),
        }
    }
}

/// Why the collector keeps an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootKind {
    /// A global JNI reference.
    JniGlobal,
    /// A local JNI reference.
    JniLocal,
    /// A local variable of a Java frame.
    JavaFrame,
    /// The stack of a native frame.
    NativeStack,
    /// A class of the system loader.
    StickyClass,
    /// A block of the VM's that belongs to a thread.
    ThreadBlock,
    /// A monitor in use.
    MonitorUsed,
    /// A live thread.
    ThreadObject,
    /// None of the others.
    Unknown,
}

/// Tags of records.
pub(crate) mod record {
    pub(crate) const NAME: u8 = 0x01;
    pub(crate) const LOAD_CLASS: u8 = 0x02;
    pub(crate) const UNLOAD_CLASS: u8 = 0x03;
    pub(crate) const FRAME: u8 = 0x04;
    pub(crate) const TRACE: u8 = 0x05;
    pub(crate) const ALLOC_SITES: u8 = 0x06;
    pub(crate) const HEAP_SUMMARY: u8 = 0x07;
    pub(crate) const START_THREAD: u8 = 0x0A;
    pub(crate) const END_THREAD: u8 = 0x0B;
    pub(crate) const HEAP_DUMP: u8 = 0x0C;
    pub(crate) const CPU_SAMPLES: u8 = 0x0D;
    pub(crate) const CONTROL_SETTINGS: u8 = 0x0E;
    pub(crate) const HEAP_DUMP_SEGMENT: u8 = 0x1C;
    pub(crate) const HEAP_DUMP_END: u8 = 0x2C;

    /// Whether the format has records of this tag.
    pub(crate) fn is_known(tag: u8) -> bool {
        const KNOWN: [u8; 14] = [
            NAME,
            LOAD_CLASS,
            UNLOAD_CLASS,
            FRAME,
            TRACE,
            ALLOC_SITES,
            HEAP_SUMMARY,
            START_THREAD,
            END_THREAD,
            HEAP_DUMP,
            CPU_SAMPLES,
            CONTROL_SETTINGS,
            HEAP_DUMP_SEGMENT,
            HEAP_DUMP_END,
        ];
        KNOWN.contains(&tag)
    }
}

/// Tags of sub-records.
pub(crate) mod sub_record {
    pub(crate) const ROOT_JNI_GLOBAL: u8 = 0x01;
    pub(crate) const ROOT_JNI_LOCAL: u8 = 0x02;
    pub(crate) const ROOT_JAVA_FRAME: u8 = 0x03;
    pub(crate) const ROOT_NATIVE_STACK: u8 = 0x04;
    pub(crate) const ROOT_STICKY_CLASS: u8 = 0x05;
    pub(crate) const ROOT_THREAD_BLOCK: u8 = 0x06;
    pub(crate) const ROOT_MONITOR_USED: u8 = 0x07;
    pub(crate) const ROOT_THREAD_OBJECT: u8 = 0x08;
    pub(crate) const CLASS_DUMP: u8 = 0x20;
    pub(crate) const INSTANCE_DUMP: u8 = 0x21;
    pub(crate) const OBJECT_ARRAY_DUMP: u8 = 0x22;
    pub(crate) const PRIMITIVE_ARRAY_DUMP: u8 = 0x23;
    pub(crate) const ROOT_UNKNOWN: u8 = 0xFF;

    /// Whether the format has sub-records of this tag.
    #[inline]
    pub(crate) fn is_known(tag: u8) -> bool {
        matches!(
            tag,
            ROOT_JNI_GLOBAL..=ROOT_THREAD_OBJECT | CLASS_DUMP..=PRIMITIVE_ARRAY_DUMP | ROOT_UNKNOWN
        )
    }

    /// What only Android's dumps have.
    pub(crate) const ANDROID: [u8; 9] = [0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x8E, 0x90, 0xC3, 0xFE];
}
