//! Where HotSpot keeps what a walk needs: offsets that it exports for debuggers (`gHotSpotVMStructs`).
//!
//! Three layouts of compiled code are known: that of JDK 11 to 17 and 21 (all in one block, debug information at distances from
//! its beginning), and that of 25 (debug information apart, methods in a part of its own). Another one is refused.

use std::ffi::CStr;

use jvmti::{Field, size_of_type};

use super::super::code_cache::static_word;
use agent_base::signals::SafeLoads;

/// Offsets in bytes.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) thread: ThreadLayout,
    pub(super) blob: BlobLayout,
    pub(super) compiled: CompiledLayout,
    pub(super) debug: DebugLayout,
    pub(super) method: MethodLayout,
    /// The address to which Java returns when the VM has called it.
    pub(super) call_stub_return: usize,
}

/// Of a `JavaThread`, and of the anchors in which it notes where it left Java.
#[derive(Debug)]
pub(super) struct ThreadLayout {
    pub(super) stack_base: usize,
    pub(super) anchor: usize,
    /// From a `JavaCallWrapper`.
    pub(super) wrapper_anchor: usize,
    pub(super) sp: usize,
    pub(super) pc: usize,
    pub(super) fp: usize,
    pub(super) state: usize,
}

/// Of a piece of code (`CodeBlob`).
#[derive(Debug)]
pub(super) struct BlobLayout {
    pub(super) name: usize,
    pub(super) frame_size: usize,
    frame_complete: usize,
    frame_complete_is_short: bool,
    begin: FieldLocation,
    end: FieldLocation,
    /// From an `UpcallStub`: the distance from the stack pointer to its anchor, where there are such stubs.
    pub(super) upcall_anchor: Option<usize>,
}

/// How a field of a piece of code says where something is.
#[derive(Clone, Copy, Debug)]
enum FieldLocation {
    /// The field has its address.
    Address(usize),
    /// The field has its distance from the beginning, as an `int`.
    Distance(usize),
}

/// Of a compiled method (`nmethod`).
#[derive(Debug)]
pub(super) struct CompiledLayout {
    pub(super) method: usize,
    pub(super) level: usize,
    original_pc: usize,
    deopt_handlers: [FieldLocation; 2],
}

/// Of what a compiled method says of its addresses.
#[derive(Debug)]
pub(super) enum DebugLayout {
    /// In the same block.
    Inside { scopes: usize, pcs: usize, pcs_end: usize, methods: usize },
    /// In blocks of their own.
    Apart { block: usize, size: usize, pcs: usize, scopes: usize, mutable: usize, relocation: usize },
}

/// What a compiled method says of its addresses: where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct DebugInfo {
    /// The descriptions of addresses (`PcDesc`), by address.
    pub(super) pcs: usize,
    pub(super) pcs_end: usize,
    pub(super) scopes: usize,
    pub(super) scopes_end: usize,
    /// The table of methods that they name.
    pub(super) methods: usize,
}

/// Of a method, its constant part, its pool, its class, and names.
#[derive(Debug)]
pub(super) struct MethodLayout {
    pub(super) constant: usize,
    pub(super) access: usize,
    pub(super) pool: usize,
    pub(super) flags: usize,
    pub(super) code_bytes: usize,
    pub(super) name: usize,
    pub(super) signature: usize,
    pub(super) constant_bytes: usize,
    pub(super) pool_holder: usize,
    pub(super) pool_length: usize,
    pub(super) pool_bytes: usize,
    pub(super) class_name: usize,
    /// Where the index of the source file's name is; `None` if this VM does not say, which costs no more than these names.
    pub(super) source: Option<SourceIndex>,
    /// Half a word with a random number of each text.
    pub(super) symbol_hash: usize,
    pub(super) symbol_length: usize,
    pub(super) symbol_body: usize,
}

/// Where a class keeps the index of its source file's name.
#[derive(Clone, Copy, Debug)]
pub(super) enum SourceIndex {
    /// In the class, as up to JDK 16.
    Class(usize),
    /// In its constant pool.
    Pool(usize),
}

impl SourceIndex {
    fn find() -> Option<SourceIndex> {
        const NAME: &CStr = c"_source_file_name_index";
        let in_pool = Field::offset_of(c"ConstantPool", NAME).map(SourceIndex::Pool);
        in_pool.or_else(|| Field::offset_of(c"InstanceKlass", NAME).map(SourceIndex::Class))
    }
}

/// `PcDesc`: address from the beginning of the code, and where its scope begins.
pub(super) const PC_DESC_BYTES: usize = 16;
pub(super) const PC_DESC_SCOPE: usize = 4;

impl Layout {
    /// The layout of this VM.
    ///
    /// # Errors
    /// What this VM does not export, or has in a place that nobody knows.
    pub(super) fn find() -> Result<Layout, String> {
        let thread = |name| Field::offset_of(c"JavaThread", name).or_else(|| Field::offset_of(c"Thread", name));
        let thread = |name| thread(name).ok_or_else(|| missing(c"JavaThread", name));
        let pc_desc = [(c"_pc_offset", 0), (c"_scope_decode_offset", PC_DESC_SCOPE)];
        if size_of_type(c"PcDesc") != Some(PC_DESC_BYTES)
            || pc_desc.iter().any(|&(name, at)| offset(c"PcDesc", name) != Ok(at))
        {
            return Err("this JVM has an unknown layout of PcDesc".into());
        }
        let upcall_anchor = Field::offset_of(c"UpcallStub::FrameData", c"jfa") == Some(0);
        let frame_complete = Field::find(c"CodeBlob", c"_frame_complete_offset");
        let frame_complete = frame_complete.ok_or_else(|| missing(c"CodeBlob", c"_frame_complete_offset"))?;
        Ok(Layout {
            thread: ThreadLayout {
                stack_base: thread(c"_stack_base")?,
                anchor: thread(c"_anchor")?,
                wrapper_anchor: offset(c"JavaCallWrapper", c"_anchor")?,
                sp: offset(c"JavaFrameAnchor", c"_last_Java_sp")?,
                pc: offset(c"JavaFrameAnchor", c"_last_Java_pc")?,
                fp: offset(c"JavaFrameAnchor", c"_last_Java_fp")?,
                state: thread(c"_thread_state")?,
            },
            blob: BlobLayout {
                name: offset(c"CodeBlob", c"_name")?,
                frame_size: offset(c"CodeBlob", c"_frame_size")?,
                frame_complete: frame_complete.offset,
                frame_complete_is_short: frame_complete.type_name == c"int16_t",
                begin: place(c"CodeBlob", c"_code_begin", c"_code_offset")?,
                end: place(c"CodeBlob", c"_code_end", c"_data_offset")?,
                upcall_anchor: Field::offset_of(c"UpcallStub", c"_frame_data_offset").filter(|_| upcall_anchor),
            },
            compiled: CompiledLayout {
                method: of_compiled(c"_method")?,
                level: offset(c"nmethod", c"_comp_level")?,
                original_pc: offset(c"nmethod", c"_orig_pc_offset")?,
                deopt_handlers: [
                    compiled_place(c"_deopt_handler_begin", c"_deopt_handler_offset")?,
                    compiled_place(c"_deopt_mh_handler_begin", c"_deopt_mh_handler_offset")?,
                ],
            },
            debug: DebugLayout::find()?,
            method: MethodLayout::find()?,
            call_stub_return: static_word(c"StubRoutines", c"_call_stub_return_address")
                .filter(|&address| address != 0)
                .ok_or_else(|| missing(c"StubRoutines", c"_call_stub_return_address"))?,
        })
    }
}

fn missing(structure: &CStr, name: &CStr) -> String {
    format!("this JVM does not export {}::{}", structure.to_string_lossy(), name.to_string_lossy())
}

fn offset(structure: &CStr, name: &CStr) -> Result<usize, String> {
    Field::offset_of(structure, name).ok_or_else(|| missing(structure, name))
}

fn of_compiled(name: &CStr) -> Result<usize, String> {
    Field::offset_of(c"CompiledMethod", name).map_or_else(|| offset(c"nmethod", name), Ok)
}

fn place(structure: &CStr, address: &CStr, distance: &CStr) -> Result<FieldLocation, String> {
    let address = Field::offset_of(structure, address).map(FieldLocation::Address);
    address.map_or_else(|| Ok(FieldLocation::Distance(offset(structure, distance)?)), Ok)
}

fn compiled_place(address: &CStr, distance: &CStr) -> Result<FieldLocation, String> {
    of_compiled(address)
        .map(FieldLocation::Address)
        .or_else(|_| Ok(FieldLocation::Distance(offset(c"nmethod", distance)?)))
}

impl DebugLayout {
    fn find() -> Result<DebugLayout, String> {
        let inside = DebugLayout::inside();
        if inside.is_ok() { inside } else { DebugLayout::apart() }
    }

    fn inside() -> Result<DebugLayout, String> {
        Ok(DebugLayout::Inside {
            scopes: of_compiled(c"_scopes_data_begin")?,
            pcs: offset(c"nmethod", c"_scopes_pcs_offset")?,
            pcs_end: offset(c"nmethod", c"_dependencies_offset")?,
            methods: offset(c"nmethod", c"_metadata_offset")?,
        })
    }

    fn apart() -> Result<DebugLayout, String> {
        Ok(DebugLayout::Apart {
            block: offset(c"nmethod", c"_immutable_data")?,
            size: offset(c"nmethod", c"_immutable_data_size")?,
            pcs: offset(c"nmethod", c"_scopes_pcs_offset")?,
            scopes: offset(c"nmethod", c"_scopes_data_offset")?,
            mutable: offset(c"CodeBlob", c"_mutable_data")?,
            relocation: offset(c"CodeBlob", c"_relocation_size")?,
        })
    }
}

impl MethodLayout {
    fn find() -> Result<MethodLayout, String> {
        let constant = |name| offset(c"ConstMethod", name);
        let bytes = |name: &'static CStr| {
            size_of_type(name).ok_or_else(|| format!("this JVM does not export the size of {}", name.to_string_lossy()))
        };
        Ok(MethodLayout {
            constant: offset(c"Method", c"_constMethod")?,
            access: offset(c"Method", c"_access_flags")?,
            pool: constant(c"_constants")?,
            flags: constant(c"_flags").or_else(|_| constant(c"_flags._flags"))?,
            code_bytes: constant(c"_code_size")?,
            name: constant(c"_name_index")?,
            signature: constant(c"_signature_index")?,
            constant_bytes: bytes(c"ConstMethod")?,
            pool_holder: offset(c"ConstantPool", c"_pool_holder")?,
            pool_length: offset(c"ConstantPool", c"_length")?,
            pool_bytes: bytes(c"ConstantPool")?,
            class_name: offset(c"Klass", c"_name")?,
            source: SourceIndex::find(),
            // The lower half of the word counts references.
            symbol_hash: Field::offset_of(c"Symbol", c"_hash_and_refcount")
                .map_or_else(|| offset(c"Symbol", c"_identity_hash"), |at| Ok(at + size_of::<u16>()))?,
            symbol_length: offset(c"Symbol", c"_length")?,
            symbol_body: offset(c"Symbol", c"_body")?,
        })
    }
}

impl FieldLocation {
    fn read(self, loads: SafeLoads, blob: usize) -> Option<usize> {
        match self {
            FieldLocation::Address(at) => loads.word(blob + at),
            FieldLocation::Distance(at) => distance(loads, blob, blob + at),
        }
    }
}

/// The place whose distance from `from` the `int` at that address is.
fn distance(loads: SafeLoads, from: usize, at: usize) -> Option<usize> {
    Some(from.wrapping_add_signed(loads.u32(at)? as i32 as isize))
}

impl BlobLayout {
    /// First address of its code, and the first behind it.
    pub(super) fn code(&self, loads: SafeLoads, blob: usize) -> Option<(usize, usize)> {
        let (begin, end) = (self.begin.read(loads, blob)?, self.end.read(loads, blob)?);
        (begin <= end).then_some((begin, end))
    }

    /// The address from which on its frame is complete; `None` if it never is.
    pub(super) fn frame_complete(&self, loads: SafeLoads, blob: usize, begin: usize) -> Option<usize> {
        let at = blob + self.frame_complete;
        let distance =
            if self.frame_complete_is_short { i32::from(loads.u16(at)? as i16) } else { loads.u32(at)? as i32 };
        usize::try_from(distance).ok().map(|distance| begin.wrapping_add(distance))
    }
}

impl CompiledLayout {
    /// Whether frames of this code that continue there have become invalid.
    pub(super) fn is_deopt_handler(&self, loads: SafeLoads, blob: usize, pc: usize) -> bool {
        self.deopt_handlers.iter().any(|handler| handler.read(loads, blob) == Some(pc))
    }

    /// Where a frame whose code has become invalid keeps the address at which it would have continued.
    pub(super) fn original_pc_at(&self, loads: SafeLoads, blob: usize, sp: usize) -> Option<usize> {
        distance(loads, sp, blob + self.original_pc)
    }
}

impl DebugLayout {
    /// Where the debug information of that compiled method lies.
    pub(super) fn of(&self, loads: SafeLoads, blob: usize) -> Option<DebugInfo> {
        let found = match *self {
            DebugLayout::Inside { scopes, pcs, pcs_end, methods } => {
                let pcs = distance(loads, blob, blob + pcs)?;
                DebugInfo {
                    pcs,
                    pcs_end: distance(loads, blob, blob + pcs_end)?,
                    scopes: loads.word(blob + scopes)?,
                    scopes_end: pcs,
                    methods: distance(loads, blob, blob + methods)?,
                }
            }
            DebugLayout::Apart { block, size, pcs, scopes, mutable, relocation } => {
                let block = loads.word(blob + block)?;
                let scopes = distance(loads, block, blob + scopes)?;
                DebugInfo {
                    pcs: distance(loads, block, blob + pcs)?,
                    pcs_end: scopes,
                    scopes,
                    scopes_end: distance(loads, block, blob + size)?,
                    methods: distance(loads, loads.word(blob + mutable)?, blob + relocation)?,
                }
            }
        };
        (found.pcs <= found.pcs_end && found.scopes <= found.scopes_end).then_some(found)
    }
}
