//! Fields of classes and of objects.

use std::ffi::CStr;

use jvmti_sys::jni_sys::{jclass, jfieldID, jint, jlong, jobject};

use super::{Jni, JniError};

impl Jni {
    /// The id of a static field. Initializes the class.
    ///
    /// # Errors
    ///
    /// `NoSuchFieldError`, or what the class's initializer threw, is pending.
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
    /// # Errors
    ///
    /// `NoSuchFieldError`, or what the class's initializer threw, is pending.
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
    /// `field` is a static field of this type in the live `class`.
    pub unsafe fn set_static_int_field(self, class: jclass, field: jfieldID, value: jint) {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, SetStaticIntField, class, field, value) }
    }

    /// The value of a static `int`.
    ///
    /// # Safety
    ///
    /// `field` is a static field of this type in the live `class`.
    pub unsafe fn get_static_int_field(self, class: jclass, field: jfieldID) -> jint {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetStaticIntField, class, field) }
    }

    /// The value of a static reference, as a new local reference or null.
    ///
    /// # Safety
    ///
    /// `field` is a static field of this type in the live `class`.
    pub unsafe fn get_static_object_field(self, class: jclass, field: jfieldID) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni!(self, GetStaticObjectField, class, field) }
    }
}
