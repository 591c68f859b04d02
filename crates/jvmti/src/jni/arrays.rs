//! Arrays and strings.

use std::ffi::CStr;

use jvmti_sys::jni_sys::{jarray, jbyteArray, jclass, jint, jobject, jobjectArray, jstring};

use super::{Jni, JniError, length};

impl Jni {
    /// The length of the array.
    ///
    /// # Safety
    ///
    /// `array` is a live array.
    #[inline]
    pub unsafe fn get_array_length(self, array: jarray) -> jint {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetArrayLength, array) }
    }

    /// A new array of the primitive type with that descriptor character (`Z`, `I` ...).
    ///
    /// # Errors
    ///
    /// Out of memory; a length beyond Java's; [`JniError::Code`] for a character that stands for no primitive type.
    pub fn new_primitive_array(self, descriptor: u8, len: usize) -> Result<jarray, JniError> {
        let len = length(len)?;
        // SAFETY: no reference passes.
        self.not_null(unsafe {
            match descriptor {
                b'Z' => jni!(self, NewBooleanArray, len),
                b'B' => jni!(self, NewByteArray, len),
                b'C' => jni!(self, NewCharArray, len),
                b'S' => jni!(self, NewShortArray, len),
                b'I' => jni!(self, NewIntArray, len),
                b'J' => jni!(self, NewLongArray, len),
                b'F' => jni!(self, NewFloatArray, len),
                b'D' => jni!(self, NewDoubleArray, len),
                other => return Err(JniError::Code(jint::from(other))),
            }
        })
    }

    /// A new `byte[]`, all 0, as a local reference.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending; or a length beyond Java's.
    pub fn new_byte_array(self, len: usize) -> Result<jbyteArray, JniError> {
        let len = length(len)?;
        // SAFETY: no reference passes.
        self.not_null(unsafe { jni!(self, NewByteArray, len) })
    }

    /// The elements of a `byte[]`.
    ///
    /// # Safety
    ///
    /// `array` is a live `byte[]`.
    pub unsafe fn get_bytes(self, array: jbyteArray) -> Vec<u8> {
        // SAFETY: by the caller's promise; the VM fills as many bytes as there are.
        unsafe {
            let mut bytes = vec![0; self.get_array_length(array) as usize];
            jni!(self, GetByteArrayRegion, array, 0, bytes.len() as jint, bytes.as_mut_ptr().cast());
            bytes
        }
    }

    /// A new `byte[]` with these elements, as a local reference.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending; or a length beyond Java's.
    pub fn new_bytes(self, bytes: &[u8]) -> Result<jbyteArray, JniError> {
        let array = self.new_byte_array(bytes.len())?;
        // SAFETY: a live array of that length.
        unsafe { jni!(self, SetByteArrayRegion, array, 0, bytes.len() as jint, bytes.as_ptr().cast()) };
        Ok(array)
    }

    /// A new array of references, all `initial`, as a local reference.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending; or a length beyond Java's.
    ///
    /// # Safety
    ///
    /// `element_class` is live; `initial` is null or a live instance of it.
    pub unsafe fn new_object_array(
        self,
        len: usize,
        element_class: jclass,
        initial: jobject,
    ) -> Result<jobjectArray, JniError> {
        let len = length(len)?;
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, NewObjectArray, len, element_class, initial) })
    }

    /// What is in a `java.lang.String`, in modified UTF-8.
    ///
    /// # Safety
    ///
    /// `string` is a live string.
    pub unsafe fn get_string_utf(self, string: jstring) -> Vec<u8> {
        // SAFETY: by the caller's promise; the VM writes as many bytes as it said, and a NUL behind them in most versions.
        unsafe {
            let (characters, length) = (jni!(self, GetStringLength, string), jni!(self, GetStringUTFLength, string));
            let mut bytes = vec![0_u8; usize::try_from(length).unwrap_or(0) + 1];
            jni!(self, GetStringUTFRegion, string, 0, characters, bytes.as_mut_ptr().cast());
            bytes.pop();
            bytes
        }
    }

    /// A new `java.lang.String` from modified UTF-8, as a local reference.
    ///
    /// # Errors
    ///
    /// An `OutOfMemoryError` is pending.
    pub fn new_string_utf(self, text: &CStr) -> Result<jstring, JniError> {
        // SAFETY: the text ends with NUL.
        self.not_null(unsafe { jni!(self, NewStringUTF, text.as_ptr()) })
    }
}
