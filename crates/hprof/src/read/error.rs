//! What can go wrong while a dump is read.

use std::io;
use std::path::PathBuf;

/// Why a dump, or the rest of it, cannot be read. Every `at` is a byte of the dump, unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open the heap dump {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read the heap dump after byte {at}: {source}")]
    Io {
        /// How far it was read.
        at: u64,
        /// What the system or the unpacking said.
        source: io::Error,
    },
    /// Writing failed, where a dump is changed in its place.
    #[error("cannot write at byte {at} of the heap dump: {source}")]
    Write {
        /// Where to.
        at: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not begin like a dump.
    #[error("the file is not an HPROF heap dump: it does not start with `JAVA PROFILE 1.0.1` or `1.0.2`")]
    NotHprof,
    /// Ids have a width that no JVM has.
    #[error("ids of {0} bytes are not supported; HotSpot's have 4 or 8")]
    IdSize(u32),
    /// The file ends too early.
    #[error("the heap dump is truncated at byte {at}, inside {what}")]
    Truncated {
        /// Where the file ends.
        at: u64,
        /// What should have been whole.
        what: &'static str,
    },
    /// All segments may be whole, but there should be more.
    #[error("the heap dump is truncated at byte {at}: it has no end record")]
    NoEnd {
        /// Where the file ends.
        at: u64,
    },
    /// A record has a tag that the format does not know.
    #[error("byte {at}: {tag:#04x} is not the tag of a {level}; the heap dump is damaged")]
    Tag {
        /// Where the tag is.
        at: u64,
        /// The tag.
        tag: u8,
        /// A record or a sub-record.
        level: &'static str,
    },
    /// A sub-record of Android's dialect.
    #[error("byte {at}: {tag:#04x} is an Android sub-record; convert the dump with `hprof-conv` first")]
    Android {
        /// Where the tag is.
        at: u64,
        /// The tag.
        tag: u8,
    },
    /// A field or array has a type that the format does not know.
    #[error("byte {at}: {code} is not the code of a type; the heap dump is damaged")]
    Type {
        /// Where the code is.
        at: u64,
        /// The code.
        code: u8,
    },
    /// A record is longer or shorter than what is in it.
    #[error("byte {at}: {what} does not fit into its record; the heap dump is damaged")]
    Misfit {
        /// Where it begins.
        at: u64,
        /// What it is.
        what: &'static str,
    },
    /// A length that nothing of the kind has.
    #[error("byte {at}: {what} of {length} bytes is too long; the heap dump is damaged")]
    TooLong {
        /// Where it begins.
        at: u64,
        /// What it is.
        what: &'static str,
        /// Its length, as it says.
        length: u64,
    },
}
