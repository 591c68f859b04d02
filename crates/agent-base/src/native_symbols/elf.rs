//! The few parts of an ELF file that matter here: where its segments lie, its symbols, and what names its separate debug file.
//!
//! Only files of this processor's word size and byte order, since others cannot be mapped as code. Every number of the file is
//! checked before it is used.

use object::elf::{
    ELFCLASS64, ELFMAG, FileHeader64, NT_GNU_BUILD_ID, PF_X, PT_LOAD, ProgramHeader64, SHN_UNDEF, SHT_DYNSYM, SHT_NOTE,
    SHT_SYMTAB, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, SectionHeader64, SectionType, Sym64,
};
use object::read::elf::NoteIterator;
use object::{NativeEndian, pod};

use super::image::Image;
use super::mappings::Mapping;

type Header = FileHeader64<NativeEndian>;
type Section = SectionHeader64<NativeEndian>;
type Segment = ProgramHeader64<NativeEndian>;
type RawSymbol = Sym64<NativeEndian>;

const E: NativeEndian = object::LittleEndian;
/// Symbols that are read at once.
const SYMBOLS_AT_ONCE: u64 = 4096;
const BYTES_OF_SYMBOL: u64 = size_of::<RawSymbol>() as u64;
/// Longer than any section name that is looked for, any file name and any build id.
const LARGEST_NOTE: u64 = 4096;

/// The tables of an ELF file.
pub(super) struct ElfFile<'a> {
    image: &'a Image,
    segments: Vec<u8>,
    sections: Vec<u8>,
    /// The section with the names of sections.
    names: u16,
}

/// Where a table of symbols is in its file, in bytes, and their names.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolTable {
    at: u64,
    count: u64,
    names_at: u64,
    names_bytes: u64,
    /// Whether it has all symbols, not only those that are looked for when the file is loaded.
    pub(super) is_whole: bool,
}

/// A symbol with a place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    /// As the file has addresses: without the bias.
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Of its name among the names of the table.
    pub(super) name: u32,
    pub(super) is_function: bool,
}

impl<'a> ElfFile<'a> {
    /// `None` if it is none.
    pub(super) fn new(image: &'a Image) -> Option<ElfFile<'a>> {
        let bytes = image.read(0, size_of::<Header>() as u64)?;
        let (header, _) = pod::from_bytes::<Header>(&bytes).ok()?;
        let ident = &header.e_ident;
        let is_ours = ident.magic == ELFMAG && ident.class == ELFCLASS64 && ident.data == object::elf::ELFDATA2LSB;
        if !is_ours || cfg!(target_endian = "big") {
            return None;
        }
        let table = |at: u64, count: u16, bytes: u16, expected: usize| {
            let is_expected = usize::from(bytes) == expected;
            is_expected.then(|| image.read(at, u64::from(count) * u64::from(bytes))).flatten()
        };
        let segments =
            table(header.e_phoff.get(E), header.e_phnum.get(E), header.e_phentsize.get(E), size_of::<Segment>());
        let sections =
            table(header.e_shoff.get(E), header.e_shnum.get(E), header.e_shentsize.get(E), size_of::<Section>());
        // A debug file may have no segments, another file no sections.
        let (segments, sections) = (segments.unwrap_or_default(), sections.unwrap_or_default());
        Some(ElfFile { image, segments, sections, names: header.e_shstrndx.get(E).0 })
    }

    fn segments(&self) -> &[Segment] {
        pod::slice_from_all_bytes(&self.segments).unwrap_or_default()
    }

    fn sections(&self) -> &[Section] {
        pod::slice_from_all_bytes(&self.sections).unwrap_or_default()
    }

    /// What to add to the file's addresses to have those in memory.
    pub(super) fn bias(&self, mapping: &Mapping) -> Option<usize> {
        let bytes = (mapping.end - mapping.start) as u64;
        let of_mapping = |segment: &&Segment| {
            let (at, length) = (segment.p_offset.get(E), segment.p_filesz.get(E));
            // The first page of code may begin with the end of what lies before it in the file.
            let is_code = segment.p_type.get(E) == PT_LOAD && segment.p_flags.get(E).contains(PF_X);
            is_code && at < mapping.offset.saturating_add(bytes) && mapping.offset < at.saturating_add(length)
        };
        let segment = self.segments().iter().find(of_mapping)?;
        let of_start = segment.p_vaddr.get(E).wrapping_sub(segment.p_offset.get(E)).wrapping_add(mapping.offset);
        Some(mapping.start.wrapping_sub(usize::try_from(of_start).ok()?))
    }

    /// Its best table of symbols.
    pub(super) fn symbols(&self) -> Option<SymbolTable> {
        self.table(SHT_SYMTAB).or_else(|| self.table(SHT_DYNSYM))
    }

    fn table(&self, wanted: SectionType) -> Option<SymbolTable> {
        let section = self.sections().iter().find(|section| section.sh_type.get(E) == wanted)?;
        let names = self.sections().get(section.sh_link.get(E) as usize)?;
        let count = section.sh_size.get(E) / BYTES_OF_SYMBOL;
        (count > 0).then(|| SymbolTable {
            at: section.sh_offset.get(E),
            count,
            names_at: names.sh_offset.get(E),
            names_bytes: names.sh_size.get(E),
            is_whole: wanted == SHT_SYMTAB,
        })
    }

    /// What identifies the build of which this file is a part.
    pub(super) fn build_id(&self) -> Option<Vec<u8>> {
        let notes = self.sections().iter().filter(|section| section.sh_type.get(E) == SHT_NOTE);
        let id = |section: &Section| {
            let bytes = self.image.read(section.sh_offset.get(E), section.sh_size.get(E).min(LARGEST_NOTE))?;
            let mut notes = NoteIterator::<Header>::new(E, 4, &bytes).ok()?;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == object::elf::ELF_NOTE_GNU && note.n_type(E) == NT_GNU_BUILD_ID {
                    return Some(note.desc().to_vec()).filter(|id| id.len() > 1);
                }
            }
            None
        };
        { notes }.find_map(id)
    }

    /// The name of the file that has what was stripped from this one.
    pub(super) fn debug_link(&self) -> Option<String> {
        let names = self.sections().get(usize::from(self.names))?.sh_offset.get(E);
        let is_link = |section: &&Section| {
            let name = names.checked_add(u64::from(section.sh_name.get(E)));
            let text = name.and_then(|at| self.image.read_text(at, 32));
            text.is_some_and(|text| text == b".gnu_debuglink")
        };
        let section = self.sections().iter().find(is_link)?;
        let name = self.image.read_text(section.sh_offset.get(E), section.sh_size.get(E).min(LARGEST_NOTE))?;
        String::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.contains('/'))
    }
}

impl Image {
    /// Gives each symbol that has a place, until one is found that `wanted` gives something for.
    pub(super) fn find_symbol<T>(&self, table: &SymbolTable, mut wanted: impl FnMut(Symbol) -> Option<T>) -> Option<T> {
        for first in (0..table.count).step_by(SYMBOLS_AT_ONCE as usize) {
            let count = SYMBOLS_AT_ONCE.min(table.count - first);
            let bytes = self.read(table.at.checked_add(first * BYTES_OF_SYMBOL)?, count * BYTES_OF_SYMBOL)?;
            let symbols = pod::slice_from_all_bytes::<RawSymbol>(&bytes).ok()?;
            if let Some(found) = symbols.iter().filter_map(placed).find_map(&mut wanted) {
                return Some(found);
            }
        }
        None
    }

    /// The address in the file of the symbol with this name.
    pub(super) fn value_of(&self, table: &SymbolTable, name: &[u8]) -> Option<u64> {
        let names = self.read(table.names_at, table.names_bytes)?;
        let is_named = |symbol: &Symbol| {
            let rest = names.get(symbol.name as usize..).and_then(|rest| rest.strip_prefix(name));
            rest.is_some_and(|rest| matches!(rest.first(), Some(0 | b'@')))
        };
        self.find_symbol(table, |symbol| is_named(&symbol).then_some(symbol.address))
    }

    /// The name of a symbol, cut where it is longer than `most` bytes.
    pub(super) fn symbol_name(&self, table: &SymbolTable, name: u32, most: u64) -> Option<Vec<u8>> {
        let left = table.names_bytes.checked_sub(u64::from(name))?;
        self.read_text(table.names_at.checked_add(u64::from(name))?, left.min(most))
    }
}

fn placed(symbol: &RawSymbol) -> Option<Symbol> {
    let kind = symbol.st_type();
    let is_function = kind == STT_FUNC || kind == STT_GNU_IFUNC;
    let has_place = symbol.st_shndx.get(E) != SHN_UNDEF && symbol.st_value.get(E) != 0;
    ((is_function || kind == STT_OBJECT) && has_place).then(|| Symbol {
        address: symbol.st_value.get(E),
        bytes: symbol.st_size.get(E),
        name: symbol.st_name.get(E),
        is_function,
    })
}
