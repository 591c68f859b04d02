//! HotSpot's code cache, whose structure it exports for debuggers (`gHotSpotVMStructs`): which piece of code an address lies
//! in, and how large the frames of that code are.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use jvmti::{Field, size_of_type};

use super::doubtful;
use super::memory::{load, load_u32};

/// The word in a static field.
pub(super) fn static_word(structure: &CStr, name: &CStr) -> Option<usize> {
    let field = Field::find(structure, name)?;
    doubtful::word(field.address as usize)
}

/// An address in the code cache at which a frame continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pc(pub(crate) usize);

/// What code an address lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeKind {
    /// A compiled method, or what calls a native one: bytes of its frame, and the number of its compilation, which no other has.
    Compiled { frame: usize, id: u32 },
    /// What compiled code calls to get into the VM: bytes of its frame.
    Stub { frame: usize },
    /// The interpreter.
    Interpreter,
    /// The stub by which the VM has called Java.
    Entry,
}

/// What the name of a piece of code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Method,
    Interpreter,
    Stub,
}

/// The names of code that is no stub.
const NAMES: [(&CStr, NameKind); 3] =
    [(c"nmethod", NameKind::Method), (c"native nmethod", NameKind::Method), (c"Interpreter", NameKind::Interpreter)];

/// Number of names of stubs that are kept: those from which threads call the VM.
const STUBS: usize = 24;

/// The addresses of names that were met. Those in `NAMES` are literals of libjvm, which stay, so an address is enough to
/// identify them.
#[derive(Debug, Default)]
struct NameAddresses {
    of_kinds: [AtomicUsize; NAMES.len()],
    of_stubs: [AtomicUsize; STUBS],
}

impl NameAddresses {
    #[inline]
    fn kind(&self, name: usize) -> NameKind {
        let known = self.of_kinds.iter().position(|known| known.load(Ordering::Relaxed) == name);
        match known {
            Some(index) => NAMES[index].1,
            None if self.of_stubs.iter().any(|known| known.load(Ordering::Relaxed) == name) => NameKind::Stub,
            None => self.learn(name),
        }
    }

    #[cold]
    fn learn(&self, name: usize) -> NameKind {
        if let Some(index) = NAMES.iter().position(|(known, _)| doubtful::is_text(name, known)) {
            self.of_kinds[index].store(name, Ordering::Relaxed);
            return NAMES[index].1;
        }
        // If there is no place left, the name is read each time.
        let set = |place: &AtomicUsize| place.compare_exchange(0, name, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let _ = self.of_stubs.iter().any(set);
        NameKind::Stub
    }
}

/// Where a compiled method keeps the address at which its frames continue once its code has become invalid.
#[derive(Clone, Copy, Debug)]
enum DeoptHandler {
    /// As an address (up to JDK 22).
    Address(usize),
    /// As a distance from its beginning.
    Distance(usize),
}

/// Offsets of fields, and the parts of the code cache.
///
/// Nothing is kept of single pieces of code: they are freed, and others come to lie across the place. Of one that is freed the
/// beginning may stay as it was, its number too, while another fills the end. So the map of segments is asked each time, which
/// holds as long as a frame on the stack keeps its code from being freed.
#[derive(Debug)]
pub(crate) struct CodeCache {
    heaps: Box<[CodeHeap]>,
    /// The lowest address of all parts.
    low: usize,
    block_header: usize,
    used: usize,
    name: usize,
    frame_size: usize,
    compile_id: usize,
    deopt_handlers: [DeoptHandler; 2],
    call_stub_return: Pc,
    names: NameAddresses,
}

#[derive(Debug)]
struct CodeHeap {
    low: usize,
    /// The address of the word with its end, which grows.
    high_at: usize,
    /// The address of a map with a byte for each segment: how far back its block begins.
    segments: usize,
    log2_segment: u32,
}

/// How the name of the code begins in which the VM calls Java.
const STUB_ROUTINES: &[u8] = b"StubRoutines";
/// HotSpot has one part of the code cache, or up to four.
const MAX_HEAPS: u32 = 8;

/// In the map of segments: not used.
const UNUSED: u8 = 0xff;

impl CodeCache {
    /// The code cache of this VM, if it exports all that is needed and what it exports holds for code that is known.
    pub(crate) fn find() -> Option<CodeCache> {
        let offset = Field::offset_of;
        let handler = |address, distance| {
            let address = offset(c"CompiledMethod", address).or_else(|| offset(c"nmethod", address));
            address.map(DeoptHandler::Address).or_else(|| Some(DeoptHandler::Distance(offset(c"nmethod", distance)?)))
        };
        let cache = CodeCache {
            heaps: CodeHeap::all()?,
            low: static_word(c"CodeCache", c"_low_bound")?,
            block_header: size_of_type(c"HeapBlock")?,
            used: offset(c"HeapBlock", c"_header")? + offset(c"HeapBlock::Header", c"_used")?,
            name: offset(c"CodeBlob", c"_name")?,
            frame_size: offset(c"CodeBlob", c"_frame_size")?,
            compile_id: offset(c"nmethod", c"_compile_id")?,
            deopt_handlers: [
                handler(c"_deopt_handler_begin", c"_deopt_handler_offset")?,
                handler(c"_deopt_mh_handler_begin", c"_deopt_mh_handler_offset")?,
            ],
            call_stub_return: Pc(static_word(c"StubRoutines", c"_call_stub_return_address")?),
            names: NameAddresses::default(),
        };
        let stub = cache.blob(cache.call_stub_return)?;
        // SAFETY: `blob` found a piece of code.
        let name = unsafe { cache.name(stub) }?;
        doubtful::begins_with(name, STUB_ROUTINES).then_some(cache)
    }

    /// Bytes from the lowest address of the code cache; less than 2^31.
    pub(crate) fn distance(&self, pc: Pc) -> usize {
        pc.0.wrapping_sub(self.low)
    }

    /// The code at an address, unless it is of a kind that has no frames, or the address does not identify one place in it.
    pub(crate) fn code(&self, pc: Pc) -> Option<CodeKind> {
        if pc == self.call_stub_return {
            return Some(CodeKind::Entry);
        }
        let blob = self.blob(pc)?;
        // SAFETY: `blob` found a piece of code, and the thread is about to return to it, so it stays.
        unsafe {
            let kind = self.names.kind(self.name(blob)?);
            if kind == NameKind::Interpreter {
                return Some(CodeKind::Interpreter);
            }
            let words = load_u32(blob + self.frame_size) as i32;
            let frame = usize::try_from(words).ok().filter(|&words| words > 0)? * size_of::<usize>();
            if kind == NameKind::Stub {
                return Some(CodeKind::Stub { frame });
            }
            let is_handler = |handler: &DeoptHandler| match *handler {
                DeoptHandler::Address(at) => load(blob + at) == pc.0,
                DeoptHandler::Distance(at) => blob.wrapping_add_signed(load_u32(blob + at) as i32 as isize) == pc.0,
            };
            let id = load_u32(blob + self.compile_id);
            (!self.deopt_handlers.iter().any(is_handler)).then_some(CodeKind::Compiled { frame, id })
        }
    }

    /// The `CodeBlob` at an address; calls nothing that a signal handler may not call. If no frame holds the code, another piece may
    /// come to lie there.
    pub(super) fn blob_at(&self, address: usize) -> Option<usize> {
        self.blob(Pc(address))
    }

    /// The `CodeBlob` at an address.
    fn blob(&self, pc: Pc) -> Option<usize> {
        // SAFETY: the parts of the code cache are mapped up to where they say they end, and so are their maps.
        unsafe {
            let heap = self.heaps.iter().find(|heap| heap.low <= pc.0 && pc.0 < load(heap.high_at))?;
            let segment = |index: usize| ((heap.segments + index) as *const u8).read_volatile();
            let mut index = (pc.0 - heap.low) >> heap.log2_segment;
            loop {
                match segment(index) {
                    UNUSED => return None,
                    0 => break,
                    back => index = index.checked_sub(usize::from(back))?,
                }
            }
            let block = heap.low + (index << heap.log2_segment);
            let is_used = ((block + self.used) as *const u8).read_volatile() != 0;
            is_used.then_some(block + self.block_header)
        }
    }

    /// The address of its name: a literal of libjvm, or a text that is never freed while the code is in use.
    ///
    /// # Safety
    /// `blob` is a `CodeBlob`.
    unsafe fn name(&self, blob: usize) -> Option<usize> {
        // SAFETY: by the caller's promise.
        Some(unsafe { load(blob + self.name) }).filter(|&name| name != 0)
    }
}

impl CodeHeap {
    fn all() -> Option<Box<[CodeHeap]>> {
        let length = Field::offset_of(c"GrowableArrayBase", c"_len")
            .or_else(|| Field::offset_of(c"GenericGrowableArray", c"_len"))?;
        let data = Field::offset_of(c"GrowableArray<int>", c"_data")?;
        let memory = Field::offset_of(c"CodeHeap", c"_memory")?;
        let segments = Field::offset_of(c"CodeHeap", c"_segmap")?;
        let log2 = Field::offset_of(c"CodeHeap", c"_log2_segment_size")?;
        let low = Field::offset_of(c"VirtualSpace", c"_low")?;
        let high = Field::offset_of(c"VirtualSpace", c"_high")?;
        let list = static_word(c"CodeCache", c"_heaps").filter(|&list| list != 0)?;
        // It is made once, before any agent's VMInit.
        let number = doubtful::half(list + length).filter(|number| (1..=MAX_HEAPS).contains(number))?;
        let first = doubtful::word(list + data)?;
        let heap = |index: u32| {
            let heap = doubtful::word(first + index as usize * size_of::<usize>())?;
            let found = CodeHeap {
                low: doubtful::word(heap + memory + low)?,
                high_at: heap + memory + high,
                segments: doubtful::word(heap + segments + low)?,
                log2_segment: doubtful::half(heap + log2).filter(|log2| (4..=16).contains(log2))?,
            };
            let high = doubtful::word(found.high_at)?;
            // Both ends of the part and of its map can be read.
            let last = high.checked_sub(found.low + size_of::<usize>())?;
            let ends = [found.low, found.low + last, found.segments, found.segments + (last >> found.log2_segment)];
            ends.into_iter().all(|end| doubtful::byte(end).is_some()).then_some(found)
        };
        (0..number).map(heap).collect()
    }
}
