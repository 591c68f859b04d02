//! The class that rewritten code calls, assembled by hand so that the agent needs no Java compiler.

use std::ffi::CStr;

use classfile::opcode::{ALOAD_0, GETSTATIC, IFEQ, INVOKESTATIC, RETURN};

/// The class's name, internal form.
pub(crate) const NAME: &CStr = c"java/lang/FloorProxy";

/// The method that rewritten code calls.
pub(crate) const METHOD: &str = "allocated";

/// The descriptor of that method and of the native one.
pub(crate) const DESCRIPTOR: &CStr = c"(Ljava/lang/Object;)V";

/// The class file of
///
/// ```java
/// package java.lang;
/// public class FloorProxy {
///     static boolean live;
///     public static void allocated(Object o) { if (live) NATIVE(o); }
///     static native void NATIVE(Object o);
/// }
/// ```
///
/// in version 49, the last one whose branches need no stack-map frames.
pub(crate) fn class_file(native: &CStr) -> Vec<u8> {
    let mut class = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49, 0, 15];
    let texts: [&[u8]; 8] = [
        NAME.to_bytes(),
        b"java/lang/Object",
        b"live",
        b"Z",
        METHOD.as_bytes(),
        DESCRIPTOR.to_bytes(),
        native.to_bytes(),
        b"Code",
    ];
    let [this_name, object_name, live, boolean, allocated, descriptor, native, code] = [1, 2, 3, 4, 5, 6, 7, 8];
    for text in texts {
        class.extend([1, 0, text.len() as u8]);
        class.extend(text);
    }
    let [this, object] = [9, 10];
    class.extend([7, 0, this_name, 7, 0, object_name]);
    let [live_type, live_field, native_type, native_method] = [11, 12, 13, 14];
    class.extend([12, 0, live, 0, boolean, 9, 0, this, 0, live_type]);
    class.extend([12, 0, native, 0, descriptor, 10, 0, this, 0, native_type]);
    // public super; no interfaces; one field, static.
    class.extend([0, 0x21, 0, this, 0, object, 0, 0, 0, 1]);
    class.extend([0, 0x08, 0, live, 0, boolean, 0, 0]);
    // Two methods, the first public static with 11 bytes of code (so 23 bytes of attribute), stack and locals 1.
    class.extend([0, 2, 0, 0x09, 0, allocated, 0, descriptor, 0, 1, 0, code, 0, 0, 0, 23, 0, 1, 0, 1, 0, 0, 0, 11]);
    class.extend([GETSTATIC, 0, live_field, IFEQ, 0, 7, ALOAD_0, INVOKESTATIC, 0, native_method, RETURN]);
    // No handlers, no attributes. Then the second method, static native; no attributes of the class.
    class.extend([0, 0, 0, 0, 0x01, 0x08, 0, native, 0, descriptor, 0, 0, 0, 0]);
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_class_file_with_the_two_methods() {
        let bytes = class_file(c"tag");
        let class = classfile::ClassFile::parse(&bytes).expect("a class file");
        assert_eq!(class.name(), NAME.to_bytes());
        let methods: Vec<&[u8]> = class.methods().map(|method| method.name()).collect();
        assert_eq!(methods, [METHOD.as_bytes(), b"tag"]);
    }
}
