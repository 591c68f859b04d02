//! Methods and constructors.

use std::ffi::CStr;

use jvmti_sys::jni_sys::{jclass, jmethodID, jobject, jvalue};

use super::{Jni, JniError};
use crate::method_ids;

impl Jni {
    /// The id of a method of instances, constructors included. The class should be initialised: what its initialiser does would be done
    /// while other threads wait to ask for ids.
    ///
    /// # Errors
    ///
    /// `NoSuchMethodError`, or what the class's initializer threw, is pending.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn get_method_id(self, class: jclass, name: &CStr, signature: &CStr) -> Result<jmethodID, JniError> {
        let _turn = method_ids::turn(|| _ = self.exception_check());
        // SAFETY: the caller vouches for the class; both texts end with NUL.
        self.not_null(unsafe { jni!(self, GetMethodID, class, name.as_ptr(), signature.as_ptr()) })
    }

    /// The id of a static method. Initializes the class.
    ///
    /// # Errors
    ///
    /// `NoSuchMethodError`, or what the class's initializer threw, is pending.
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
    /// # Errors
    ///
    /// What the method threw is pending.
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
    /// # Errors
    ///
    /// What the constructor threw is pending.
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
    /// # Errors
    ///
    /// What the method threw is pending.
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
    /// # Errors
    ///
    /// What the method threw is pending.
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

    /// Calls a static method that returns a boolean.
    ///
    /// # Errors
    ///
    /// What the method threw is pending.
    ///
    /// # Safety
    ///
    /// Class and method are live, and the arguments fit the method.
    pub unsafe fn call_static_boolean_method(
        self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<bool, JniError> {
        // SAFETY: by the caller's promise.
        let result = unsafe { jni!(self, CallStaticBooleanMethodA, class, method, arguments.as_ptr()) };
        if self.exception_check() { Err(JniError::Exception) } else { Ok(result) }
    }

    /// A new instance of a class, as a local reference, without a constructor run on it.
    ///
    /// # Errors
    ///
    /// `InstantiationException` for an interface or an abstract class, or `OutOfMemoryError`, is pending.
    ///
    /// # Safety
    ///
    /// `class` is live.
    pub unsafe fn alloc_object(self, class: jclass) -> Result<jobject, JniError> {
        // SAFETY: by the caller's promise.
        self.not_null(unsafe { jni!(self, AllocObject, class) })
    }
}
