//! The numbers of the primitive array classes, which HeapProxy knows before the first array is reported.

use std::ffi::CStr;

use jvmti::Jni;

use super::natives::code_of;
use super::proxy::Proxy;
use agent_core::core::Core;

/// HeapProxy's fields for the primitive array classes, and the elements' descriptors.
const PRIMITIVE_ARRAYS: [(&CStr, u8); 8] = [
    (c"booleanArray", b'Z'),
    (c"byteArray", b'B'),
    (c"charArray", b'C'),
    (c"shortArray", b'S'),
    (c"intArray", b'I'),
    (c"longArray", b'J'),
    (c"floatArray", b'F'),
    (c"doubleArray", b'D'),
];

/// Gives HeapProxy the numbers, by making one array of each class.
///
/// # Errors
/// What the VM refuses; no exception is pending any more.
pub(super) fn number_primitive_arrays(core: &Core, proxy: &Proxy, jni: Jni) -> Result<(), String> {
    for (field, descriptor) in PRIMITIVE_ARRAYS {
        let array = jni.new_primitive_array(descriptor, 0).map_err(|error| jni.cleared(error))?;
        // SAFETY: live local references, deleted at once.
        let code = unsafe {
            let class = jni.get_object_class(array);
            let code = code_of(core, jni, class, array);
            jni.delete_local_ref(class);
            jni.delete_local_ref(array);
            code.map_err(|error| error.to_string())?
        };
        proxy.set_primitive_array(jni, field, code >> 1).map_err(|error| jni.cleared(error))?;
    }
    Ok(())
}
