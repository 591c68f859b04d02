//! What is wrong with a recording.

use std::io;

use thiserror::Error;

/// Why bytes make no sense.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Damage {
    /// Something is longer than what is left.
    #[error("a field is longer than the rest of the chunk")]
    TooShort,
    /// A text has no known encoding.
    #[error("a string has an unknown encoding")]
    Text,
    /// Types refer to each other without an end, or to types that are not declared.
    #[error("its type declarations are invalid")]
    Types,
    /// A few bytes are to become many.
    #[error("its events repeat long strings endlessly")]
    TooLarge,
    /// An event is shorter than its size says, or has none.
    #[error("an event has an impossible size")]
    Size,
}

/// Why a recording cannot be read; a sentence that goes behind the name of the file.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("is not a JDK Flight Recorder recording; it does not start with `FLR`")]
    Foreign,
    /// It is packed.
    #[error("is gzipped; unpack it with `gunzip` first")]
    Gzip,
    /// It is of a version that is not known.
    #[error("is a flight recording of version {0}; supported are versions 1 and 2, of JDK 9 and later")]
    Version(u64),
    /// The JVM still writes it, or was killed.
    #[error("is an incomplete flight recording: it is still being written, or the JVM was killed; try `jfr assemble`")]
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
