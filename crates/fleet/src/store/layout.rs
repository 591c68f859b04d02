//! Where files are: `TABLE/dt=2026-11-29/service=shop/RUN-RECORDING.parquet`, names of a release in
//! `TABLE/service=shop/release=1.4/RUN-RECORDING.parquet`, and what was merged in `compact-N.parquet`.

use std::fmt::Write;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::columns::Rows;
use crate::schema::{Partition, Table};
use trace::date::Date;

/// File systems allow 255 bytes.
const MOST_BYTES: usize = 200;

const EXTENSION: &str = ".parquet";
const MERGED: &str = "compact-";

/// A part of a table, as the folders of a store have it: names are encoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    Day { date: Date, service: String },
    Release { service: String, release: String },
}

impl Part {
    /// The folder of a part, below that of the table.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            Part::Day { date, service } => PathBuf::from(format!("dt={date}/service={service}")),
            Part::Release { service, release } => PathBuf::from(format!("service={service}/release={release}")),
        }
    }

    fn of(partition: Partition, outer: &str, inner: &str) -> Option<Part> {
        match partition {
            Partition::Day => {
                let date = Date::parse(outer.strip_prefix("dt=")?)?;
                Some(Part::Day { date, service: inner.strip_prefix("service=")?.to_owned() })
            }
            Partition::Release => Some(Part::Release {
                service: outer.strip_prefix("service=")?.to_owned(),
                release: inner.strip_prefix("release=")?.to_owned(),
            }),
        }
    }
}

/// A name as a folder can have it: what is neither a letter or digit of ASCII nor `-`, `_` or `.` is encoded as in URLs. `None` if that is
/// empty or too long.
pub(super) fn encoded(name: &str) -> Option<String> {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    (1..=MOST_BYTES).contains(&text.len()).then_some(text)
}

/// What the name of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileName {
    /// It has the rows of one run, of this recording.
    Single { run: i64, recording: i64 },
    /// It has those of several; the number grows.
    Merged(i64),
}

impl FileName {
    /// That of a file of a table; `None` if it is something else.
    pub(super) fn parse(name: &str) -> Option<FileName> {
        let stem = name.strip_suffix(EXTENSION)?;
        if let Some(number) = stem.strip_prefix(MERGED) {
            return number.parse().ok().map(FileName::Merged);
        }
        let (run, recording) = stem.split_once('-')?;
        let id = |text: &str| u64::from_str_radix(text, 16).ok().map(|id| id as i64);
        Some(FileName::Single { run: id(run)?, recording: id(recording)? })
    }

    /// The number of a file with the rows of several runs; 0 of others.
    pub(super) fn merged(self) -> i64 {
        match self {
            FileName::Single { .. } => 0,
            FileName::Merged(number) => number,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            FileName::Single { run, recording } => format!("{:016x}-{:016x}{EXTENSION}", run as u64, recording as u64),
            FileName::Merged(number) => format!("{MERGED}{number:08}{EXTENSION}"),
        }
    }
}

/// A file of a table: its path below the store, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    pub(super) name: FileName,
}

/// The folder of a part of a table, below the store.
pub(super) fn folder(table: &Table, part: &Part) -> PathBuf {
    Path::new(table.name).join(part.folder())
}

/// The names in a folder, sorted; none if there is no such folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<String>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// The parts of a table, sorted.
pub(super) fn parts(root: &Path, table: &Table) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for outer in names(&root.join(table.name))? {
        for inner in names(&root.join(table.name).join(&outer))? {
            parts.extend(Part::of(table.partition, &outer, &inner));
        }
    }
    parts.sort();
    Ok(parts)
}

/// The files of a part, sorted by their names.
pub(super) fn files(root: &Path, table: &Table, part: &Part) -> io::Result<Vec<TableFile>> {
    let folder = folder(table, part);
    let file = |name: String| FileName::parse(&name).map(|parsed| TableFile { path: folder.join(name), name: parsed });
    Ok(names(&root.join(&folder))?.into_iter().filter_map(file).collect())
}

/// The part of a table that the rows of a run belong to.
pub(super) fn part_of(rows: &Rows, date: Date, service: &str, release: &str) -> Part {
    match rows.table.partition {
        Partition::Day => Part::Day { date, service: service.to_owned() },
        Partition::Release => Part::Release { service: service.to_owned(), release: release.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services_are_folders() {
        assert_eq!(encoded("shop-1.4").as_deref(), Some("shop-1.4"));
        assert_eq!(encoded("a/b=ü %").as_deref(), Some("a%2Fb%3D%C3%BC%20%25"));
        assert_eq!((encoded(""), encoded(&"ü".repeat(40))), (None, None));
    }

    #[test]
    fn names_of_files_are_read_as_they_are_written() {
        for name in [FileName::Single { run: -7, recording: i64::MAX }, FileName::Merged(3)] {
            assert_eq!(FileName::parse(&name.text()), Some(name));
        }
        for text in ["", "x.parquet", "compact-x.parquet", "0-0", "_staging"] {
            assert_eq!(FileName::parse(text), None, "{text}");
        }
    }
}
