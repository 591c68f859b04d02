//! The functions of one object in the order of their addresses.

use super::elf::SymbolTable;
use super::image::Image;
use super::names;

/// Bytes of an entry.
pub(super) const BYTES_OF_FUNCTION: usize = size_of::<Entry>();
/// Functions that begin before an address and that are looked at, since one may lie in another.
const NESTED: usize = 8;
/// Names of one function that are compared.
const ALIASES: usize = 8;
/// Longer names are cut before they are demangled.
const LONGEST_MANGLED: u64 = 4096;

/// The address in the file at which a function starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Start(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    start: Start,
    /// 0: up to the next.
    bytes: u32,
    /// Of its name in the file.
    name: u32,
}

/// The functions of an object, one entry for each of their names.
#[derive(Debug)]
pub(super) struct FunctionTable {
    symbols: SymbolTable,
    /// Sorted.
    entries: Box<[Entry]>,
}

impl FunctionTable {
    /// `None` if it has none, its file is broken, or it would take more than `most` bytes.
    pub(super) fn new(image: &Image, symbols: SymbolTable, most: usize) -> Option<FunctionTable> {
        let mut entries = Vec::new();
        let is_too_large = image.find_symbol(&symbols, |symbol| {
            // Objects have less than 4 GB, and start near 0.
            if let Some(start) = u32::try_from(symbol.address).ok().filter(|_| symbol.is_function) {
                let bytes = u32::try_from(symbol.bytes).unwrap_or(u32::MAX);
                entries.push(Entry { start: Start(start), bytes, name: symbol.name });
            }
            (entries.len() * BYTES_OF_FUNCTION > most).then_some(())
        });
        if is_too_large.is_some() || entries.is_empty() {
            return None;
        }
        entries.sort_unstable();
        Some(FunctionTable { symbols, entries: entries.into() })
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Where the function starts that an address of the file lies in.
    pub(super) fn start_of(&self, address: usize) -> Option<Start> {
        let address = u32::try_from(address).ok()?;
        let after = self.entries.partition_point(|entry| entry.start.0 <= address);
        let before = &self.entries[..after];
        let nearest = before.last()?.start;
        let covers = |entry: &&Entry| match entry.bytes {
            0 => entry.start == nearest,
            bytes => address - entry.start.0 < bytes,
        };
        before.iter().rev().take(NESTED).find(covers).map(|entry| entry.start)
    }

    /// The plainest name of a function: of `write`, `__write` and `__libc_write` the first.
    pub(super) fn name_at(&self, image: &Image, start: Start) -> Option<String> {
        let first = self.entries.partition_point(|entry| entry.start < start);
        let aliases = self.entries[first..].iter().take_while(|entry| entry.start == start).take(ALIASES);
        let names = aliases.filter_map(|entry| image.symbol_name(&self.symbols, entry.name, LONGEST_MANGLED));
        let underscores = |name: &[u8]| name.iter().take_while(|&&byte| byte == b'_').count();
        let plainest = names.filter(|name| !name.is_empty()).min_by_key(|name| {
            // Mangled names begin with one or two.
            let rank = if names::is_mangled(name) { 0 } else { underscores(name) };
            (rank, name.len(), name.clone())
        });
        plainest.map(|name| names::demangled(&name))
    }
}
