//! HotSpot's own flags (`-XX:`), read and set from inside the process.

use std::ffi::{CStr, c_char, c_void};

use agent_base::native_symbols::NativeSymbols;
use jvmti::{Field, size_of_type};

use super::{Hotspot, doubtful};

impl Hotspot {
    /// Switches a product flag of type `bool` on or off, and returns what it was; `None` if this VM has no such flag or does
    /// not show its flags (`JVMFlag` in `gHotSpotVMStructs`, JDK 9 to 25).
    ///
    /// # Safety
    ///
    /// It is a flag of type `bool` that the VM reads again after this call and that may change: before anything is compiled, or
    /// because only compilations that begin look at it. `EliminateAllocations` is not one of the latter: where compiled code is left
    /// for the interpreter, HotSpot makes the objects that were removed from it only if the flag is on by then, and the program
    /// finds null in their place if not (`Deoptimization::fetch_unroll_info_helper`).
    pub unsafe fn set_bool_flag(&self, name: &CStr, value: bool) -> Option<bool> {
        let address = flag_address(name)?;
        // SAFETY: the VM says that the flag is there; the caller promises that it may be changed. What is neither true nor false
        // is no such flag.
        unsafe {
            let before = Some(address.read_volatile()).filter(|&before| before <= 1)?;
            address.write_volatile(value.into());
            Some(before != 0)
        }
    }

    /// Whether boxes that are removed from compiled code are made again by nothing but `EliminateAutoBox`, so that it has to stay on
    /// while the program runs: HotSpot makes them if that flag is on, or both of escape analysis.
    pub fn needs_auto_box(&self) -> bool {
        // SAFETY: HotSpot declares them as `bool`.
        let is_on = |flag| unsafe { bool_flag(flag) } == Some(true);
        is_on(c"EliminateAutoBox") && !(is_on(c"DoEscapeAnalysis") && is_on(c"EliminateAllocations"))
    }

    /// Bytes that the heap may grow to; `None` if the VM does not show its flags.
    pub fn max_heap_bytes(&self) -> Option<u64> {
        // SAFETY: the VM says that the flag is there, and flags stay where they are; HotSpot declares it as a `size_t`.
        flag_address(c"MaxHeapSize").map(|address| unsafe { address.cast::<u64>().read_volatile() })
    }

    /// Whether the VM checks each call by JNI (`-Xcheck:jni`).
    pub fn checks_jni(&self) -> bool {
        // SAFETY: HotSpot declares it as a `bool`.
        unsafe { bool_flag(c"CheckJNICalls") }.unwrap_or(false)
    }

    /// Whether the VM exits at the first `OutOfMemoryError`, and does not crash.
    pub fn exits_on_out_of_memory(&self) -> bool {
        // SAFETY: HotSpot declares both as `bool`.
        let is_on = |flag| unsafe { bool_flag(flag) } == Some(true);
        is_on(c"ExitOnOutOfMemoryError") && !is_on(c"CrashOnOutOfMemoryError")
    }

    /// What the command line says of an archive. Known from `Agent_OnLoad` on.
    pub fn archive_wish(&self) -> ArchiveWish {
        archive_wish()
    }

    /// The archives of classes that this VM is to use.
    pub fn archives(&self) -> Vec<&'static [u8]> {
        // SAFETY: HotSpot declares both as ccstr, and sets none after the start.
        let texts = [c"SharedArchiveFile", c"AOTCache"].map(|flag| unsafe { text(flag) });
        let mut files: Vec<_> =
            texts.into_iter().flatten().flat_map(|files| files.split(|&byte| byte == b':')).collect();
        files.dedup();
        files
    }

    /// What an archive has to be made with for this VM to use it.
    pub fn archive_settings(&self) -> ArchiveSettings {
        // SAFETY: HotSpot declares these flags as bool, and the alignment as a number of at least 32 bits of at most 256.
        unsafe {
            ArchiveSettings {
                build: build_name().unwrap_or_default(),
                alignment: flag_address(c"ObjectAlignmentInBytes").map(|address| address.cast::<u16>().read_volatile()),
                compressed_oops: bool_flag(c"UseCompressedOops"),
                compressed_classes: bool_flag(c"UseCompressedClassPointers"),
                compact_headers: bool_flag(c"UseCompactObjectHeaders"),
            }
        }
    }

    /// The VM's first option that begins with one of these; those from files and environment variables count too.
    pub fn option_among(&self, beginnings: &[&[u8]]) -> Option<&'static [u8]> {
        options().into_iter().flatten().find(|option| beginnings.iter().any(|beginning| option.starts_with(beginning)))
    }

    /// Whether an agent is told of classes as they are loaded; `None` if the VM's library does not say where that is noted.
    pub fn class_hook_is_on(&self) -> Option<bool> {
        let mut symbols = NativeSymbols::default();
        let address = symbols.address_of("libjvm.so", "_ZN11JvmtiExport33_should_post_class_file_load_hookE")?;
        doubtful::byte(address).map(|is_on| is_on != 0)
    }

    /// Whether this VM writes an archive of classes, or the list for one, now, at its end or when somebody asks for it. Known from `Agent_OnLoad` on.
    pub fn writes_archive(&self) -> bool {
        writes_archive()
    }

    /// Whether the VM takes classes and objects out of an archive (CDS); `None` if it does not show that. Known from VMStart
    /// on.
    pub fn uses_archive(&self) -> Option<bool> {
        uses_archive()
    }
}

/// Whether a product flag is on; `None` if this VM has no such flag or does not show its flags.
///
/// # Safety
///
/// It is a flag of type `bool`.
unsafe fn bool_flag(name: &CStr) -> Option<bool> {
    // SAFETY: the VM says that the flag is there, and flags stay where they are.
    flag_address(name).map(|address| unsafe { address.read_volatile() != 0 })
}

/// The address of a flag's value.
fn flag_address(name: &CStr) -> Option<*mut u8> {
    let name_at = Field::offset_of(c"JVMFlag", c"_name")?;
    let address_at = Field::offset_of(c"JVMFlag", c"_addr")?;
    let stride = size_of_type(c"JVMFlag")?;
    // SAFETY: the VM says where its table of flags is, how long it is and what an entry looks like; a name is a literal or
    // null.
    unsafe {
        let table = static_word(c"JVMFlag", c"flags")?;
        for index in 0..static_word(c"JVMFlag", c"numFlags")? {
            let entry = table + index * stride;
            let found = ((entry + name_at) as *const *const c_char).read();
            if !found.is_null() && CStr::from_ptr(found) == name {
                let address = ((entry + address_at) as *const *mut u8).read();
                return (!address.is_null()).then_some(address);
            }
        }
    }
    None
}

/// # Safety
/// It is a static field that is as large as a word.
unsafe fn static_word(structure: &CStr, name: &CStr) -> Option<usize> {
    let address: *const c_void = Field::find(structure, name)?.address;
    // SAFETY: by the caller's promise.
    (!address.is_null()).then(|| unsafe { address.cast::<usize>().read_volatile() })
}

/// The text of a product flag; `None` if none is set, or if this VM has no such flag or does not show its flags.
///
/// # Safety
///
/// It is a flag of type `ccstr`, which nobody sets any more.
unsafe fn text(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: as above; such a flag is a pointer to a text or null.
    let text = flag_address(name).map(|address| unsafe { address.cast::<*const c_char>().read_volatile() })?;
    // SAFETY: by the caller's promise the text stays.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// What the command line says of an archive of classes (CDS, AOT cache).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveWish {
    /// It names one, to be used or made, or demands one.
    Needed,
    /// It asks for none.
    Unwanted,
    /// It says nothing: the VM uses the archive of the JDK, if that has one.
    Default,
}

/// What an archive of classes has to be made with for a VM to use it; `None` for flags that the VM does not have or show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// The VM's whole name of itself, with its version and who built it when; empty if it does not show that.
    pub build: &'static [u8],
    /// `ObjectAlignmentInBytes`.
    pub alignment: Option<u16>,
    /// `UseCompressedOops`.
    pub compressed_oops: Option<bool>,
    /// `UseCompressedClassPointers`.
    pub compressed_classes: Option<bool>,
    /// `UseCompactObjectHeaders`.
    pub compact_headers: Option<bool>,
}

fn build_name() -> Option<&'static [u8]> {
    // SAFETY: a static field of the VM that is a pointer to a literal of libjvm or null.
    unsafe {
        let text = static_word(c"Abstract_VM_Version", c"_s_internal_vm_info_string").filter(|&text| text != 0)?;
        Some(CStr::from_ptr(text as *const c_char).to_bytes())
    }
}

fn archive_wish() -> ArchiveWish {
    let texts = [
        c"SharedArchiveFile",
        c"ArchiveClassesAtExit",
        c"AOTCache",
        c"AOTCacheOutput",
        c"AOTConfiguration",
        c"AOTMode",
    ];
    // From JDK 19 on only the VM itself sees the flags that it sets.
    let sharing = last_option(b"-Xshare:");
    // SAFETY: HotSpot declares these flags as ccstr, and the last as bool.
    let is_flagged = unsafe {
        texts.into_iter().any(|flag| text(flag).is_some()) || bool_flag(c"RequireSharedSpaces") == Some(true)
    };
    if is_flagged || matches!(sharing, Some(b"on" | b"dump")) {
        ArchiveWish::Needed
    } else if sharing == Some(b"off") {
        ArchiveWish::Unwanted
    } else {
        ArchiveWish::Default
    }
}

fn writes_archive() -> bool {
    let files = [c"ArchiveClassesAtExit", c"AOTCacheOutput", c"DumpLoadedClassList"];
    // The first says on JDK 13 to 21 what `AutoCreateSharedArchive` comes to.
    let switches = [c"DynamicDumpSharedSpaces", c"RecordDynamicDumpInfo"];
    // SAFETY: HotSpot declares the files and the mode as ccstr, and sets none after the start; the switches are bool.
    let is_flagged = unsafe {
        files.into_iter().any(|flag| text(flag).is_some())
            || matches!(text(c"AOTMode"), Some(b"record" | b"create"))
            || switches.into_iter().any(|flag| bool_flag(flag) == Some(true))
    };
    is_flagged || last_option(b"-Xshare:") == Some(b"dump")
}

/// The rest of the VM's last option with that beginning. Options from files and environment variables count too.
fn last_option(beginning: &[u8]) -> Option<&'static [u8]> {
    options()?.rev().find_map(|option| option.strip_prefix(beginning))
}

/// The VM's options, also those from files and environment variables; `None` if it does not show them.
fn options() -> Option<impl DoubleEndedIterator<Item = &'static [u8]>> {
    let count: *const c_void = Field::find(c"Arguments", c"_num_jvm_args")?.address;
    if count.is_null() {
        return None;
    }
    // SAFETY: the VM says where its list of options is, and how long as an int; options are texts, and stay as long as the VM.
    unsafe {
        let options = static_word(c"Arguments", c"_jvm_args_array")? as *const *const c_char;
        let count = usize::try_from(count.cast::<i32>().read_volatile()).ok().filter(|_| !options.is_null())?;
        Some((0..count).map(move |index| CStr::from_ptr(options.add(index).read()).to_bytes()))
    }
}

fn uses_archive() -> Option<bool> {
    // SAFETY: HotSpot declares it as a bool.
    if let Some(shares) = unsafe { bool_flag(c"UseSharedSpaces") } {
        return Some(shares);
    }
    // From JDK 21 on it is not a flag any more, but such an object exists only while an archive is mapped.
    // SAFETY: a static field of the VM that is a pointer.
    unsafe { static_word(c"FileMapInfo", c"_current_info") }.map(|archive| archive != 0)
}
