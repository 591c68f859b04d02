//! What an executable file is made for: whether a JVM in it could load the agent.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::launch::glibc;

/// Longer names of interpreters are no names.
const LONGEST_NAME: u64 = 4096;
/// Libraries are shorter.
const LONGEST_LIBRARY: u64 = 1 << 30;
/// The longest header.
const HEADER: u64 = 64;

/// What a library has to share with the program that loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    is_64_bit: bool,
    /// The number of the processor's kind (`e_machine`).
    machine: u16,
    /// Unknown for programs without an interpreter, which load no libraries.
    libc: Option<Libc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Libc {
    Musl,
    Other,
}

impl Platform {
    /// That of an ELF file; `None` for other files.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Platform>> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        file.by_ref().take(HEADER).read_to_end(&mut head)?;
        let Some(header) = Header::read(&head) else { return Ok(None) };
        let libc = header.interpreter(&mut file)?.map(|name| {
            let is_musl = name.windows(7).any(|part| part == b"ld-musl");
            if is_musl { Libc::Musl } else { Libc::Other }
        });
        Ok(Some(Platform { is_64_bit: header.is_64_bit, machine: header.machine, libc }))
    }

    /// That of a JVM whose program is of this one: that of HotSpot's library if the program is an emulator of another processor.
    ///
    /// # Errors
    /// The library cannot be read.
    pub(crate) fn or_emulated(self, mut hotspot: File) -> io::Result<Platform> {
        let mut bytes = Vec::new();
        hotspot.by_ref().take(HEADER).read_to_end(&mut bytes)?;
        if Header::read(&bytes).is_none_or(|header| header.machine == self.machine) {
            return Ok(self);
        }
        hotspot.take(LONGEST_LIBRARY).read_to_end(&mut bytes)?;
        Ok(Platform::of_library_with(&bytes).unwrap_or(self))
    }

    /// That of a library that the agent's file is; `None` for other files.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of_library(path: &Path) -> io::Result<Option<Platform>> {
        Ok(Platform::of_library_with(&fs::read(path)?))
    }

    /// The same of a library with these contents.
    pub(crate) fn of_library_with(bytes: &[u8]) -> Option<Platform> {
        let header = Header::read(bytes)?;
        let is_glibc = glibc::newest(bytes).is_ok_and(|release| release.is_some());
        let libc = Some(if is_glibc { Libc::Other } else { Libc::Musl });
        Some(Platform { is_64_bit: header.is_64_bit, machine: header.machine, libc })
    }

    /// Why a JVM in a program of this platform cannot load an agent of that one: part of a sentence.
    pub(crate) fn misfit(self, agent: Platform) -> Option<&'static str> {
        if self.is_64_bit != agent.is_64_bit {
            return Some(if agent.is_64_bit { "is a 32-bit program" } else { "is a 64-bit program" });
        }
        if self.machine != agent.machine {
            return Some("is made for another processor");
        }
        match (self.libc?, agent.libc?) {
            (Libc::Musl, Libc::Other) => Some("uses musl as its C library, and this Martini is built for glibc"),
            (Libc::Other, Libc::Musl) => Some("uses glibc as its C library, and this Martini is built for musl"),
            _ => None,
        }
    }
}

/// The fields of an ELF header that matter here.
struct Header {
    is_64_bit: bool,
    is_big_endian: bool,
    machine: u16,
    /// Where the program headers are, how long each is, and how many there are.
    programs: (u64, u16, u16),
}

impl Header {
    fn read(head: &[u8]) -> Option<Header> {
        if !head.starts_with(b"\x7fELF") {
            return None;
        }
        let is_64_bit = *head.get(4)? == 2;
        let mut header = Header { is_64_bit, is_big_endian: *head.get(5)? == 2, machine: 0, programs: (0, 0, 0) };
        header.machine = header.number(head, 18, 2)? as u16;
        let [offset, entry_size, entries] = if is_64_bit { [32, 54, 56] } else { [28, 42, 44] };
        header.programs = (
            header.number(head, offset, if is_64_bit { 8 } else { 4 })?,
            header.number(head, entry_size, 2)? as u16,
            header.number(head, entries, 2)? as u16,
        );
        Some(header)
    }

    /// An unsigned number of some bytes.
    fn number(&self, bytes: &[u8], at: usize, length: usize) -> Option<u64> {
        let bytes = bytes.get(at..at + length)?.iter();
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        Some(if self.is_big_endian { bytes.fold(0, add) } else { bytes.rev().fold(0, add) })
    }

    /// The name of the program that loads this one and its libraries.
    fn interpreter(&self, file: &mut File) -> io::Result<Option<Vec<u8>>> {
        const PT_INTERP: u64 = 3;
        let (start, entry_size, entries) = self.programs;
        file.seek(SeekFrom::Start(start))?;
        let mut table = Vec::new();
        file.take(u64::from(entry_size) * u64::from(entries)).read_to_end(&mut table)?;
        let [offset, size, word] = if self.is_64_bit { [8, 32, 8] } else { [4, 16, 4] };
        let found = table.chunks_exact(usize::from(entry_size).max(1)).find_map(|entry| {
            (self.number(entry, 0, 4)? == PT_INTERP)
                .then_some((self.number(entry, offset, word)?, self.number(entry, size, word)?))
        });
        let Some((offset, size)) = found else { return Ok(None) };
        file.seek(SeekFrom::Start(offset))?;
        let mut name = Vec::new();
        file.take(size.min(LONGEST_NAME)).read_to_end(&mut name)?;
        Ok(Some(name))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The beginning of an executable with that interpreter.
    fn made(is_64_bit: bool, machine: u16, interpreter: &str) -> Vec<u8> {
        let (header, entry) = if is_64_bit { (64, 56) } else { (52, 32) };
        let mut file = vec![0; header + entry];
        file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', if is_64_bit { 2 } else { 1 }, 1]);
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(18, &machine.to_le_bytes());
        let name_at = header + entry;
        if is_64_bit {
            put(32, &(header as u64).to_le_bytes());
            put(54, &[entry as u8, 0, u8::from(!interpreter.is_empty()), 0]);
            put(header, &3u32.to_le_bytes());
            put(header + 8, &(name_at as u64).to_le_bytes());
            put(header + 32, &(interpreter.len() as u64).to_le_bytes());
        } else {
            put(28, &(header as u32).to_le_bytes());
            put(42, &[entry as u8, 0, u8::from(!interpreter.is_empty()), 0]);
            put(header, &3u32.to_le_bytes());
            put(header + 4, &(name_at as u32).to_le_bytes());
            put(header + 16, &(interpreter.len() as u32).to_le_bytes());
        }
        file.extend(interpreter.as_bytes());
        file
    }

    fn read(bytes: &[u8]) -> Option<Platform> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Platform::of(file.path()).unwrap()
    }

    const X86_64: u16 = 62;
    const I386: u16 = 3;
    const AARCH64: u16 = 183;
    const GLIBC: &str = "/lib64/ld-linux-x86-64.so.2";

    #[test]
    fn what_differs_is_named() {
        let agent = read(&made(true, X86_64, GLIBC)).unwrap();
        for (program, why) in [
            (made(true, X86_64, GLIBC), None),
            (made(true, X86_64, "/nix/store/glibc/lib/ld-linux-x86-64.so.2"), None),
            // It loads nothing, but may start others.
            (made(true, X86_64, ""), None),
            (made(false, I386, "/lib/ld-linux.so.2"), Some("is a 32-bit program")),
            (made(true, AARCH64, "/lib/ld-linux-aarch64.so.1"), Some("is made for another processor")),
            (
                made(true, X86_64, "/lib/ld-musl-x86_64.so.1"),
                Some("uses musl as its C library, and this Martini is built for glibc"),
            ),
        ] {
            assert_eq!(read(&program).unwrap().misfit(agent), why);
        }
    }

    #[test]
    fn a_jvm_in_an_emulator_is_what_its_library_is() {
        let emulator = read(&made(true, X86_64, "")).unwrap();
        let in_it = |library: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(library).unwrap();
            file.rewind().unwrap();
            emulator.or_emulated(file).unwrap()
        };
        assert_eq!(in_it(&made(true, X86_64, "")), emulator);
        assert_eq!(in_it(b"no library"), emulator);
        let emulated = in_it(&made(true, AARCH64, ""));
        assert_eq!((emulated.machine, emulated.libc), (AARCH64, Some(Libc::Musl)));
    }

    #[test]
    fn what_is_no_elf_file_is_not_judged() {
        for bytes in [&b"#!/bin/sh\nexec java\n"[..], b"", b"\x7fELF", &made(true, X86_64, GLIBC)[..40]] {
            assert_eq!(read(bytes), None);
        }
        // A table and a name beyond the end.
        let cut = read(&made(true, X86_64, GLIBC)[..64]).unwrap();
        assert_eq!(cut.libc, None);
    }

    #[test]
    fn a_library_names_its_c_library() {
        let mut glibc = made(true, X86_64, "");
        let musl = glibc.clone();
        glibc.extend(b"\0libc.so.6\0GLIBC_2.2.5\0");
        let program = read(&made(true, X86_64, GLIBC)).unwrap();
        assert_eq!(program.misfit(Platform::of_library_with(&glibc).unwrap()), None);
        assert!(program.misfit(Platform::of_library_with(&musl).unwrap()).is_some());
        assert_eq!(Platform::of_library_with(b"no library"), None);
    }

    #[test]
    fn this_program_fits_itself() {
        let own = Platform::of(Path::new("/proc/self/exe")).unwrap().unwrap();
        assert_eq!(own.misfit(own), None);
        assert!(own.libc.is_some());
    }
}
