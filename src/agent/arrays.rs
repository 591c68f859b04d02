//! What hooks need to know of arrays before the first is reported: their sizes, and the numbers of their classes.

use std::ffi::CStr;
use std::ptr::null_mut;

use jvmti::Jni;
use trace::model::ArrayCode;

use super::Agent;
use super::layout::ArrayLayouts;
use super::lifecycle::cleared;
use super::proxy::Proxy;

/// Makes arrays of all kinds to find the rules of their sizes.
pub(crate) fn measure_arrays(agent: &Agent, jni: Jni) -> ArrayLayouts {
    const DESCRIPTORS: [(ArrayCode, u8); 8] = [
        (ArrayCode::BOOLEAN, b'Z'),
        (ArrayCode::CHAR, b'C'),
        (ArrayCode::FLOAT, b'F'),
        (ArrayCode::DOUBLE, b'D'),
        (ArrayCode::BYTE, b'B'),
        (ArrayCode::SHORT, b'S'),
        (ArrayCode::INT, b'I'),
        (ArrayCode::LONG, b'J'),
    ];
    let object = jni.find_class(c"java/lang/Object").ok();
    let layouts = ArrayLayouts::measure(|code, length| {
        let array = match DESCRIPTORS.iter().find(|(c, _)| *c == code) {
            Some((_, descriptor)) => jni.new_primitive_array(*descriptor, length),
            // SAFETY: a live local reference to a class.
            None => unsafe { jni.new_object_array(length, object?, null_mut()) },
        };
        let array = array.inspect_err(|_| jni.exception_clear()).ok()?;
        // SAFETY: a live local reference, deleted at once.
        unsafe {
            let size = agent.env.get_object_size(array);
            jni.delete_local_ref(array);
            size.ok().map(|bytes| bytes as u64)
        }
    });
    if let Some(object) = object {
        // SAFETY: a local reference that nobody uses any more.
        unsafe { jni.delete_local_ref(object) };
    }
    layouts
}

/// HeapProxy's fields for the primitive array classes, and the elements' descriptors.
pub(crate) const PRIMITIVE_ARRAYS: [(&CStr, u8); 8] = [
    (c"booleanArray", b'Z'),
    (c"byteArray", b'B'),
    (c"charArray", b'C'),
    (c"shortArray", b'S'),
    (c"intArray", b'I'),
    (c"longArray", b'J'),
    (c"floatArray", b'F'),
    (c"doubleArray", b'D'),
];

/// Tells HeapProxy the numbers of the primitive array classes, by making one array of each.
pub(crate) fn number_primitive_arrays(agent: &Agent, proxy: &Proxy, jni: Jni) -> Result<(), String> {
    let jvmti = |e: jvmti::Error| e.to_string();
    for (field, descriptor) in PRIMITIVE_ARRAYS {
        let array = jni.new_primitive_array(descriptor, 0).map_err(|e| cleared(jni, e))?;
        // SAFETY: live local references, deleted at once.
        let number = unsafe {
            let class = jni.get_object_class(array);
            let index = agent.classes.resolve(agent.env, jni, class, agent);
            jni.delete_local_ref(class);
            let code = index.and_then(|index| agent.classes.code(agent.env, index, array)).map_err(jvmti)?;
            jni.delete_local_ref(array);
            code >> 1
        };
        proxy.set_primitive_array(jni, field, number).map_err(|e| cleared(jni, e))?;
    }
    Ok(())
}
