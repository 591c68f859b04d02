//! On this process, on the JVM's library, and on files that are broken.

use std::ffi::{CString, c_void};
use std::path::PathBuf;

use proptest::prelude::*;

use super::elf::ElfFile;
use super::functions::FunctionTable;
use super::image::Image;
use super::*;

fn resolved(symbols: &mut NativeSymbols, pc: usize) -> (FunctionNumber, String, String) {
    let (number, function) = symbols.resolve(pc);
    (number, function.name.to_string(), function.library.as_deref().unwrap_or_default().to_owned())
}

#[inline(never)]
fn a_function_of_this_process(number: usize) -> usize {
    std::hint::black_box(number) * 3
}

#[test]
fn functions_of_the_process_itself_are_found() {
    let mut symbols = NativeSymbols::default();
    let own = a_function_of_this_process as fn(usize) -> usize as usize;
    let (number, name, library) = resolved(&mut symbols, own);
    assert!(name.ends_with("native_symbols::tests::a_function_of_this_process"), "{name}");
    let program = std::env::current_exe().expect("a program");
    assert_eq!(library, program.file_name().expect("a name").to_string_lossy());
    assert_eq!(resolved(&mut symbols, own + 1).0, number);
    let before = symbols.bytes();
    assert_eq!(resolved(&mut symbols, own).0, number);
    assert_eq!(symbols.bytes(), before);
}

#[test]
fn functions_of_libc_have_their_plain_names() {
    let mut symbols = NativeSymbols::default();
    let (_, name, library) = resolved(&mut symbols, libc::write as *const () as usize);
    assert_eq!(name, "write");
    assert!(library.contains("libc"), "{library}");
    let address = symbols.address_of(&library, "write");
    assert_eq!(address, Some(libc::write as *const () as usize));
    assert_eq!(symbols.address_of(&library, "no such symbol"), None);
    assert_eq!(symbols.address_of("libno-such.so", "write"), None);
}

#[test]
fn an_address_of_no_object_is_unknown() {
    let mut symbols = NativeSymbols::default();
    let (nowhere, name, library) = resolved(&mut symbols, 16);
    assert_eq!((name.as_str(), library.as_str()), (UNKNOWN, ""));
    let on_the_heap = Box::new(0_u64);
    assert_eq!(resolved(&mut symbols, &raw const *on_the_heap as usize).0, nowhere);
    assert_eq!(resolved(&mut symbols, usize::MAX).0, nowhere);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_kernels_own_code_has_names() {
    // SAFETY: reads an entry of the process's auxiliary vector.
    let vdso = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    let mut symbols = NativeSymbols::default();
    let address = (0..0x2000).step_by(16).map(|offset| resolved(&mut symbols, vdso + offset));
    let found: Vec<String> = address.filter(|(_, _, library)| library == "vdso").map(|(_, name, _)| name).collect();
    assert!(found.iter().any(|name| name.contains("clock_gettime")), "{found:?}");
}

#[test]
fn a_library_that_comes_later_and_whose_file_goes_is_found() {
    let mut symbols = NativeSymbols::default();
    resolved(&mut symbols, a_function_of_this_process as fn(usize) -> usize as usize);
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("libcopied-here.so.1");
    let (_, path) = libc_path();
    std::fs::copy(path, &copy).expect("a copy");
    // No code of the copy runs: the loader maps the file under another name, as a library of its own.
    let bytes = std::fs::metadata(&copy).expect("a file").len() as usize;
    let file = std::fs::File::open(&copy).expect("a file");
    // SAFETY: a new mapping of a file that nobody cuts; it is only named, never used.
    let mapped = unsafe {
        let (read, private) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
        libc::mmap(std::ptr::null_mut(), bytes, read, private, std::os::fd::AsRawFd::as_raw_fd(&file), 0)
    };
    assert_ne!(mapped, libc::MAP_FAILED);
    std::fs::remove_file(&copy).expect("it was there");
    symbols.mappings.read();
    let (_, name, library) = resolved(&mut symbols, mapped as usize + 0x1000);
    assert_eq!(library, "libcopied-here.so.1");
    assert!(!name.is_empty());
    // SAFETY: the mapping of above, of which nothing is kept.
    unsafe { libc::munmap(mapped, bytes) };
}

fn libc_path() -> (NativeSymbols, PathBuf) {
    let mut symbols = NativeSymbols::default();
    let mapping = symbols.mappings.of(libc::write as *const () as usize).expect("libc").clone();
    (symbols, mapping.path().expect("a path").to_owned())
}

/// `None` if the machine has no JDK where this test looks.
fn libjvms() -> Vec<PathBuf> {
    let listed = std::env::var_os("MARTINI_JDKS");
    let listed = listed.iter().flat_map(std::env::split_paths);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let libraries = listed.chain(installed).map(|home| home.join("lib/server/libjvm.so"));
    libraries.filter(|library| library.is_file()).collect()
}

#[test]
fn functions_and_variables_of_the_jvm_are_found() {
    let path = libjvms().into_iter().next().expect("a JDK: set MARTINI_JDKS");
    let path = CString::new(path.into_os_string().into_encoded_bytes()).expect("a path");
    // SAFETY: loading libjvm runs its constructors, which only prepare static data; no JVM is made.
    let (create, vm) = unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        let symbol = |name: &std::ffi::CStr| libc::dlsym(library, name.as_ptr());
        (symbol(c"JNI_CreateJavaVM"), symbol(c"gHotSpotVMStructs"))
    };
    let mut symbols = NativeSymbols::default();
    let (_, name, library) = resolved(&mut symbols, create as usize + 4);
    assert_eq!((name.as_str(), library.as_str()), ("JNI_CreateJavaVM", "libjvm.so"));
    assert_eq!(symbols.address_of("libjvm.so", "gHotSpotVMStructs"), Some(vm as usize));
    let begin = symbols.address_of("libjvm.so", "_ZN20SafepointSynchronize5beginEv").expect("not stripped");
    assert_eq!(resolved(&mut symbols, begin + 1).1, "SafepointSynchronize::begin");
    let state = symbols.address_of("libjvm.so", "_ZN20SafepointSynchronize6_stateE").expect("not stripped");
    // SAFETY: an integer of libjvm that no thread writes, since there is no JVM.
    assert_eq!(unsafe { *(state as *const u32) }, 0, "not synchronized");
    assert!(symbols.bytes() < 2 << 20, "{}", symbols.bytes());
    let _: *mut c_void = create;
}

#[test]
fn tables_are_bounded() {
    let (_, path) = libc_path();
    let image = Image::open_file(path).expect("a file");
    let table = ElfFile::new(&image).expect("an ELF file").symbols().expect("symbols");
    let functions = FunctionTable::new(&image, table, BYTES_OF_TABLES).expect("functions");
    assert!(functions.bytes() > 10_000);
    assert!(FunctionTable::new(&image, table, functions.bytes() - 1).is_none());

    let mut symbols = NativeSymbols { bytes_left: 100, ..NativeSymbols::default() };
    let (_, name, library) = resolved(&mut symbols, libc::write as *const () as usize);
    assert_eq!(name, format!("[{library}]"));
}

/// Asks everything of a file that may be broken.
fn ask_everything(bytes: Vec<u8>) {
    let image = Image::Memory(bytes.into());
    let Some(file) = ElfFile::new(&image) else { return };
    let mapping = mappings::parse("400000-500000 r-xp 00001000 08:02 17 /lib/libx.so".as_bytes()).remove(0);
    let _ = (file.bias(&mapping), file.build_id(), file.debug_link());
    let Some(symbols) = file.symbols() else { return };
    let _ = image.value_of(&symbols, b"write");
    let Some(table) = FunctionTable::new(&image, symbols, BYTES_OF_TABLES) else { return };
    for address in [0, 1, 0x1000, 0x10_0000, usize::MAX] {
        if let Some(start) = table.start_of(address) {
            let _ = table.name_at(&image, start);
        }
    }
}

/// A small file that has everything: the kernel's own.
fn sound() -> Vec<u8> {
    // SAFETY: as above.
    let vdso = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    let mut mappings = mappings::Mappings::new();
    let mapping = mappings.of(vdso).expect("the vdso").clone();
    let Some(Image::Memory(bytes)) = Image::open(&mapping) else { panic!("it is in memory") };
    bytes.into()
}

proptest! {
    #[test]
    fn any_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        ask_everything(bytes);
    }

    #[test]
    fn a_changed_file_is_harmless(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        header in proptest::collection::vec((0_usize..64, any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let mut bytes = sound();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for (at, byte) in header {
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        ask_everything(bytes);
    }
}
