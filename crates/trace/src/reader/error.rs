//! What can go wrong while a trace is read.

use std::io;
use std::path::PathBuf;

use super::{Foreign, Position};

/// Why a trace, or a part of it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open the trace {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read the trace after byte {consumed}: {source}")]
    Io {
        /// How many bytes were read before.
        consumed: u64,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing in the file.
    #[error("the trace is empty")]
    Empty,
    /// The text does not begin like XML.
    #[error("{}{} is not an XML trace: {found}", document(name), if *is_gzip { ", unpacked by gzip," } else { "" })]
    NotXml {
        /// Name of the zip entry, empty outside a zip.
        name: String,
        /// Whether the file is packed by gzip.
        is_gzip: bool,
        /// What it is instead.
        found: Foreign,
    },
    /// The zip has a form that cannot be read.
    #[error("cannot read the zip at byte {offset}: {problem}")]
    Zip {
        /// Where, in the file.
        offset: u64,
        /// What is wrong.
        problem: ZipProblem,
    },
    /// The gzip header has a form that cannot be read.
    #[error("the gzip header is broken; check the file with `gzip -t`")]
    Gzip,
    /// Compressed data is damaged.
    #[error("the compressed data is damaged before byte {offset}; the rest is lost")]
    Inflate {
        /// How far the file had been read.
        offset: u64,
    },
    /// The data came out complete, but is not what was packed.
    #[error("{} does not match its checksum: part of it is damaged", document(name))]
    Checksum {
        /// Name of the zip entry, empty outside a zip.
        name: String,
    },
    /// One element is malformed; reading continues behind it.
    #[error("{at}: {}: {problem}", element(name))]
    Malformed {
        /// Where the element begins.
        at: Position,
        /// Its name, as far as it has one.
        name: String,
        /// What is wrong with it.
        problem: Malformed,
    },
    /// A tag is longer than any trace needs.
    #[error("{at}: a tag is longer than {limit} bytes; the rest is not read")]
    TagTooLong {
        /// Where the tag begins.
        at: Position,
        /// The longest tag that is read.
        limit: usize,
    },
}

/// What can make a zip unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZipProblem {
    /// Something else stands where an entry begins.
    #[error("no entry begins there")]
    NoEntry,
    /// The entry is encrypted.
    #[error("the entry is encrypted; unpack it first")]
    Encrypted,
    /// The entry is packed by another method than deflate.
    #[error("compression method {0} is not supported; pack it again with deflate")]
    Method(u16),
    /// The entry is stored, and does not say how long it is.
    #[error("a stored entry has no length; pack it again with deflate")]
    NoLength,
}

/// What can make an element unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// An attribute that it cannot do without is absent.
    #[error("the attribute {0} is missing")]
    Missing(&'static str),
    /// A value does not have the attribute's form.
    #[error("the attribute {0} has an invalid value")]
    BadValue(&'static str),
    /// The tag is not XML.
    #[error("the tag is not well-formed")]
    Syntax,
    /// The tag has more attributes than any element has use for.
    #[error("the tag has too many attributes")]
    TooManyAttributes,
}

fn document(name: &str) -> String {
    match name {
        "" => "the file".to_owned(),
        name => format!("the zip entry {name}"),
    }
}

fn element(name: &str) -> &str {
    match name {
        "" => "an element without a name",
        name => name,
    }
}
