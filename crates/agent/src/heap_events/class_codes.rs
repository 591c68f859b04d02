//! The codes by which HeapProxy knows classes. Those of the primitive array classes it has before the first array is reported.

use std::ffi::CStr;

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jobject};

use agent_base::helpers::HelperClass;
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

/// The code of a class (explained in MartiniHeapProxy.java), by one of its instances; 0 if it is not known yet. Without an instance its
/// size is not noted.
///
/// # Errors
/// What the VM refuses.
///
/// # Safety
/// `class` is a live reference, and `instance` null or one to an object of exactly that class.
pub(super) unsafe fn code_of(core: &Core, jni: Jni, class: jclass, instance: jobject) -> jvmti::Result<i32> {
    let classes = &core.jvm.classes;
    // SAFETY: by the caller's promise.
    let index = unsafe {
        let index = classes.resolve(jni, class)?;
        if !instance.is_null() {
            classes.note_size(index, instance)?;
        }
        index
    };
    let Some(record) = classes.get(index) else { return Ok(0) };
    let number = if core.includes(index) { index.0 as i32 + 1 } else { -1 };
    Ok(number << 1 | i32::from(record.is_unloadable()))
}

/// Gives HeapProxy the numbers, by making one array of each class.
///
/// # Errors
/// What the VM refuses; no exception is pending any more.
pub(super) fn number_primitive_arrays(core: &Core, proxy: HelperClass, jni: Jni) -> Result<(), String> {
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
        proxy.set_int(jni, field, code >> 1).map_err(|error| jni.cleared(error))?;
    }
    Ok(())
}
