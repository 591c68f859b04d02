//! Which function of native code an address lies in, from the symbol tables of the files that the process has mapped.
//!
//! For ordinary threads of the agent: files are opened and read here, so never in a signal handler. Files are read piece by
//! piece and never mapped: one that is cut while it is mapped ends the process with SIGBUS. Of an object that was hit, a sorted
//! table of its functions is kept, `functions::BYTES_OF_FUNCTION` bytes for each; names stay in the file until one is asked
//! for. `BYTES_OF_TABLES` and `FUNCTIONS` bound what all take together: 8 MB and, with names of usual lengths, as much
//! again at most. An object beyond that, or without symbols, is known by its file name alone.

mod debug_files;
mod elf;
mod functions;
mod image;
mod mappings;
mod names;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::elf::ElfFile;
use self::functions::{FunctionTable, Start};
use self::image::Image;
use self::mappings::{Mappings, ObjectKey};

/// Bytes of all tables of functions, at most. `libjvm.so` needs 0.6 MB.
const BYTES_OF_TABLES: usize = 8 << 20;
/// Functions and objects whose names are kept, at most.
const FUNCTIONS: usize = 1 << 15;
const OBJECTS: usize = 1 << 12;
/// The name where no mapped file has the address: code that the process made itself, or that is gone.
const UNKNOWN: &str = "[unknown]";

/// The number of a function: the same for all addresses in it, and for functions of one name in one library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionNumber(pub u32);

/// A function of native code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Demangled, without parameters, at most `names::LONGEST` characters; `[libx.so]` if the library has no symbol there.
    pub name: Arc<str>,
    /// The file name of its ELF object without folders; `None` if no object has the address.
    pub library: Option<Arc<str>>,
}

/// An object that was hit.
struct Object {
    library: Arc<str>,
    /// What to add to an address of the file to have one in memory; `None` if the file cannot be read.
    bias: Option<usize>,
    /// Where the names are that the table points to.
    symbols: Option<(Image, FunctionTable)>,
}

/// All that is known of the functions of native code; see the module.
pub struct NativeSymbols {
    mappings: Mappings,
    objects: Vec<Object>,
    by_key: FxHashMap<ObjectKey, usize>,
    /// By object and where the function starts in it; `None`: where it has no symbol.
    by_place: FxHashMap<(usize, Option<Start>), FunctionNumber>,
    functions: Vec<Function>,
    by_name: FxHashMap<Function, FunctionNumber>,
    /// Bytes that the tables of functions may still take.
    bytes_left: usize,
}

impl Default for NativeSymbols {
    /// Knows nothing yet, and reads nothing before the first address.
    fn default() -> NativeSymbols {
        NativeSymbols {
            mappings: Mappings::new(),
            objects: Vec::new(),
            by_key: FxHashMap::default(),
            by_place: FxHashMap::default(),
            functions: Vec::new(),
            by_name: FxHashMap::default(),
            bytes_left: BYTES_OF_TABLES,
        }
    }
}

impl NativeSymbols {
    /// The function of an address. A return address is that behind the call: subtract 1 to have the call's.
    pub fn resolve(&mut self, pc: usize) -> (FunctionNumber, &Function) {
        let number = self.number_of(pc);
        (number, &self.functions[number.0 as usize])
    }

    /// Where a symbol of a loaded library is in memory: a function or a variable, by its name in the file (mangled).
    ///
    /// `library` is a file name without folders. `None` if no such library is loaded, or it has no such symbol.
    pub fn address_of(&mut self, library: &str, symbol: &str) -> Option<usize> {
        self.mappings.read();
        let mapping = self.mappings.code_of(library)?.clone();
        let image = Image::open(&mapping)?;
        let file = ElfFile::new(&image)?;
        let bias = file.bias(&mapping)?;
        let (image, table) = debug_files::with_symbols(image, &mapping)?;
        let address = bias.wrapping_add(usize::try_from(image.value_of(&table, symbol.as_bytes())?).ok()?);
        self.mappings.is_mapped(address).then_some(address)
    }

    /// Bytes that tables and names take, about.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let names: usize = self.functions.iter().map(|function| function.name.len()).sum();
        let entries = self.functions.len() * 3 * size_of::<Function>() + self.objects.len() * size_of::<Object>();
        BYTES_OF_TABLES - self.bytes_left + names + entries + self.mappings.bytes()
    }

    fn number_of(&mut self, pc: usize) -> FunctionNumber {
        let Some(object) = self.object_of(pc) else { return self.intern(UNKNOWN.into(), None) };
        let Object { library, bias, symbols } = &self.objects[object];
        let library = Arc::clone(library);
        let found = symbols.as_ref().zip(*bias).and_then(|((image, table), bias)| {
            let start = table.start_of(pc.wrapping_sub(bias))?;
            Some((image, table, start))
        });
        let place = (object, found.as_ref().map(|&(_, _, start)| start));
        if let Some(&known) = self.by_place.get(&place) {
            return known;
        }
        let name = found.and_then(|(image, table, start)| table.name_at(image, start));
        let name = name.unwrap_or_else(|| format!("[{library}]"));
        let number = self.intern(name.into(), Some(library));
        if self.by_place.len() < 2 * FUNCTIONS {
            self.by_place.insert(place, number);
        }
        number
    }

    /// The object that has the address, read if it is new.
    fn object_of(&mut self, pc: usize) -> Option<usize> {
        let mapping = self.mappings.of(pc)?.clone();
        let key = mapping.key()?;
        if let Some(&known) = self.by_key.get(&key) {
            return Some(known);
        }
        if self.objects.len() >= OBJECTS {
            return None;
        }
        let mut object = Object { library: mapping.library(), bias: None, symbols: None };
        if let Some(image) = Image::open(&mapping) {
            object.bias = ElfFile::new(&image).and_then(|file| file.bias(&mapping));
            object.symbols = debug_files::with_symbols(image, &mapping).and_then(|(image, symbols)| {
                let table = FunctionTable::new(&image, symbols, self.bytes_left)?;
                self.bytes_left -= table.bytes();
                Some((image.closed(), table))
            });
        }
        self.objects.push(object);
        self.by_key.insert(key, self.objects.len() - 1);
        Some(self.objects.len() - 1)
    }

    fn intern(&mut self, name: Arc<str>, library: Option<Arc<str>>) -> FunctionNumber {
        let mut function = Function { name, library };
        if let Some(&known) = self.by_name.get(&function) {
            return known;
        }
        // Room is kept for each object's own name.
        if self.functions.len() >= FUNCTIONS && function.name.as_ref() != UNKNOWN {
            let of_object = function.library.as_ref().map_or(UNKNOWN.into(), |library| format!("[{library}]"));
            function.name = of_object.into();
            if let Some(&known) = self.by_name.get(&function) {
                return known;
            }
        }
        let number = FunctionNumber(self.functions.len() as u32);
        self.functions.push(function.clone());
        self.by_name.insert(function, number);
        number
    }
}
