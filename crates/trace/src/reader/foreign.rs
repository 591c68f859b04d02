//! What a file is that is no trace, by its first bytes.

/// How many bytes of a file suffice.
pub(crate) const ENOUGH: usize = 18;

/// A file that is no trace, and what reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// A heap dump that Martini reads.
    #[error("it is a heap dump (HPROF); open it with `martini heap`, Eclipse MAT or VisualVM")]
    HeapDump,
    /// A heap dump of a version that Martini does not read.
    #[error("it is a heap dump (HPROF) of an unsupported version; try Eclipse MAT or VisualVM")]
    OtherHeapDump,
    /// A recording of JDK Flight Recorder.
    #[error("it is a JDK Flight Recorder recording; convert it with `martini import`")]
    FlightRecording,
    /// Text of two bytes a character.
    #[error("it is text in UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`")]
    Utf16,
    /// Something packed by gzip, inside of something that was unpacked already.
    #[error("it is gzipped twice; unpack it with `gunzip` first")]
    Gzip,
    /// Nothing that is known.
    #[error("it does not start with `<`")]
    Unknown,
}

impl Foreign {
    /// What begins so; `None` if it may be XML.
    pub(crate) fn of(beginning: &[u8]) -> Option<Self> {
        Some(match beginning {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..] => Self::Utf16,
            [b'F', b'L', b'R', 0, ..] => Self::FlightRecording,
            [0x1F, 0x8B, ..] => Self::Gzip,
            _ if beginning.starts_with(b"JAVA PROFILE 1.0.1") => Self::HeapDump,
            _ if beginning.starts_with(b"JAVA PROFILE 1.0.2") => Self::HeapDump,
            _ if beginning.starts_with(b"JAVA PROFILE ") => Self::OtherHeapDump,
            _ => return None,
        })
    }
}
