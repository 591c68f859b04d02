//! What the process has mapped where (`/proc/self/maps`), as far as it may be executed.
//!
//! Not by `dl_iterate_phdr`: its lock is the loader's, held while a library is loaded and its constructors run, by whichever
//! thread that is.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An address that lies in no mapping has the file read again, but not more often than this, whatever addresses come.
const LEAST_AGE: Duration = Duration::from_millis(100);
/// An older list is read again: a library may have been unloaded, and another may lie where it was.
const MOST_AGE: Duration = Duration::from_secs(10);
/// Mappings that are kept, at most.
const MAPPINGS: usize = 1 << 14;
/// What the kernel appends to the path of a file that is no longer there.
const DELETED: &str = " (deleted)";
const VDSO: &str = "[vdso]";

/// An executable range of addresses and what is mapped there.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Of the start in the file, in bytes.
    pub(super) offset: u64,
    /// As in the line, all that names the file: device, number, path.
    file: Arc<str>,
}

/// Which object lies where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectKey {
    file: Arc<str>,
    /// Where the file's first byte is, or would be.
    base: usize,
}

impl Mapping {
    /// `None` if it is of no file: then it is code that the process made itself.
    pub(super) fn key(&self) -> Option<ObjectKey> {
        let is_object = self.path().is_some() || self.is_vdso();
        is_object.then(|| ObjectKey { file: self.file.clone(), base: self.start.wrapping_sub(self.offset as usize) })
    }

    fn name(&self) -> &str {
        self.file.splitn(3, ' ').nth(2).unwrap_or_default().trim_start()
    }

    /// The code that the kernel lends to each process.
    pub(super) fn is_vdso(&self) -> bool {
        self.name() == VDSO
    }

    /// Whether the file that was mapped is no longer at its path.
    pub(super) fn is_deleted(&self) -> bool {
        self.name().ends_with(DELETED)
    }

    /// The path of its file, which need not be there.
    pub(super) fn path(&self) -> Option<&Path> {
        let name = self.name();
        name.starts_with('/').then(|| Path::new(name.strip_suffix(DELETED).unwrap_or(name)))
    }

    /// The file as it was mapped, which only some processes may open.
    pub(super) fn kept_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/map_files/{:x}-{:x}", self.start, self.end))
    }

    /// The name of the file without its folders.
    pub(super) fn library(&self) -> Arc<str> {
        let name = self.path().and_then(Path::file_name).map(|name| name.to_string_lossy());
        name.map_or_else(|| self.name().trim_matches(['[', ']']).into(), |name| name.as_ref().into())
    }
}

/// The list, as it was when it was last read.
pub(super) struct Mappings {
    /// In the order of addresses.
    executable: Vec<Mapping>,
    read_at: Option<Instant>,
}

impl Mappings {
    pub(super) fn new() -> Mappings {
        Mappings { executable: Vec::new(), read_at: None }
    }

    /// The mapping of an address.
    pub(super) fn of(&mut self, address: usize) -> Option<&Mapping> {
        let age = self.read_at.map_or(Duration::MAX, |at| at.elapsed());
        if age > MOST_AGE || (age > LEAST_AGE && self.find(address).is_none()) {
            self.read();
        }
        self.find(address).map(|index| &self.executable[index])
    }

    fn find(&self, address: usize) -> Option<usize> {
        let index = self.executable.partition_point(|mapping| mapping.start <= address).checked_sub(1)?;
        (address < self.executable[index].end).then_some(index)
    }

    /// The code of a loaded library, by its file name.
    pub(super) fn code_of(&self, library: &str) -> Option<&Mapping> {
        self.executable.iter().find(|mapping| mapping.path().is_some() && *mapping.library() == *library)
    }

    /// Reads the list again.
    pub(super) fn read(&mut self) {
        let Ok(file) = File::open("/proc/self/maps") else { return };
        self.executable = parse(BufReader::new(file));
        self.read_at = Some(Instant::now());
    }

    /// Whether the address may be read at this moment.
    pub(super) fn is_mapped(&self, address: usize) -> bool {
        let Ok(file) = File::open("/proc/self/maps") else { return false };
        let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        lines.any(|line| {
            let line = String::from_utf8_lossy(&line);
            range(&line).is_some_and(|(start, end, rest)| (start..end).contains(&address) && rest.starts_with('r'))
        })
    }

    /// Bytes that the list takes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.executable.iter().map(|mapping| size_of::<Mapping>() + mapping.file.len()).sum()
    }
}

/// The executable ranges of the list.
pub(super) fn parse(list: impl BufRead) -> Vec<Mapping> {
    let lines = list.split(b'\n').map_while(Result::ok);
    let mapping = |line: Vec<u8>| {
        let line = String::from_utf8_lossy(&line);
        let (start, end, rest) = range(&line)?;
        let (rights, rest) = rest.split_once(' ')?;
        let (offset, file) = rest.split_once(' ')?;
        let offset = u64::from_str_radix(offset, 16).ok()?;
        rights.contains('x').then(|| Mapping { start, end, offset, file: file.trim_end().into() })
    };
    lines.filter_map(mapping).take(MAPPINGS).collect()
}

/// Start and end of a line's range, and what follows.
fn range(line: &str) -> Option<(usize, usize, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/dbus daemon
35b1800000-35b1820000 r--p 00000000 08:02 135522  /usr/lib64/ld.so
35b1820000-35b1a1f000 r-xp 00020000 08:02 135522  /usr/lib64/ld.so (deleted)
7f0000000000-7f0000010000 rwxp 00000000 00:00 0\u{20}
7ffff7fc5000-7ffff7fc7000 r-xp 00000000 00:00 0                          [vdso]
";

    #[test]
    fn only_what_may_be_executed_is_kept() {
        let found = parse(LIST.as_bytes());
        let shown: Vec<_> =
            found.iter().map(|m| (m.start, m.offset, m.library().to_string(), m.is_deleted())).collect();
        assert_eq!(
            shown,
            [
                (0x40_0000, 0x1000, "dbus daemon".into(), false),
                (0x35_b182_0000, 0x2_0000, "ld.so".into(), true),
                (0x7f00_0000_0000, 0, String::new(), false),
                (0x7fff_f7fc_5000, 0, "vdso".into(), false),
            ]
        );
        assert_eq!(found[1].path(), Some(Path::new("/usr/lib64/ld.so")));
        assert_eq!(found.iter().map(|mapping| mapping.key().is_some()).collect::<Vec<_>>(), [true, true, false, true]);
    }

    #[test]
    fn an_address_is_in_one_mapping_or_none() {
        let mut mappings = Mappings { executable: parse(LIST.as_bytes()), read_at: None };
        assert_eq!(mappings.find(0x40_0000), Some(0));
        assert_eq!(mappings.find(0x45_1fff), Some(0));
        assert_eq!(mappings.find(0x45_2000), None);
        assert_eq!(mappings.find(0), None);
        // The list is read when it never was.
        let own = an_address_is_in_one_mapping_or_none as fn() as usize;
        assert!(mappings.of(own).is_some_and(|mapping| mapping.path().is_some()));
        assert!(mappings.is_mapped(own) && !mappings.is_mapped(0));
    }
}
