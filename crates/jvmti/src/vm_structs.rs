//! Where HotSpot keeps what: the table `gHotSpotVMStructs`, which it exports for debuggers (`vmStructs.hpp`, JDK 8 to 25).

use std::ffi::{CStr, c_char, c_void};

use crate::exported;

/// A field of a structure of the VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the beginning of the structure; of no meaning for a static field.
    pub offset: usize,
    /// Where a static field lies; null for others.
    pub address: *const c_void,
    /// Its C++ type, as the VM spells it.
    pub type_name: &'static CStr,
}

// SAFETY: the address is a number here; whoever reads through it has to know what it does.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

impl Field {
    /// The field of that name in the structure of that name; `None` if this VM has none, or no such table.
    pub fn find(structure: &CStr, name: &CStr) -> Option<Field> {
        let entries = value(c"gHotSpotVMStructs").filter(|&entries| entries != 0)?;
        let stride = value(c"gHotSpotVMStructEntryArrayStride")?;
        let structure_at = value(c"gHotSpotVMStructEntryTypeNameOffset")?;
        let name_at = value(c"gHotSpotVMStructEntryFieldNameOffset")?;
        let type_at = value(c"gHotSpotVMStructEntryTypeStringOffset")?;
        let offset_at = value(c"gHotSpotVMStructEntryOffsetOffset")?;
        let address_at = value(c"gHotSpotVMStructEntryAddressOffset")?;
        // SAFETY: the VM says where its entries are and how long; a null name ends them; names are literals of libjvm, which
        // is never unloaded.
        unsafe {
            let text = |at: usize| {
                let text = (at as *const *const c_char).read();
                (!text.is_null()).then(|| CStr::from_ptr::<'static>(text))
            };
            let mut entry = entries;
            while let Some(of) = text(entry + structure_at) {
                if of == structure && text(entry + name_at) == Some(name) {
                    return Some(Field {
                        offset: ((entry + offset_at) as *const u64).read() as usize,
                        address: ((entry + address_at) as *const *const c_void).read(),
                        type_name: text(entry + type_at).unwrap_or_default(),
                    });
                }
                entry += stride;
            }
            None
        }
    }

    /// The offset of the field of that name in the structure of that name.
    pub fn offset_of(structure: &CStr, name: &CStr) -> Option<usize> {
        Field::find(structure, name).filter(|field| field.address.is_null()).map(|field| field.offset)
    }
}

/// How many bytes a structure of the VM takes (`gHotSpotVMTypes`); `None` if the VM does not say.
pub fn size_of_type(name: &CStr) -> Option<usize> {
    let type_at =
        entry_named(c"gHotSpotVMTypes", c"gHotSpotVMTypeEntryArrayStride", c"gHotSpotVMTypeEntryTypeNameOffset", name)?;
    let size_at = value(c"gHotSpotVMTypeEntrySizeOffset")?;
    // SAFETY: the entry has a size there.
    Some(unsafe { ((type_at + size_at) as *const u64).read() } as usize).filter(|&size| size > 0)
}

/// The value of a constant of the VM (`gHotSpotVMIntConstants`); `None` if the VM does not say.
pub fn int_constant(name: &CStr) -> Option<i32> {
    let (stride, name_at) = (c"gHotSpotVMIntConstantEntryArrayStride", c"gHotSpotVMIntConstantEntryNameOffset");
    let constant_at = entry_named(c"gHotSpotVMIntConstants", stride, name_at, name)?;
    let value_at = value(c"gHotSpotVMIntConstantEntryValueOffset")?;
    // SAFETY: the entry has a value there.
    Some(unsafe { ((constant_at + value_at) as *const i32).read() })
}

/// The address of the entry of that name in a table of which the VM exports where it is, how long an entry is, and where its name is.
fn entry_named(table: &CStr, stride: &CStr, name_offset: &CStr, name: &CStr) -> Option<usize> {
    let mut entry = value(table).filter(|&entries| entries != 0)?;
    let (stride, name_at) = (value(stride)?, value(name_offset)?);
    loop {
        // SAFETY: the VM says where its entries are and how long; a null name ends them; names are literals of libjvm, which is never
        // unloaded.
        let found = unsafe { ((entry + name_at) as *const *const c_char).read() };
        if found.is_null() {
            return None;
        }
        // SAFETY: as above.
        if unsafe { CStr::from_ptr(found) } == name {
            return Some(entry);
        }
        entry += stride;
    }
}

/// The value of a word that libjvm exports.
fn value(name: &CStr) -> Option<usize> {
    // SAFETY: what HotSpot exports by these names are words.
    exported(name).map(|address| unsafe { address.cast().read() })
}
