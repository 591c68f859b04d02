//! HotSpot's own switches, set from within: what `-XX:` does on the command line.

use std::ffi::{CStr, c_char, c_void};

use crate::vm_structs::{Field, size_of_type};

/// Switches a product flag of type `bool` on or off, and returns what it was; `None` if this VM has no such flag or does not
/// show its flags (`JVMFlag` in `gHotSpotVMStructs`, JDK 9 to 25).
///
/// # Safety
///
/// It is a flag of type `bool` that the VM looks at again after this call and that it can bear to see changed; no other thread
/// of the VM looks at it meanwhile, as in `Agent_OnLoad`.
pub unsafe fn set_bool_flag(name: &CStr, value: bool) -> Option<bool> {
    let name_at = Field::offset_of(c"JVMFlag", c"_name")?;
    let address_at = Field::offset_of(c"JVMFlag", c"_addr")?;
    let stride = size_of_type(c"JVMFlag")?;
    // SAFETY: the VM says where its table of flags is, how long it is and what an entry looks like; a name is a literal or
    // null; the caller promises that the flag may be changed.
    unsafe {
        let table = static_word(c"flags")?;
        for index in 0..static_word(c"numFlags")? {
            let entry = table + index * stride;
            let found = ((entry + name_at) as *const *const c_char).read();
            if !found.is_null() && CStr::from_ptr(found) == name {
                let place = ((entry + address_at) as *const *mut u8).read();
                if place.is_null() {
                    return None;
                }
                let before = place.read_volatile();
                place.write_volatile(value.into());
                return Some(before != 0);
            }
        }
    }
    None
}

/// # Safety
/// It is a static field of `JVMFlag` that is as large as a word.
unsafe fn static_word(name: &CStr) -> Option<usize> {
    let address: *const c_void = Field::find(c"JVMFlag", name)?.address;
    // SAFETY: by the caller's promise.
    (!address.is_null()).then(|| unsafe { address.cast::<usize>().read() })
}
