//! What an executable file is made for: whether a JVM in it could load the agent.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use object::Endianness;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::launch::glibc;

/// Programs and libraries are shorter.
const LONGEST: u64 = 1 << 30;
/// The longest header.
const HEADER: u64 = 64;
/// Linkers put the program's headers and the name of its interpreter in front.
const FRONT: u64 = 1 << 20;

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
        let mut bytes = Vec::new();
        file.by_ref().take(HEADER).read_to_end(&mut bytes)?;
        if Header::read(&bytes).is_some() {
            file.take(FRONT).read_to_end(&mut bytes)?;
        }
        Ok(Header::read(&bytes).map(|Header { is_64_bit, machine, interpreter }| {
            let libc = interpreter.map(|name| {
                let is_musl = name.windows(7).any(|part| part == b"ld-musl");
                if is_musl { Libc::Musl } else { Libc::Other }
            });
            Platform { is_64_bit, machine, libc }
        }))
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
        hotspot.take(LONGEST).read_to_end(&mut bytes)?;
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

/// What matters here of an ELF file.
struct Header<'a> {
    is_64_bit: bool,
    machine: u16,
    /// The name of the program that loads this one and its libraries.
    interpreter: Option<&'a [u8]>,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        Self::of::<FileHeader64<Endianness>>(bytes).or_else(|| Self::of::<FileHeader32<Endianness>>(bytes))
    }

    fn of<H: FileHeader<Endian = Endianness>>(bytes: &'a [u8]) -> Option<Self> {
        let header = H::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let programs = header.program_headers(endian, bytes).unwrap_or_default();
        let interpreter = programs.iter().find_map(|program| program.interpreter(endian, bytes).ok()?);
        Some(Header { is_64_bit: header.is_class_64(), machine: header.e_machine(endian).0, interpreter })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    /// The beginning of an executable with that interpreter.
    fn made(is_64_bit: bool, machine: u16, interpreter: &str) -> Vec<u8> {
        let (header, entry) = if is_64_bit { (64, 56) } else { (52, 32) };
        let mut file = vec![0; header + entry];
        file[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', if is_64_bit { 2 } else { 1 }, 1, 1]);
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        let count = u8::from(!interpreter.is_empty());
        let [table, size, name_at, name_size] = if is_64_bit { [32, 54, 8, 32] } else { [28, 42, 4, 16] };
        put(18, &machine.to_le_bytes());
        put(table, &[header as u8]);
        put(size, &[entry as u8, 0, count, 0]);
        put(header, &[3]);
        put(header + name_at, &[(header + entry) as u8]);
        put(header + name_size, &[interpreter.len() as u8 + 1]);
        file.extend(interpreter.as_bytes());
        file.push(0);
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
