//! The JNI functions that agents use.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::null_mut;

use jvmti_sys::jni_sys::{
    JNI_OK, JNIEnv, JNINativeMethod, jarray, jbyteArray, jclass, jfieldID, jint, jintArray, jlong, jlongArray,
    jmethodID, jobject, jobjectArray, jstring, jthrowable, jvalue, jweak,
};

/// The JNI environment of one thread.
///
/// All references stay raw, so methods that take one are `unsafe`: see the top of the crate. Except where noted, no method may be
/// called while an exception is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jni(*mut JNIEnv);

/// A JNI call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JniError {
    /// A Java exception is pending; [`Jni::exception_describe`] shows it and [`Jni::exception_clear`] removes it.
    Exception,
    /// The function returned this error code, without an exception.
    Code(jint),
    /// A length does not fit into a Java array.
    TooLong(usize),
}

impl fmt::Display for JniError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exception => write!(f, "a Java exception is pending after the JNI call"),
            Self::Code(code) => write!(f, "the JNI call failed with code {code}"),
            Self::TooLong(len) => write!(f, "a Java array cannot have {len} elements"),
        }
    }
}

impl std::error::Error for JniError {}

/// A native method to bind to a class.
#[derive(Clone, Copy, Debug)]
pub struct NativeMethod<'a> {
    /// The method's name in Java.
    pub name: &'a CStr,
    /// Its descriptor.
    pub signature: &'a CStr,
    /// The function: `extern "system"`, taking environment and class (or `this`) before the Java arguments.
    pub function: *const c_void,
}

/// Calls a function of the JNI table, which is complete up to Java 8.
macro_rules! jni {
    ($self:ident, $function:ident $(, $argument:expr)*) => {
        ((**$self.0).v1_6.$function)($self.0 $(, $argument)*)
    };
}

fn length(len: usize) -> Result<jint, JniError> {
    jint::try_from(len).map_err(|_| JniError::TooLong(len))
}

impl Jni {
    /// Wraps what a callback or native method received.
    ///
    /// # Safety
    ///
    /// `raw` is the JNI environment of the calling thread, and the value stays on this thread while it is attached.
    #[inline(always)]
    pub unsafe fn from_raw(raw: *mut JNIEnv) -> Self {
        Self(raw)
    }

    /// The pointer, for calls that this crate does not wrap.
    #[inline(always)]
    pub fn as_raw(self) -> *mut JNIEnv {
        self.0
    }

    /// `reference` unless it is null, which stands for a pending exception.
    fn not_null<T>(self, reference: *mut T) -> Result<*mut T, JniError> {
        if reference.is_null() { Err(JniError::Exception) } else { Ok(reference) }
    }

    // ---- classes, methods, fields

    /// The class by its internal name, as the caller's class loader finds it; a new local reference.
    pub fn find_class(self, name: &CStr) -> Result<jclass, JniError> {
        // SAFETY: the name ends with NUL.
        self.not_null(unsafe { jni!(self, FindClass, name.as_ptr()) })
    }

    /// Defines a class from the bytes of a class file; a new local reference.
    ///
    /// # Safety
    ///
    /// `loader` is null (boot loader) or live.
    pub unsafe fn define_class(self, name: &CStr, loader: jobject, bytes: &[u8]) -> Result<jclass, JniError> {
        let len = length(bytes.len())?;
        // SAFETY: the caller vouches for the loader; the VM reads `len` bytes.
        self.not_null(unsafe { jni!(self, DefineClass, name.as_ptr(), loader, bytes.as_ptr().cast(), len) })
    }

    /// The class of the object, as a new local reference.
    ///
    /// # Safety
    ///
    /// `object` is live and not null.
    #[inline]
    pub unsafe fn get_object_class(self, object: jobject) -> jclass {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetObjectClass, object) }
    }

    /// The superclass as a new local reference; null for `Object` and interfaces.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_superclass(self, class: jclass) -> jclass {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetSuperclass, class) }
    }

    /// Binds native methods to the class.
    ///
    /// From JDK 17 on the VM prints a warning to standard output (`[warning][jni,resolve] Re-registering of platform
    /// native method`) if the class belongs to a named module of the boot or platform loader, unless the innermost Java
    /// method on the stack is of a class of that same loader. An agent that defines such a class avoids the warning by
    /// binding from inside a native method of that class, which the VM finds by its exported name
    /// `Java_java_lang_TheClass_theMethod` in the agent's library, and which a Java method of the class calls. That works
    /// from VMStart on (tried on JDK 11, 17, 21 and 25).
    ///
    /// # Safety
    ///
    /// `class` is live, and each function fits its descriptor, does not unwind, and stays loaded as long as the class.
    pub unsafe fn register_natives(self, class: jclass, methods: &[NativeMethod<'_>]) -> Result<(), JniError> {
        let methods: Vec<JNINativeMethod> = methods
            .iter()
            .map(|method| JNINativeMethod {
                name: method.name.as_ptr().cast_mut(),
                signature: method.signature.as_ptr().cast_mut(),
                fnPtr: method.function.cast_mut(),
            })
            .collect();
        let count = length(methods.len())?;
        // SAFETY: the caller vouches for class and functions; the VM copies the array.
        match unsafe { jni!(self, RegisterNatives, class, methods.as_ptr(), count) } {
            JNI_OK => Ok(()),
            _ if self.exception_check() => Err(JniError::Exception),
            code => Err(JniError::Code(code)),
        }
    }

    /// The id of a static field. Initializes the class.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_static_field_id(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
    ) -> Result<jfieldID, JniError> {
        // SAFETY: the caller vouches for the class; both texts end with NUL.
        self.not_null(unsafe { jni!(self, GetStaticFieldID, class, name.as_ptr(), signature.as_ptr()) })
    }

    /// The id of a field of instances. Initializes the class.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_field_id(self, class: jclass, name: &CStr, signature: &CStr) -> Result<jfieldID, JniError> {
        // SAFETY: the caller vouches for the class; both texts end with NUL.
        self.not_null(unsafe { jni!(self, GetFieldID, class, name.as_ptr(), signature.as_ptr()) })
    }

    /// The value of a `long` of an instance.
    ///
    /// # Safety
    ///
    /// `field` is a `long` of the live `object`, which is not null.
    pub unsafe fn get_long_field(self, object: jobject, field: jfieldID) -> jlong {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetLongField, object, field) }
    }

    /// The value of a reference of an instance, as a new local reference, or null.
    ///
    /// # Safety
    ///
    /// `field` is a reference of the live `object`, which is not null.
    pub unsafe fn get_object_field(self, object: jobject, field: jfieldID) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetObjectField, object, field) }
    }

    /// Sets a static `boolean`.
    ///
    /// # Safety
    ///
    /// `field` is a static field of this type in the live `class`.
    pub unsafe fn set_static_boolean_field(self, class: jclass, field: jfieldID, value: bool) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetStaticBooleanField, class, field, value) }
    }

    /// Sets a static `int`.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field).
    pub unsafe fn set_static_int_field(self, class: jclass, field: jfieldID, value: jint) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetStaticIntField, class, field, value) }
    }

    /// Sets a static `long`.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field).
    pub unsafe fn set_static_long_field(self, class: jclass, field: jfieldID, value: jlong) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetStaticLongField, class, field, value) }
    }

    /// Sets a static reference.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field); `value` is null or a live reference to an
    /// instance of the field's type.
    pub unsafe fn set_static_object_field(self, class: jclass, field: jfieldID, value: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetStaticObjectField, class, field, value) }
    }

    /// The value of a static `boolean`.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field).
    pub unsafe fn get_static_boolean_field(self, class: jclass, field: jfieldID) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetStaticBooleanField, class, field) }
    }

    /// The value of a static `int`.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field).
    pub unsafe fn get_static_int_field(self, class: jclass, field: jfieldID) -> jint {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetStaticIntField, class, field) }
    }

    /// The value of a static reference, as a new local reference or null.
    ///
    /// # Safety
    ///
    /// As for [`set_static_boolean_field`](Self::set_static_boolean_field).
    pub unsafe fn get_static_object_field(self, class: jclass, field: jfieldID) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetStaticObjectField, class, field) }
    }

    /// The id of a method of instances, constructors included. Initializes the class.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_method_id(self, class: jclass, name: &CStr, signature: &CStr) -> Result<jmethodID, JniError> {
        // SAFETY: the caller vouches for the class; both texts end with NUL.
        self.not_null(unsafe { jni!(self, GetMethodID, class, name.as_ptr(), signature.as_ptr()) })
    }

    /// The id of a static method. Initializes the class.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_static_method_id(
        self,
        class: jclass,
        name: &CStr,
        signature: &CStr,
    ) -> Result<jmethodID, JniError> {
        // SAFETY: the caller vouches for the class; both texts end with NUL.
        self.not_null(unsafe { jni!(self, GetStaticMethodID, class, name.as_ptr(), signature.as_ptr()) })
    }

    /// Calls a static method that returns nothing.
    ///
    /// # Safety
    ///
    /// `method` is a static `void` method of the live `class`, and `arguments` fit its descriptor.
    pub unsafe fn call_static_void_method(
        self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<(), JniError> {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, CallStaticVoidMethodA, class, method, arguments.as_ptr()) };
        if self.exception_check() { Err(JniError::Exception) } else { Ok(()) }
    }

    /// Creates an object with the given constructor; a new local reference.
    ///
    /// # Safety
    ///
    /// `constructor` is one of the live `class`, and `arguments` fit its descriptor.
    pub unsafe fn new_object(
        self,
        class: jclass,
        constructor: jmethodID,
        arguments: &[jvalue],
    ) -> Result<jobject, JniError> {
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, NewObjectA, class, constructor, arguments.as_ptr()) })
    }

    /// Calls a static method that returns a reference; the result is a new local reference, or null.
    ///
    /// # Safety
    ///
    /// Class and method are live, and the arguments fit the method.
    pub unsafe fn call_static_object_method(
        self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<jobject, JniError> {
        // SAFETY: by the caller's promise.
        let result = unsafe { jni!(self, CallStaticObjectMethodA, class, method, arguments.as_ptr()) };
        if self.exception_check() { Err(JniError::Exception) } else { Ok(result) }
    }

    /// Calls a method that returns a reference; the result is a new local reference, or null.
    ///
    /// # Safety
    ///
    /// The object is live and has the method, and the arguments fit it.
    pub unsafe fn call_object_method(
        self,
        object: jobject,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<jobject, JniError> {
        // SAFETY: by the caller's promise.
        let result = unsafe { jni!(self, CallObjectMethodA, object, method, arguments.as_ptr()) };
        if self.exception_check() { Err(JniError::Exception) } else { Ok(result) }
    }

    // ---- references

    /// A global reference to the same object, null for null. Valid on every thread until it is deleted.
    ///
    /// # Safety
    ///
    /// `object` is null or live.
    pub unsafe fn new_global_ref(self, object: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, NewGlobalRef, object) }
    }

    /// Deletes a global reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is null or a global reference that nobody uses any more.
    pub unsafe fn delete_global_ref(self, reference: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteGlobalRef, reference) }
    }

    /// A weak global reference to the same object.
    ///
    /// # Safety
    ///
    /// `object` is live.
    pub unsafe fn new_weak_global_ref(self, object: jobject) -> Result<jweak, JniError> {
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, NewWeakGlobalRef, object) })
    }

    /// Deletes a weak global reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is a weak global reference that nobody uses any more.
    pub unsafe fn delete_weak_global_ref(self, reference: jweak) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteWeakGlobalRef, reference) }
    }

    /// A local reference to the same object; null if that is null or, for a weak reference, collected.
    ///
    /// # Safety
    ///
    /// `reference` is null or live; a weak reference may be one whose object is collected.
    pub unsafe fn new_local_ref(self, reference: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, NewLocalRef, reference) }
    }

    /// Deletes a local reference. Allowed while an exception is pending.
    ///
    /// # Safety
    ///
    /// `reference` is null or a local reference of this thread that is not used any more.
    #[inline]
    pub unsafe fn delete_local_ref(self, reference: jobject) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, DeleteLocalRef, reference) }
    }

    /// Begins a frame with room for this many local references.
    pub fn push_local_frame(self, capacity: jint) -> Result<(), JniError> {
        // SAFETY: no reference passes.
        match unsafe { jni!(self, PushLocalFrame, capacity) } {
            JNI_OK => Ok(()),
            _ => Err(JniError::Exception),
        }
    }

    /// Deletes all local references made since the matching [`push_local_frame`](Self::push_local_frame). Allowed while
    /// an exception is pending.
    ///
    /// # Safety
    ///
    /// A frame is open, and none of its references is used any more.
    pub unsafe fn pop_local_frame(self) {
        // SAFETY: by the caller's promise; null keeps no reference.
        unsafe { jni!(self, PopLocalFrame, null_mut()) };
    }

    /// Whether both references name the same object (or null, or a collected one).
    ///
    /// # Safety
    ///
    /// Both are null or live.
    #[inline]
    pub unsafe fn is_same_object(self, one: jobject, other: jobject) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, IsSameObject, one, other) }
    }

    /// Whether the object is of that class or of one that extends it.
    ///
    /// # Safety
    ///
    /// Both are live.
    pub unsafe fn is_instance_of(self, object: jobject, class: jclass) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, IsInstanceOf, object, class) }
    }

    // ---- arrays and strings

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
    pub fn new_byte_array(self, len: usize) -> Result<jbyteArray, JniError> {
        let len = length(len)?;
        // SAFETY: no reference passes.
        self.not_null(unsafe { jni!(self, NewByteArray, len) })
    }

    /// A new `int[]`, all 0, as a local reference.
    pub fn new_int_array(self, len: usize) -> Result<jintArray, JniError> {
        let len = length(len)?;
        // SAFETY: no reference passes.
        self.not_null(unsafe { jni!(self, NewIntArray, len) })
    }

    /// A new `long[]`, all 0, as a local reference.
    pub fn new_long_array(self, len: usize) -> Result<jlongArray, JniError> {
        let len = length(len)?;
        // SAFETY: no reference passes.
        self.not_null(unsafe { jni!(self, NewLongArray, len) })
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
    pub fn new_bytes(self, bytes: &[u8]) -> Result<jbyteArray, JniError> {
        let array = self.new_byte_array(bytes.len())?;
        // SAFETY: a live array of that length.
        unsafe { jni!(self, SetByteArrayRegion, array, 0, bytes.len() as jint, bytes.as_ptr().cast()) };
        Ok(array)
    }

    /// Copies `values` into a `long[]` from `start` on.
    ///
    /// # Safety
    ///
    /// `array` is a live `long[]` with that many elements from `start` on.
    pub unsafe fn set_long_array_region(self, array: jlongArray, start: jint, values: &[jlong]) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetLongArrayRegion, array, start, values.len() as jint, values.as_ptr()) }
    }

    /// A new array of references, all `initial`, as a local reference.
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

    /// The element as a new local reference, or null.
    ///
    /// # Safety
    ///
    /// `array` is a live array of references, and `index` lies in it.
    pub unsafe fn get_object_array_element(self, array: jobjectArray, index: jint) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetObjectArrayElement, array, index) }
    }

    /// A new instance of a class, as a local reference, without a constructor run on it.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn alloc_object(self, class: jclass) -> Result<jobject, JniError> {
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, AllocObject, class) })
    }

    /// A new `java.lang.String` from modified UTF-8, as a local reference.
    pub fn new_string_utf(self, text: &CStr) -> Result<jstring, JniError> {
        // SAFETY: the text ends with NUL.
        self.not_null(unsafe { jni!(self, NewStringUTF, text.as_ptr()) })
    }

    // ---- exceptions

    /// Whether an exception is pending. Allowed while one is.
    pub fn exception_check(self) -> bool {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionCheck) }
    }

    /// The pending exception as a new local reference, or null. Allowed while one is pending.
    pub fn exception_occurred(self) -> jthrowable {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionOccurred) }
    }

    /// Prints the pending exception with its stack to standard error. Allowed while one is pending.
    pub fn exception_describe(self) {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionDescribe) }
    }

    /// Removes the pending exception, if any. Allowed while one is pending.
    pub fn exception_clear(self) {
        // SAFETY: no argument.
        unsafe { jni!(self, ExceptionClear) }
    }
}
