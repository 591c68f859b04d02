//! Where the symbols of a stripped file are: in a file of its own, named by the build (`.note.gnu.build-id`) or by the section
//! `.gnu_debuglink`, at the places where debuggers look too.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::elf::{ElfFile, SymbolTable};
use super::image::Image;
use super::mappings::Mapping;

/// Where systems install them.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The image that has the best symbols of an object, and its table.
pub(super) fn with_symbols(image: Image, mapping: &Mapping) -> Option<(Image, SymbolTable)> {
    let own = ElfFile::new(&image)?;
    let symbols = own.symbols();
    if symbols.is_none_or(|symbols| !symbols.is_whole)
        && let Some(id) = own.build_id()
    {
        let found = candidates(&id, own.debug_link().as_deref(), mapping.path()).find_map(|path| symbols_of(path, &id));
        if found.is_some() {
            return found;
        }
    }
    symbols.map(|symbols| (image, symbols))
}

/// Of a file of the same build.
fn symbols_of(path: PathBuf, id: &[u8]) -> Option<(Image, SymbolTable)> {
    let image = Image::open_file(path)?;
    let file = ElfFile::new(&image)?;
    let is_same = file.build_id().is_some_and(|other| other == id);
    let symbols = file.symbols().filter(|symbols| is_same && symbols.is_whole)?;
    Some((image, symbols))
}

/// A link is only followed to a file with the same build id: its own checksum would mean to read the whole file.
fn candidates(id: &[u8], link: Option<&str>, object: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let mut name = String::new();
    for (index, byte) in id.iter().enumerate() {
        let _ = write!(name, "{byte:02x}{}", if index == 0 { "/" } else { "" });
    }
    let by_id = Path::new(DEBUG_FOLDER).join(format!(".build-id/{name}.debug"));
    let linked = link.zip(object.and_then(Path::parent)).map(|(link, folder)| {
        let installed = Path::new(DEBUG_FOLDER).join(folder.strip_prefix("/").unwrap_or(folder));
        [folder.join(link), folder.join(".debug").join(link), installed.join(link)]
    });
    [by_id].into_iter().chain(linked.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_files_are_where_debuggers_look() {
        let paths = |link, object| {
            let found = candidates(&[0xab, 0x01, 0xff], link, object);
            found.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let by_id = "/usr/lib/debug/.build-id/ab/01ff.debug";
        assert_eq!(paths(None, None), [by_id]);
        assert_eq!(
            paths(Some("x.debug"), Some(Path::new("/lib/libx.so"))),
            [by_id, "/lib/x.debug", "/lib/.debug/x.debug", "/usr/lib/debug/lib/x.debug"]
        );
    }
}
