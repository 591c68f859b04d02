//! What is wrong with a recording.

use std::io;

use thiserror::Error;

/// Why bytes make no sense.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Damage {
    /// Something is longer than what is left.
    #[error("something is longer than what is left of it")]
    TooShort,
    /// A text has no known encoding.
    #[error("a text has an encoding that does not exist")]
    Text,
    /// Types refer to each other without an end, or to types that are not declared.
    #[error("its types are not declared as they should be")]
    Types,
    /// A few bytes are to become many.
    #[error("its events repeat long texts without an end")]
    TooLarge,
    /// An event is shorter than its size says, or has none.
    #[error("an event has a size that cannot be")]
    Size,
}

/// Why a recording cannot be read; a sentence that goes behind the name of the file.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("is no recording of JDK Flight Recorder; it does not begin with `FLR`")]
    Foreign,
    /// It is packed.
    #[error("is packed by gzip; unpack it with `gunzip` first")]
    Gzip,
    /// It is of a version that is not known.
    #[error("is a flight recording of version {0}; versions 1 and 2 are read, which JDK 9 and later write")]
    Version(u64),
    /// The JVM still writes it, or was killed.
    #[error(
        "is a flight recording without its end: it is still being written, or the JVM was killed; `jfr assemble` may mend it"
    )]
    Unfinished,
    /// It is damaged.
    #[error("is a damaged flight recording: {damage}, in the chunk at byte {chunk}")]
    Damaged {
        /// What is wrong.
        damage: Damage,
        /// Where the chunk begins.
        chunk: u64,
    },
}
